//! Folding: one spelling for everything that differs only in case, width or canonical composition.
//!
//! `fold` applies, in this order: width (full-width and half-width forms to their ordinary ones),
//! full case folding (ß → ss, İ → i̇; ı stays itself), apostrophes (‘ ’ ʼ → ') and canonical composition
//! (NFC); variation selectors and invisible joiners that carry no letter are left out. The result knows the way back:
//! every offset between two folded characters has its offset in the original, and an offset inside a
//! character that became several (between the two s of ß) has none.
//!
//! Source: Unicode 16, sections 3.13 (default caseless matching) and UAX #15.

use crate::interrupt::Pace;
use crate::text::offset_map::{Folded, Folding};
use std::sync::LazyLock;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Folds `text` and keeps the map back.
///
/// Cost: O(len(text)); memory for the map only where lengths change.
pub fn fold(text: &str) -> Folded<'_> {
    let mut folding = Folding::with_capacity(text.len());
    let (mut at, mut pace, mut seen) = (0, Pace::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        pace.step(at - seen);
        seen = at;
        let plain = plain_prefix(&text.as_bytes()[at..]);
        if plain > 0 {
            let from = folding.out.len();
            folding.out.push_str(&text[at..at + plain]);
            folding.out[from..].make_ascii_lowercase();
            folding.note(from, at, plain, false);
            at += plain;
            continue;
        }
        let end = unit_end(text, at, first);
        let (unit, from) = (&text[at..end], folding.out.len());
        let single = end - at == first.len_utf8();
        if single && !changes(first) {
            folding.out.push(first);
        } else if single && is_apostrophe(first) {
            folding.out.push('\'');
        } else {
            fold_unit(unit, &mut folding.out);
        }
        let folded = &folding.out[from..];
        let atomic = !(single && folded.len() == unit.len() && folded.chars().nth(1).is_none());
        folding.note(from, at, unit.len(), atomic);
        at = end;
    }
    folding.finish()
}

/// How many bytes from the start are characters of their own that fold to as many bytes: ASCII and the
/// Han characters with leads E4 to E9, but for the last before anything else, which may combine with it.
fn plain_prefix(bytes: &[u8]) -> usize {
    let (mut at, mut last) = (0, 0);
    while let Some(lead) = bytes.get(at) {
        let length = match lead {
            0..0x80 => 1,
            0xE4..=0xE9 => 3,
            _ => return last,
        };
        last = at;
        at += length;
    }
    at
}

/// Whether folding would alter `character` standing alone, or it may merge with what precedes it.
pub fn changes(character: char) -> bool {
    let code = character as u32;
    match code {
        0..0x80 => character.is_ascii_uppercase(),
        0x3400..0xA000 | 0xAC00..0xD7A4 => false,
        _ if code < 0x1_0000 => CHANGING[code as usize >> 6] >> (code & 63) & 1 == 1,
        _ => changes_slowly(character),
    }
}

/// Every character of the basic plane that folding alters or may merge with its predecessor, one bit each.
static CHANGING: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut bits = vec![0_u64; 0x1_0000 / 64];
    for character in (0x80..=0xFFFF).filter_map(char::from_u32) {
        if changes_slowly(character) {
            bits[character as usize >> 6] |= 1 << (character as u32 & 63);
        }
    }
    bits
});

fn changes_slowly(character: char) -> bool {
    if merges(character)
        || is_variation_selector(character)
        || is_invisible(character)
        || is_apostrophe(character)
    {
        return true;
    }
    let ordinary = !matches!(character as u32, 0x3000 | 0xFF01..=0xFFEE);
    let caseless =
        character.to_lowercase().eq([character]) && character.to_uppercase().eq([character]);
    if ordinary && caseless && is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes {
        return false;
    }
    let mut buffer = [0; 4];
    let alone: &str = character.encode_utf8(&mut buffer);
    let mut folded = String::new();
    fold_unit(alone, &mut folded);
    folded != alone
}

/// The end of the unit that begins at `at`: a character with everything that may combine with it, invisible ones before
/// that included, which are left out.
fn unit_end(text: &str, at: usize, first: char) -> usize {
    let mut end = at + first.len_utf8();
    let mut seen = end;
    let bytes = text.as_bytes();
    // Nothing that combines is ASCII or a Han character (leads E4 to E9).
    while bytes
        .get(seen)
        .is_some_and(|lead| *lead >= 0x80 && !(0xE4..=0xE9).contains(lead))
    {
        let Some(next) = text[seen..].chars().next() else {
            break;
        };
        seen += next.len_utf8();
        if merges(next) || is_variation_selector(next) {
            end = seen;
        } else if !is_invisible(next) {
            break;
        }
    }
    end
}

/// Whether `character` may, in its ordinary width, combine with the one before it under canonical composition.
pub fn merges(character: char) -> bool {
    let character = ordinary_width(character);
    let code = character as u32;
    if code < 0x300 || (0x3400..0xA000).contains(&code) || (0xAC00..0xD7A4).contains(&code) {
        return false;
    }
    match is_nfc_quick(std::iter::once(character)) {
        IsNormalized::Yes => canonical_combining_class(character) != 0,
        IsNormalized::No => character
            .nfd()
            .next()
            .is_some_and(|first| canonical_combining_class(first) != 0),
        IsNormalized::Maybe => true,
    }
}

fn is_variation_selector(character: char) -> bool {
    matches!(character as u32, 0xFE00..=0xFE0F | 0x180B..=0x180D | 0xE_0100..=0xE_01EF)
}

/// Invisible characters that carry no letter: soft hyphen, word joiner, zero-width space, byte-order mark.
fn is_invisible(character: char) -> bool {
    matches!(character as u32, 0xAD | 0x200B | 0x2060 | 0xFEFF)
}

/// What a printer sets for ', in a name too: the single quotation marks and the letter apostrophe. As quotation marks
/// they are what ' is, the end of a word. `APOSTROPHES` of text/folding.py is the same.
pub fn is_apostrophe(character: char) -> bool {
    matches!(character, '‘' | '’' | 'ʼ')
}

fn fold_unit(unit: &str, out: &mut String) {
    let visible = unit
        .chars()
        .filter(|c| !is_variation_selector(*c) && !is_invisible(*c))
        .map(ordinary_width);
    let mut folded = String::with_capacity(unit.len());
    for character in visible.nfd() {
        fold_case(character, &mut folded);
    }
    out.extend(folded.nfc());
}

/// Full case folding of one character: lower, upper, lower, which the standard library's tables make
/// equal to `CaseFolding.txt` (C + F) except for the dotless ı, kept as it is.
fn fold_case(character: char, out: &mut String) {
    if character == 'ı' {
        out.push(character);
        return;
    }
    out.extend(
        character
            .to_lowercase()
            .flat_map(char::to_uppercase)
            .flat_map(char::to_lowercase)
            .map(|letter| if is_apostrophe(letter) { '\'' } else { letter }),
    );
}

/// The ordinary form of a full-width or half-width one (the Halfwidth and Fullwidth Forms block, U+3000).
fn ordinary_width(character: char) -> char {
    match character as u32 {
        0x3000 => ' ',
        0xFF9E => '\u{3099}',
        0xFF9F => '\u{309A}',
        0xFF01..=0xFFEE => {
            let mut buffer = [0; 4];
            let alone: &str = character.encode_utf8(&mut buffer);
            let mut ordinary = alone.nfkc();
            ordinary.next().unwrap_or(character)
        }
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::{changes, fold};
    use proptest::prelude::*;

    #[test]
    fn case_width_and_composition_become_one_spelling() {
        for (text, expected) in [
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("ẞ", "ss"),
            ("İ", "i\u{307}"),
            ("ı", "ı"),
            ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
            ("Ｔｏｍ　７", "tom 7"),
            ("ｶﾞﾝﾀﾞﾑ", "ガンダム"),
            ("e\u{301}", "é"),
            ("\u{1112}\u{1161}\u{11AB}", "한"),
            ("\u{1112}\u{FFDA}", "흐"), // a vowel of half the width
            ("하\u{FFA3}", "\u{D55B}"), // a final consonant likewise
            ("\u{1E023}\u{F81}", "\u{F71}\u{F80}\u{1E023}"), // a mark that comes apart into marks
            ("e\u{AD}\u{200B}\u{301}", "é"),
            ("❤\u{FE0F}", "❤"),
            ("葛\u{E0100}城", "葛城"),
            ("So\u{AD}phie", "sophie"),
            ("豈", "豈"),
            (
                "O’Neill, O‘Neill, Oʼneill, O＇NEILL",
                "o'neill, o'neill, o'neill, o'neill",
            ),
            ("ŉ", "'n"),
            ("’\u{301}", "'\u{301}"),
        ] {
            assert_eq!(fold(text).text, expected, "{text}");
        }
    }

    #[test]
    fn an_offset_inside_a_character_that_became_several_has_no_original() {
        let folded = fold("aßb");
        assert_eq!(folded.text, "assb");
        assert_eq!(folded.start_in_original(1), Some(1));
        assert_eq!(folded.start_in_original(2), None);
        assert_eq!(folded.end_in_original(2), None);
        assert_eq!(folded.end_in_original(3), Some(3));
        assert_eq!(folded.start_in_original(3), Some(3));
    }

    #[test]
    fn a_variation_selector_belongs_to_what_it_varies_and_an_invisible_mark_to_nothing() {
        let folded = fold("❤\u{FE0F}\u{2060}x");
        assert_eq!(folded.text, "❤x");
        assert_eq!(folded.end_in_original(3), Some(6));
        assert_eq!(folded.start_in_original(3), Some(9));
    }

    proptest! {
        #[test]
        fn folding_again_changes_nothing(text in "[\\PC\u{AD}\u{200B}\u{2060}\u{FEFF}\u{300}-\u{310}\u{1100}-\u{11FF}\u{FF9E}-\u{FFDC}]{0,60}") {
            let once = fold(&text).text.into_owned();
            prop_assert_eq!(fold(&once).text.into_owned(), once);
        }

        #[test]
        fn each_unit_between_mapped_offsets_folds_to_its_piece(text in "[\\PC\u{300}-\u{310}ßİ]{0,40}") {
            let folded = fold(&text);
            let ends: Vec<_> = folded.text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
            for (start, _) in folded.text.char_indices() {
                for end in ends.iter().filter(|end| **end > start) {
                    if let (Some(from), Some(to)) = (folded.start_in_original(start), folded.end_in_original(*end)) {
                        prop_assert_eq!(fold(&text[from..to]).text, &folded.text[start..*end]);
                    }
                }
            }
        }

        #[test]
        fn text_of_unchanging_characters_is_its_own_folding(text in "\\PC{0,60}") {
            if !text.chars().any(changes) {
                prop_assert_eq!(fold(&text).text, text.as_str());
            }
        }
    }
}
