//! Which characters force a text to be folded before it is searched.
//!
//! Most text needs no folding for the aliases at hand: the full-width comma of a Chinese page folds to
//! `,`, which no alias contains. A character matters only when it may merge with its predecessor or when
//! its folded form shares a letter with some alias.

use crate::text::normalize;
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

    /// Whether the first character of `text` forces folding; ASCII never does, the automaton ignores its case.
    pub fn must_fold(&self, text: &str) -> bool {
        text.chars()
            .next()
            .is_some_and(|character| match self.bits.get(character as usize / 64) {
                Some(word) => word >> (character as usize % 64) & 1 == 1,
                None => normalize::changes(character),
            })
    }

    /// The same for a character of three bytes, the first of the little-endian `word`.
    #[inline]
    pub fn must_fold_three(&self, word: u64) -> bool {
        let code = ((word & 0xF) << 12 | (word >> 8 & 0x3F) << 6 | word >> 16 & 0x3F) as usize;
        self.bits
            .get(code / 64)
            .is_some_and(|word| word >> (code % 64) & 1 == 1)
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
