//! Under which numbers the terms of a text are kept.
//!
//! Characters and pairs of the basic plane are their own numbers, so that they are exact. Words, and pairs beyond the
//! basic plane, are hashed to 32 bits: a word that stands nowhere is taken for one of 10,000 others with a chance of
//! two in a million. The hash is written to disk and therefore spelt out here.

use crate::text::analyzer::{Term, each_term, unspaced};

/// What kind of term a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Family {
    /// One character of a script without spaces.
    Character,
    /// Two of them that are neighbours.
    Pair,
    /// The stem of a word.
    Word,
    /// An entity, by the number that the corpus gave its id.
    Entity,
}

/// How many families there are.
pub const FAMILIES: usize = 4;

/// A term as it is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Its family.
    pub family: Family,
    /// Its number in the family.
    pub number: u32,
}

impl Key {
    /// The key of a term of text.
    pub fn of(term: Term<'_>) -> Self {
        match term {
            Term::Single(c) => Self::new(Family::Character, u32::from(c)),
            Term::Pair(a, b) => {
                if let (Ok(a), Ok(b)) = (u16::try_from(u32::from(a)), u16::try_from(u32::from(b))) {
                    return Self::new(Family::Pair, u32::from(a) << 16 | u32::from(b));
                }
                let mut both = [0; 8];
                let first = a.encode_utf8(&mut both).len();
                let second = b.encode_utf8(&mut both[first..]).len();
                Self::new(Family::Word, hash(&both[..first + second]))
            }
            Term::Word(word) => Self::new(Family::Word, hash(word.as_bytes())),
        }
    }

    /// The key of number `number` in `family`.
    pub fn new(family: Family, number: u32) -> Self {
        Self { family, number }
    }
}

/// The keys that must all stand where `text` does: its pairs and words, or the one character it consists of.
pub fn keys_of(text: &str) -> Vec<Key> {
    let (mut keys, mut characters) = (Vec::new(), Vec::new());
    each_term(text, |term| match term {
        Term::Single(_) => characters.push(Key::of(term)),
        _ => keys.push(Key::of(term)),
    });
    if keys.is_empty() {
        keys = characters;
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The key of a term as `text::analyzer` spells it: a stem is not stemmed again, which could change it.
pub fn key_of_term(term: &str) -> Option<Key> {
    let mut characters = term.chars();
    match (characters.next(), characters.next(), characters.next()) {
        (Some(c), None, _) if unspaced(c) => Some(Key::of(Term::Single(c))),
        (Some(a), Some(b), None) if unspaced(a) && unspaced(b) => Some(Key::of(Term::Pair(a, b))),
        (Some(_), _, _) => Some(Key::of(Term::Word(term))),
        (None, _, _) => None,
    }
}

/// FNV-1a, then a finaliser (`SplitMix64`) so that every bit depends on every byte; the upper half of it.
fn hash(bytes: &[u8]) -> u32 {
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in bytes {
        h = (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((h ^ (h >> 31)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::analyzer::term_strings;

    #[test]
    fn a_phrase_needs_its_pairs_and_a_single_character_itself() {
        let pair = |a: char, b: char| Key::of(Term::Pair(a, b));
        let mut wanted = vec![pair('老', '渡'), pair('渡', '口')];
        wanted.sort_unstable();
        assert_eq!(keys_of("老渡口"), wanted);
        assert_eq!(keys_of("灯"), [Key::new(Family::Character, 0x706f)]);
        assert_eq!(keys_of("the lamps"), [Key::of(Term::Word("lamp"))]);
        assert!(keys_of("of the").is_empty());
    }

    #[test]
    fn the_terms_of_a_text_have_the_keys_of_the_text() {
        let text = "of course the 渡口 灯 mainspring";
        let mut keys: Vec<Key> = term_strings(text)
            .iter()
            .filter_map(|term| key_of_term(term))
            .collect();
        keys.sort_unstable();
        assert_eq!(keys, keys_of(text));
        assert_eq!(key_of_term("灯"), keys_of("灯").first().copied());
        assert_ne!(key_of_term("cours"), keys_of("cours").first().copied());
        assert_eq!(key_of_term(""), None);
    }

    #[test]
    fn keys_do_not_change_between_releases() {
        assert_eq!(Key::of(Term::Word("lamp")).number, 0x7273_3ad4);
        assert_eq!(Key::of(Term::Pair('渡', '口')).number, 0x6e21_53e3);
    }

    #[test]
    fn pairs_beyond_the_basic_plane_are_kept_apart() {
        let rare = Key::of(Term::Pair('𠀀', '𠀁'));
        assert_eq!(rare.family, Family::Word);
        assert_ne!(rare, Key::of(Term::Pair('𠀁', '𠀀')));
    }
}
