//! Where a mention may begin and end.
//!
//! Two rules, both about the characters at an edge and their neighbours outside it:
//!
//! 1. A mention never splits what a reader sees as one character: no combining mark, variation
//!    selector, emoji modifier or zero-width joiner may follow it, no joiner may precede it.
//! 2. Where the edge is a letter or digit of a script written with spaces (Latin, Cyrillic, Greek,
//!    Hangul, Arabic, digits, `_` …) the neighbour must not be one. Han, kana, Thai and their like are
//!    written without spaces: no rule for them. Korean particles may follow a name (`particles`).
//!
//! The reasons are in `docs/decisions/0010-where-a-mention-begins-and-ends.md`.

use crate::matching::particles;
use crate::text::normalize;

/// Why an occurrence of an alias is not a mention of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A longer known name covers it, or one that begins before it.
    Shadowed,
    /// It is part of a longer word of a script written with spaces.
    InsideWord,
    /// It would split a character that a reader sees as one.
    SplitsCharacter,
    /// A longer kin term (`readings`).
    KinTerm,
    /// A short form without its capital (`readings`).
    Word,
}

impl Reason {
    /// One or two words, stable, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shadowed => "shadowed",
            Self::InsideWord => "inside a word",
            Self::SplitsCharacter => "splits a character",
            Self::KinTerm => "a longer kin term",
            Self::Word => "a word",
        }
    }
}

/// What is wrong with the left edge of a piece that begins at `start`.
#[inline]
pub fn left(text: &str, start: usize) -> Option<Reason> {
    let bytes = text.as_bytes();
    let (previous, first) = (*bytes.get(start.checked_sub(1)?)?, *bytes.get(start)?);
    // A Han character after anything but the joiner, which ends in this byte; a space before: the commonest cases.
    if is_han_lead(first) && previous != 0x8D || is_plain(previous) {
        return None;
    }
    if text[..start].ends_with(JOINER) {
        return Some(Reason::SplitsCharacter);
    }
    let previous = last_base(&text[..start])?;
    let first = text[start..].chars().next()?;
    (in_word(first) && in_word(previous)).then_some(Reason::InsideWord)
}

/// What is wrong with the right edge of a piece that ends at `end`.
#[inline]
pub fn right(text: &str, end: usize) -> Option<Reason> {
    let next = *text.as_bytes().get(end)?;
    if is_han_lead(next) || is_plain(next) {
        return None;
    }
    let rest = &text[end..];
    let next = rest.chars().next()?;
    let last = last_base(&text[..end])?;
    if next.is_ascii() {
        return (in_word(next) && in_word(last)).then_some(Reason::InsideWord);
    }
    if next == JOINER || extends_character(next) {
        return Some(Reason::SplitsCharacter);
    }
    if !(in_word(next) && in_word(last)) {
        return None;
    }
    let particles = is_hangul(next) && {
        let word = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        particles::follow(last, &rest[..word])
    };
    (!particles).then_some(Reason::InsideWord)
}

const JOINER: char = '\u{200D}';

/// Letters, digits and marks of scripts written with spaces, and `_`; the non-joiner continues a word, and an apostrophe
/// ends one, whichever it is: ʼ, a letter to Unicode, is to a name what ' is.
pub fn in_word(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    !is_han(character)
        && (character.is_alphanumeric() || character == '\u{200C}')
        && !is_unspaced(character)
        && !normalize::is_apostrophe(character)
}

/// The CJK unified ideographs of the basic plane: the common case, tested first.
fn is_han(character: char) -> bool {
    (0x3400..0xA000).contains(&(character as u32))
}

/// The leads of U+4000 to U+9FFF: letters of no spaced script, marks of no character.
fn is_han_lead(lead: u8) -> bool {
    (0xE4..=0xE9).contains(&lead)
}

/// ASCII that is part of no word.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && byte != b'_'
}

fn is_hangul(character: char) -> bool {
    (0xAC00..0xD7A4).contains(&(character as u32))
}

/// Scripts written without spaces between words, by block.
fn is_unspaced(character: char) -> bool {
    matches!(character as u32,
        0x0E00..=0x0FFF     // Thai, Lao, Tibetan
        | 0x1000..=0x109F   // Myanmar
        | 0x1780..=0x17FF   // Khmer
        | 0x1950..=0x19FF   // Tai Le, New Tai Lue
        | 0x1A20..=0x1AAF   // Tai Tham
        | 0x2E80..=0x312F   // radicals, CJK symbols, kana, Bopomofo
        | 0x31A0..=0x31FF | 0x3200..=0x33FF
        | 0x3400..=0xA4CF   // Han, Yi
        | 0xA9E0..=0xA9FF | 0xAA60..=0xAADF
        | 0xF900..=0xFAFF | 0xFF66..=0xFF9F
        | 0x1_B000..=0x1_B16F
        | 0x2_0000..=0x3_FFFF)
}

/// The last character that is not a mark on the one before it: İ folds to i with a dot above, and is a letter.
fn last_base(text: &str) -> Option<char> {
    let mark = |c: &char| !c.is_ascii() && unicode_normalization::char::is_combining_mark(*c);
    text.chars().rev().find(|c| !mark(c))
}

/// Marks that belong to the character before them.
fn extends_character(character: char) -> bool {
    unicode_normalization::char::is_combining_mark(character)
        || matches!(character as u32, 0xFE00..=0xFE0F | 0xE_0100..=0xE_01EF | 0x1_F3FB..=0x1_F3FF | 0xFF9E | 0xFF9F)
}

#[cfg(test)]
mod tests {
    use super::{Reason, left, right};

    fn edges(before: &str, alias: &str, after: &str) -> Option<Reason> {
        let text = format!("{before}{alias}{after}");
        let (start, end) = (before.len(), before.len() + alias.len());
        left(&text, start).or_else(|| right(&text, end))
    }

    #[test]
    fn a_spaced_script_needs_the_end_of_a_word_and_han_does_not() {
        for (before, alias, after, expected) in [
            ("却说", "林黛玉", "正在", None),
            ("", "エリス", "は剣", None),
            ("他叫", "Tom", "来", None),
            ("", "the king", "dom", Some(Reason::InsideWord)),
            ("s", "he", "", Some(Reason::InsideWord)),
            ("", "кот", "орый", Some(Reason::InsideWord)),
            ("Hier, ", "Élodie", "'s", None),
            ("d’", "Artagnan", "", None),
            ("", "Will", "ʼs", None),
            ("", "민수", "는 집", None),
            ("", "민수", "진은", Some(Reason::InsideWord)),
            ("", "Tom", "은 왔다", None),
            ("第", "3", "0章", Some(Reason::InsideWord)),
            ("my_", "king", "", Some(Reason::InsideWord)),
            ("", "caf", "e\u{301}", Some(Reason::InsideWord)),
            ("", "cafe", "\u{301}", Some(Reason::SplitsCharacter)),
            ("", "👨", "\u{200D}👩", Some(Reason::SplitsCharacter)),
            ("👨\u{200D}", "👩", "", Some(Reason::SplitsCharacter)),
            ("", "👋", "\u{1F3FD}", Some(Reason::SplitsCharacter)),
        ] {
            assert_eq!(
                edges(before, alias, after),
                expected,
                "{before}[{alias}]{after}"
            );
        }
    }
}
