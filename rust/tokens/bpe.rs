//! One encoding at work: scan a piece, look it up, merge what is no token.

use std::sync::atomic::{AtomicUsize, Ordering};

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::interrupt::{Pace, STRETCH, checkpoint, paced};

use super::classes::{Classes, decode};
use super::glyphs::Glyphs;
use super::memo::{self, Key, LONGEST, Memo};
use super::pretokenize::{Grammar, Scan};
use super::vocab::Vocab;
use super::vocab_file::{Damaged, read_file};

/// How many encodings were loaded so far.
static LOADED: AtomicUsize = AtomicUsize::new(0);

/// A loaded encoding. Immutable; shared by every counter that names it.
pub(crate) struct Bpe {
    vocab: Vocab,
    glyphs: Glyphs,
    classes: &'static Classes,
    grammar: Grammar,
    scan: Scan,
    composes: bool,
    /// Which of a thread's memos is this encoding's.
    number: usize,
}

impl Bpe {
    /// Read the vocabulary `files`, each over the one before; `composes` says that the tokenizer applies NFC before it splits.
    pub(crate) fn load(files: &[&[u8]], grammar: Grammar, composes: bool) -> Result<Self, Damaged> {
        let mut tokens = Vec::new();
        for file in files {
            tokens = read_file(file, &tokens)?;
        }
        let vocab = Vocab::new(&tokens);
        Ok(Self {
            glyphs: Glyphs::new(&vocab, &tokens),
            vocab,
            classes: Classes::get(),
            grammar,
            scan: grammar.scan(),
            composes,
            number: LOADED.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// How it splits, and whether it composes first: what `reference` goes by.
    #[cfg(any(test, fuzzing))]
    pub(super) fn rules(&self) -> (Grammar, bool) {
        (self.grammar, self.composes)
    }

    /// Its tokens.
    #[cfg(any(test, fuzzing))]
    pub(super) fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// Number of tokens of `text`; control tokens written out in it count as ordinary text.
    pub(crate) fn count(&self, text: &str) -> usize {
        if self.rewrites(text) {
            let composed: String = paced(text.chars()).nfc().collect();
            return self.count_from(composed.as_bytes(), 0);
        }
        self.count_from(text.as_bytes(), 0)
    }

    /// Whether normalization changes `text`, so that its pieces are not slices of it.
    pub(crate) fn rewrites(&self, text: &str) -> bool {
        self.composes && !is_composed(text)
    }

    /// Number of tokens of `text[from..]`, whose normalization is settled.
    pub(crate) fn count_from(&self, text: &[u8], from: usize) -> usize {
        memo::with(self.number, |memo| {
            let (mut at, mut total) = (from, 0);
            while at < text.len() {
                let stop = text.len().min(at + STRETCH);
                while at < stop {
                    let end = self.piece_end(text, at);
                    total += self.count_with(memo, text, at, end);
                    at = end;
                }
                checkpoint();
            }
            total
        })
    }

    /// End of the piece that starts at `at`, a boundary.
    #[inline]
    pub(crate) fn piece_end(&self, text: &[u8], at: usize) -> usize {
        (self.scan)(self.classes, text, at)
    }

    /// Number of tokens of the piece `text[from..to]`.
    pub(crate) fn count_piece(&self, text: &[u8], from: usize, to: usize) -> usize {
        memo::with(self.number, |memo| self.count_with(memo, text, from, to))
    }

    #[inline]
    fn count_with(&self, memo: &mut Memo, text: &[u8], from: usize, to: usize) -> usize {
        let length = to - from;
        if length == 1 {
            return 1;
        }
        if self.glyphs.starts_at(text, from) {
            return self
                .glyphs
                .count(&self.vocab, Some(memo), text, (from, to, true), |_, _| ());
        }
        if length <= LONGEST {
            return memo.get_or(Key::of(text, from, length), || {
                self.count_fresh(text, from, to)
            });
        }
        self.count_fresh(text, from, to)
    }

    fn count_fresh(&self, text: &[u8], from: usize, to: usize) -> usize {
        if self.vocab.holds(text, from, to) {
            return 1;
        }
        self.glyphs
            .count(&self.vocab, None, text, (from, to, false), |_, _| ())
    }

    /// Number of tokens of `text[from..to]`, a part of a piece on whose edges no token can span.
    pub(crate) fn count_part(&self, text: &[u8], from: usize, to: usize) -> usize {
        memo::with(self.number, |memo| {
            self.glyphs
                .count(&self.vocab, Some(memo), text, (from, to, false), |_, _| ())
        })
    }

    /// Report the places inside the piece that no token can span, with the tokens before each.
    pub(crate) fn cuts(
        &self,
        text: &[u8],
        from: usize,
        to: usize,
        report: impl FnMut(usize, usize),
    ) {
        self.glyphs
            .count(&self.vocab, None, text, (from, to, true), report);
    }

    /// Whether the boundary before `text` stays where it is when `…\n\n` is put in front.
    pub(crate) fn starts_safely(&self, text: &str) -> bool {
        let slash = self.grammar.takes_slash();
        text.chars()
            .next()
            .is_none_or(|c| !(c.is_whitespace() || slash && c == '/'))
    }
}

/// Characters above U+0300 of which NFC makes nothing else, whatever stands before them.
fn is_plain(c: u32) -> bool {
    matches!(c, 0x2010..=0x2027 | 0x3000..=0x3029 | 0x3041..=0x3094 | 0x30A1..=0x30FA | 0xAC00..=0xD7A3
        | 0xFF01..=0xFF9D)
}

/// Whether `text` is in NFC. Han, ASCII and the common punctuation are known without a table.
fn is_composed(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut at, mut before) = (0, 0);
    let mut pace = Pace::new();
    while at < bytes.len() {
        let width = match bytes[at] {
            0..0x80 => 1,
            0x80..0xCC => 2,
            0xE4..=0xE9 => 3,
            _ => match decode(bytes, at) {
                (c, width) if is_plain(c) => width,
                _ => break,
            },
        };
        before = at;
        at += width;
        pace.step(width);
    }
    // A character that composes with the one before is itself doubtful: what was passed is settled.
    let rest = if at < bytes.len() {
        &text[before..]
    } else {
        ""
    };
    match is_nfc_quick(paced(rest.chars())) {
        IsNormalized::Yes => true,
        IsNormalized::No => false,
        IsNormalized::Maybe => paced(rest.chars()).nfc().eq(rest.chars()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn composed_text_is_recognised(text in "[a-zé\u{300}-\u{303}가-각\u{1100}-\u{1112}\u{1161}\u{11a8}か\u{3099}が林。 Å\u{212b}]{0,12}") {
            prop_assert_eq!(is_composed(&text), unicode_normalization::is_nfc(&text));
        }
    }
}
