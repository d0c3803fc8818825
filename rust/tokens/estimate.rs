//! The estimate of last resort, for models whose tokenizer nobody outside has.

use unicode_normalization::UnicodeNormalization;

use crate::interrupt::paced;

/// Quarter tokens of a character: 1.5 tokens for a CJK character, 0.25 for every other byte.
#[inline]
pub(crate) fn quarters(c: char) -> usize {
    if is_cjk(c) { 6 } else { c.len_utf8() }
}

/// Han, kana, Hangul, their punctuation and full-width forms.
fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x2E80..=0x9FFF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE4F | 0xFF00..=0xFFEF
        | 0x2_0000..=0x3_FFFF)
}

/// Estimated tokens of `text`, rounded up.
pub(crate) fn count(text: &str) -> usize {
    if text.is_ascii() {
        return text.len().div_ceil(4);
    }
    paced(text.chars()).map(quarters).sum::<usize>().div_ceil(4)
}

/// No tokenizer that covers all bytes makes more tokens of `text` than this.
///
/// A token stands for at least one byte of what the tokenizer sees: the text as it is or, at most, in NFKC
/// form, with one blank put before (`SentencePiece`).
pub(crate) fn upper_bound(text: &str) -> usize {
    if text.is_empty() {
        return 0;
    }
    let longest = if text.is_ascii() {
        text.len()
    } else {
        text.len()
            .max(paced(text.chars()).nfkc().map(char::len_utf8).sum())
    };
    longest + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cjk_weighs_one_and_a_half_and_other_bytes_a_quarter() {
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("abcd", 1),
            ("abcde", 2),
            ("林", 2),
            ("林默", 3),
            ("林默。", 5),
            ("é", 1),
        ] {
            assert_eq!(count(text), tokens, "{text}");
        }
    }

    #[test]
    fn the_bound_holds_for_characters_that_compatibility_makes_longer() {
        assert!(upper_bound("\u{fdfa}") >= 33);
        assert_eq!(upper_bound("abc"), 4);
    }
}
