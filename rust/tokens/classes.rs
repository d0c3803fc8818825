//! Unicode classes of characters, as the tokenizers' regular expressions name them.
//!
//! Read once from the tables of `regex-syntax`, the parser behind `regex` and `fancy-regex`, so that the
//! scanners and the reference regexes cannot disagree about what `\p{L}` is.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, HirKind};

/// `\p{L}`
pub(crate) const LETTER: u8 = 1;
/// `\p{N}`
pub(crate) const NUMBER: u8 = 1 << 1;
/// `\s`
pub(crate) const SPACE: u8 = 1 << 2;
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
pub(crate) const UPPER: u8 = 1 << 3;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
pub(crate) const LOWER: u8 = 1 << 4;
/// `\p{M}`
pub(crate) const MARK: u8 = 1 << 5;
/// `[\p{P}\p{S}]`
pub(crate) const SYMBOL: u8 = 1 << 6;
/// `\p{Han}`
pub(crate) const HAN: u8 = 1 << 7;

const PATTERNS: [(u8, &str); 8] = [
    (LETTER, r"\p{L}"),
    (NUMBER, r"\p{N}"),
    (SPACE, r"\s"),
    (UPPER, r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"),
    (LOWER, r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"),
    (MARK, r"\p{M}"),
    (SYMBOL, r"[\p{P}\p{S}]"),
    (HAN, r"\p{Han}"),
];

/// One byte of class bits per code point.
pub(crate) struct Classes(Box<[u8]>);

impl Classes {
    /// The table, built at the first call (under a millisecond, 1.1 MB of which text touches few pages).
    pub(crate) fn get() -> &'static Self {
        static TABLE: OnceLock<Classes> = OnceLock::new();
        TABLE.get_or_init(|| {
            let mut bits = vec![0; 0x11_0000].into_boxed_slice();
            for (bit, pattern) in PATTERNS {
                let hir = regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind);
                if let Ok(HirKind::Class(Class::Unicode(class))) = hir {
                    for range in class.ranges() {
                        for slot in &mut bits[range.start() as usize..=range.end() as usize] {
                            *slot |= bit;
                        }
                    }
                }
            }
            Self(bits)
        })
    }

    /// The class bits of the character that starts at `at`, and its length in bytes.
    #[inline]
    pub(crate) fn at(&self, text: &[u8], at: usize) -> (u8, usize) {
        let (c, width) = decode(text, at);
        (self.0[c as usize], width)
    }
}

/// Decode the character at `at` of valid UTF-8.
#[inline(always)]
#[allow(clippy::inline_always)] // Measured: a call per character halves the speed of the scanners.
pub(crate) fn decode(text: &[u8], at: usize) -> (u32, usize) {
    let first = u32::from(text[at]);
    let low = |i: usize| u32::from(text[at + i]) & 0x3F;
    match first {
        0..0x80 => (first, 1),
        0x80..0xE0 => ((first & 0x1F) << 6 | low(1), 2),
        0xE0..0xF0 => ((first & 0x0F) << 12 | low(1) << 6 | low(2), 3),
        _ => (
            (first & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3),
            4,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_a_class_and_some_characters_are_where_they_belong() {
        let classes = Classes::get();
        for (c, bits) in [
            ('a', LETTER | LOWER),
            ('Z', LETTER | UPPER),
            ('林', LETTER | UPPER | LOWER | HAN),
            ('〇', NUMBER | HAN),
            ('\u{3000}', SPACE),
            ('\u{301}', UPPER | LOWER | MARK),
            ('。', SYMBOL),
            ('\u{200d}', 0),
        ] {
            let mut buffer = [0; 4];
            let text = c.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(classes.at(text, 0), (bits, c.len_utf8()), "{c:?}");
        }
        for (bit, pattern) in PATTERNS {
            assert!(classes.0.iter().any(|slot| slot & bit != 0), "{pattern}");
        }
    }
}
