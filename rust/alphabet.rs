//! Which characters force a text to be folded before it is searched.
//!
//! Most text needs no folding for the aliases at hand: the full-width comma of a Chinese page folds to
//! `,`, which no alias contains. A character matters only when it may merge with its predecessor or when
//! its folded form shares a letter with some alias.

use crate::normalize;
use std::sync::LazyLock;

/// The characters of one set of aliases, seen from the text's side.
#[derive(Debug, Clone)]
pub struct Alphabet {
    /// One bit per code point of the basic plane.
    bits: Vec<u64>,
}

impl Alphabet {
    /// The alphabet of `aliases`, already folded.
    pub fn new(aliases: &[String]) -> Self {
        let mut letters = vec![0_u64; 0x11_0000 / 64];
        for letter in aliases.iter().flat_map(|alias| alias.chars()) {
            letters[letter as usize / 64] |= 1 << (letter as u32 % 64);
        }
        let mut bits = vec![0_u64; 0x1_0000 / 64];
        for (changing, becomes) in CHANGING.iter() {
            let shares =
                |letter: char| letters[letter as usize / 64] >> (letter as u32 % 64) & 1 == 1;
            if becomes
                .as_deref()
                .is_none_or(|folded| folded.chars().any(shares))
            {
                bits[*changing as usize / 64] |= 1 << (*changing as u32 % 64);
            }
        }
        Self { bits }
    }

    /// Whether the character at `at` forces folding; ASCII never does, the automaton ignores its case.
    #[inline]
    pub fn must_fold(&self, text: &str, at: usize) -> bool {
        let Some(character) = text[at..].chars().next() else {
            return false;
        };
        let code = character as usize;
        match self.bits.get(code / 64) {
            Some(word) => word >> (code % 64) & 1 == 1,
            None => normalize::changes(character),
        }
    }
}

/// The characters of the basic plane that folding changes, with what they become; None where a neighbour decides.
static CHANGING: LazyLock<Vec<(char, Option<String>)>> = LazyLock::new(|| {
    let changing = (0x80..=0xFFFF)
        .filter_map(char::from_u32)
        .filter(|c| normalize::changes(*c));
    changing
        .map(|character| {
            let folded = normalize::fold(&character.to_string()).text.into_owned();
            let alone = folded.is_empty() || normalize::merges(character);
            (character, (!alone).then_some(folded))
        })
        .collect()
});
