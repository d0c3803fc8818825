//! Lines of a text, and columns in the unit that an index counts in.

/// What one column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Bytes from the start of the line.
    Utf8,
    /// UTF-16 code units: what language servers count, and the default.
    #[default]
    Utf16,
    /// Code points.
    Utf32,
}

impl Encoding {
    /// `PositionEncoding` of the SCIP schema; unspecified is UTF-16.
    pub fn from_scip(number: u64) -> Self {
        match number {
            1 => Self::Utf8,
            3 => Self::Utf32,
            _ => Self::Utf16,
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// 0-based line and column; ordered as in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Pos {
    /// Line.
    pub line: u32,
    /// Column in the unit of the document's encoding.
    pub column: u32,
}

/// Shorthand for a position.
pub fn pos(line: u32, column: u32) -> Pos {
    Pos { line, column }
}

/// A text with its line starts: positions to byte offsets and back.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<u32>,
    encoding: Encoding,
    ascii: bool,
}

impl<'t> Lines<'t> {
    /// Cost: one pass over the text.
    pub fn new(text: &'t str, encoding: Encoding) -> Self {
        let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).map(|i| i as u32 + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(newlines).collect(),
            encoding,
            ascii: text.is_ascii(),
        }
    }

    /// The text.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Byte offset of a position; none when the text has no such line or column.
    pub fn offset(&self, at: Pos) -> Option<usize> {
        let start = *self.starts.get(at.line as usize)? as usize;
        let end = self
            .starts
            .get(at.line as usize + 1)
            .map_or(self.text.len(), |&e| e as usize);
        let column = at.column as usize;
        if self.ascii || self.encoding == Encoding::Utf8 {
            let offset = start + column;
            return (offset <= end && self.text.is_char_boundary(offset)).then_some(offset);
        }
        let mut units = 0;
        for (i, c) in self.text[start..end].char_indices() {
            if units >= column {
                return (units == column).then_some(start + i);
            }
            units += self.encoding.width(c);
        }
        (units == column).then_some(end)
    }

    /// Position of a byte offset (clamped to the text and to a character boundary).
    pub fn position(&self, offset: usize) -> Pos {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&s| s as usize <= offset) - 1;
        let start = self.starts[line] as usize;
        let column = if self.ascii || self.encoding == Encoding::Utf8 {
            offset - start
        } else {
            self.text[start..offset]
                .chars()
                .map(|c| self.encoding.width(c))
                .sum()
        };
        pos(line as u32, column as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_count_in_the_unit_of_the_index() {
        let text = "x\na林𝄞b\n";
        for (encoding, column) in [
            (Encoding::Utf8, 8),
            (Encoding::Utf16, 4),
            (Encoding::Utf32, 3),
        ] {
            let lines = Lines::new(text, encoding);
            let offset = lines.offset(pos(1, column));
            assert_eq!(offset.map(|o| &text[o..=o]), Some("b"), "{encoding:?}");
        }
        assert_eq!(Lines::new(text, Encoding::Utf16).offset(pos(9, 0)), None);
        assert_eq!(
            Lines::new(text, Encoding::Utf16).offset(pos(1, 3)),
            None,
            "inside a surrogate pair"
        );
    }

    proptest! {
        #[test]
        fn offset_and_position_are_inverse(text in "[a林𝄞\n ]{0,30}", at in 0usize..90) {
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let lines = Lines::new(&text, encoding);
                let place = lines.position(at);
                let offset = lines.offset(place).expect("a position of the text");
                prop_assert_eq!(lines.position(offset), place);
            }
        }
    }
}
