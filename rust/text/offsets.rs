//! Byte offsets to code-point offsets, by one forward cursor.
//!
//! A text is walked once, however many offsets are asked for: between two offsets the code points
//! are counted in blocks that vectorise, never from the start again.

/// Turns ascending byte offsets of one text into code-point offsets.
///
/// Cost: O(len(text)) over the life of the cursor; a step backwards restarts the walk.
#[derive(Debug, Clone)]
pub struct CodePoints<'t> {
    text: &'t str,
    byte: usize,
    code_point: usize,
}

impl<'t> CodePoints<'t> {
    /// A cursor at the start of `text`.
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            byte: 0,
            code_point: 0,
        }
    }

    /// The number of code points before `byte`, which must lie on a character boundary.
    ///
    /// An offset past the end or inside a character counts as the next boundary before it.
    pub fn at(&mut self, byte: usize) -> usize {
        if byte < self.byte {
            (self.byte, self.code_point) = (0, 0);
        }
        let bytes = self.text.as_bytes();
        let end = byte.min(bytes.len());
        self.code_point += count(&bytes[self.byte..end]);
        self.byte = end;
        self.code_point
    }

    /// The half-open code-point span of the bytes `start..end`; spans may overlap while their starts ascend.
    pub fn span(&mut self, start: usize, end: usize) -> (usize, usize) {
        let first = self.at(start);
        (
            first,
            first + count(&self.text.as_bytes()[self.byte..end.clamp(self.byte, self.text.len())]),
        )
    }
}

/// The code points that begin in `bytes`: every byte that is not a continuation byte.
fn count(bytes: &[u8]) -> usize {
    if bytes.len() < 32 {
        return bytes.iter().filter(|byte| begins(**byte)).count();
    }
    // Sums of u8 over short blocks vectorise; a block is short enough not to overflow.
    bytes
        .chunks(192)
        .map(|block| usize::from(block.iter().map(|byte| u8::from(begins(*byte))).sum::<u8>()))
        .sum()
}

fn begins(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

#[cfg(test)]
mod tests {
    use super::CodePoints;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_boundary_maps_to_the_number_of_characters_before_it(text in "\\PC{0,300}") {
            let mut cursor = CodePoints::new(&text);
            for (index, (byte, _)) in text.char_indices().enumerate() {
                prop_assert_eq!(cursor.at(byte), index);
            }
            prop_assert_eq!(cursor.at(text.len()), text.chars().count());
        }
    }

    #[test]
    fn a_step_backwards_is_answered_too() {
        let mut cursor = CodePoints::new("林黛玉a");
        assert_eq!(cursor.at(9), 3);
        assert_eq!(cursor.at(3), 1);
        assert_eq!(cursor.at(10), 4);
    }
}
