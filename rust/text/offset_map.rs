//! Folded text with its way back: every offset between two folded characters has one in the original.

use std::borrow::Cow;

/// A stretch of folded text and where it came from, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    folded: usize,
    original: usize,
    folded_len: usize,
    original_len: usize,
    /// One unit that cannot be cut: both ends map, nothing between them does.
    atomic: bool,
}

/// Folded text with its map back to the original.
#[derive(Debug, Clone)]
pub struct Folded<'t> {
    /// The folded text.
    pub text: Cow<'t, str>,
    /// Ascending in both offsets; empty when the folded text has the original's byte offsets.
    runs: Vec<Run>,
}

impl<'t> Folded<'t> {
    /// `text` itself, for text that folding would not change.
    pub fn unchanged(text: &'t str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            runs: Vec::new(),
        }
    }

    /// Byte offset in the original of a piece that begins at `folded`; None inside a unit.
    pub fn start_in_original(&self, folded: usize) -> Option<usize> {
        if self.runs.is_empty() {
            return Some(folded);
        }
        let after = self.runs.partition_point(|run| run.folded <= folded);
        let run = self.runs.get(after.checked_sub(1)?)?;
        match folded - run.folded {
            0 => Some(run.original),
            inside if !run.atomic && inside < run.folded_len => Some(run.original + inside),
            _ => None,
        }
    }

    /// Byte offset in the original of a piece that ends at `folded`; None inside a unit.
    pub fn end_in_original(&self, folded: usize) -> Option<usize> {
        if self.runs.is_empty() {
            return Some(folded);
        }
        let after = self.runs.partition_point(|run| run.folded < folded);
        let run = self.runs.get(after.checked_sub(1)?)?;
        let inside = folded - run.folded;
        if inside == run.folded_len {
            Some(run.original + run.original_len)
        } else if !run.atomic && inside < run.folded_len {
            Some(run.original + inside)
        } else {
            None
        }
    }
}

/// A folding under way.
pub(crate) struct Folding {
    pub(crate) out: String,
    runs: Vec<Run>,
    /// Whether any offset differs from the original's.
    moved: bool,
}

impl Folding {
    /// Nothing yet; room for `bytes`.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self {
            out: String::with_capacity(bytes),
            runs: Vec::new(),
            moved: false,
        }
    }

    /// The folded text; the map is dropped when every offset is the original's.
    pub(crate) fn finish<'t>(mut self) -> Folded<'t> {
        if !self.moved {
            self.runs.clear();
        }
        Folded {
            text: Cow::Owned(self.out),
            runs: self.runs,
        }
    }

    /// Notes that the original's `original_len` bytes from `original` on became what was put out from `folded` on.
    pub(crate) fn note(
        &mut self,
        folded: usize,
        original: usize,
        original_len: usize,
        atomic: bool,
    ) {
        let folded_len = self.out.len() - folded;
        self.moved |= atomic;
        match self.runs.last_mut() {
            Some(last)
                if !atomic && !last.atomic && last.original + last.original_len == original =>
            {
                last.folded_len += folded_len;
                last.original_len += folded_len;
            }
            _ if folded_len == 0 => {}
            _ => self.runs.push(Run {
                folded,
                original,
                folded_len,
                original_len,
                atomic,
            }),
        }
    }
}
