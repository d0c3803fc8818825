//! The beginnings of aliases as numbers, hashed; and words of ASCII, eight bytes at a time.

// Called once per character of a text: left to itself the compiler outlines them, which doubles the time of a scan.
#![allow(clippy::inline_always)]

/// How the beginning of an alias looks; each kind is hashed apart from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The first 1 to 4 ASCII characters, letters in lower case.
    Ascii1 = 1,
    Ascii2 = 2,
    Ascii3 = 3,
    Ascii4 = 4,
    /// One or two characters of two bytes each.
    Two = 5,
    TwoTwo = 6,
    /// One or two characters of three bytes each.
    Three = 7,
    ThreeThree = 8,
    /// One character of four bytes.
    Four = 9,
    /// The first word of ASCII, its first eight characters, letters in lower case.
    Word = 10,
}

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
const BITS_PER_KEY: usize = 16;
pub const SIX_BYTES: u64 = 0xFFFF_FFFF_FFFF;

/// A set of hashed beginnings: a few are in it by chance.
#[derive(Debug, Clone)]
pub struct Beginnings {
    bits: Box<[u64]>,
    shift: u32,
    /// One bit per `Kind` that occurs.
    kinds: u16,
}

impl Beginnings {
    pub fn new(keys: &[(u64, Kind)]) -> Self {
        let size = (keys.len() * BITS_PER_KEY)
            .next_power_of_two()
            .clamp(1 << 12, 1 << 24);
        let mut set = Self {
            bits: vec![0; size / 64].into(),
            shift: 64 - size.trailing_zeros(),
            kinds: 0,
        };
        for (key, kind) in keys {
            set.kinds |= 1 << *kind as u16;
            let bit = (hash(*key, *kind) >> set.shift) as usize;
            set.bits[bit / 64] |= 1 << (bit % 64);
        }
        set
    }

    #[inline(always)]
    pub fn has(&self, kind: Kind) -> bool {
        self.kinds >> kind as u16 & 1 == 1
    }

    #[inline(always)]
    pub fn test(&self, key: u64, kind: Kind) -> bool {
        self.bit(hash(key, kind))
    }

    #[inline(always)]
    pub fn bit(&self, hashed: u64) -> bool {
        let bit = (hashed >> self.shift) as usize;
        self.bits
            .get(bit / 64)
            .is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }
}

impl Kind {
    /// Whether the exact table holds beginnings of this kind.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::ThreeThree | Self::Word)
    }
}

/// Bit 5 of every byte: set, it makes upper-case ASCII letters lower case; other characters collide
/// harmlessly, because the aliases' keys are made the same way and the automaton decides.
pub const LOWER: u64 = 0x2020_2020_2020_2020;

#[inline(always)]
pub fn hash(key: u64, kind: Kind) -> u64 {
    (key.rotate_left(16) ^ kind as u64).wrapping_mul(MIX)
}

pub const HIGH: u64 = 0x8080_8080_8080_8080;

/// Bit 7 of each of the eight bytes that is an ASCII letter, a digit or `_`.
#[inline(always)]
pub fn words(word: u64) -> u64 {
    // Each byte by itself: bit 7 of `x + (0x80 - n)` is set where x >= n, for x below 0x80.
    let least = |bytes: u64, n: u8| bytes + u64::from_ne_bytes([0x80 - n; 8]);
    let ascii = word & !HIGH;
    let lower = ascii | LOWER;
    let letter = least(lower, b'a') & !least(lower, b'z' + 1);
    let digit = least(ascii, b'0') & !least(ascii, b'9' + 1);
    let line = !least(ascii ^ u64::from_ne_bytes([b'_'; 8]), 1);
    (letter | digit | line) & !word & HIGH
}

/// How many of the eight bytes, from the first on, belong to a word.
#[inline(always)]
pub fn leading_word(word: u64) -> usize {
    ((!words(word) & HIGH).trailing_zeros() / 8) as usize
}

/// The key of a word of `length` (1 to 8) characters.
#[inline(always)]
pub fn word_key(word: u64, length: usize) -> u64 {
    (word | LOWER) & u64::MAX >> (64 - 8 * length)
}

/// The bytes of an exact key: none of them is 0.
#[inline(always)]
pub fn depth_of(key: u64) -> usize {
    8 - key.leading_zeros() as usize / 8
}

/// The eight bytes from `at` on as a little-endian number; zeros after the end.
#[inline(always)]
pub fn word_at(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => last_word(bytes, at),
    }
}

#[cold]
fn last_word(bytes: &[u8], at: usize) -> u64 {
    let mut chunk = [0; 8];
    let rest = bytes.get(at..).unwrap_or_default();
    let length = rest.len().min(8);
    chunk[..length].copy_from_slice(&rest[..length]);
    u64::from_le_bytes(chunk)
}

/// The beginning that represents an alias where it may be a mention, as a number, and its kind.
pub fn beginning(bytes: &[u8]) -> (u64, Kind) {
    let word = word_at(bytes, 0);
    match word as u8 {
        0..0x80 => match leading_word(word) {
            0 => letters(bytes),
            length => (word_key(word, length), Kind::Word),
        },
        0x80..0xE0 if matches!(bytes.get(2), Some(0xC0..0xE0)) => {
            (word & 0xFFFF_FFFF, Kind::TwoTwo)
        }
        0x80..0xE0 => (word & 0xFFFF, Kind::Two),
        0xE0..0xF0 if matches!(bytes.get(3), Some(0xE0..0xF0)) => {
            (word & SIX_BYTES, Kind::ThreeThree)
        }
        0xE0..0xF0 => (word & 0xFF_FFFF, Kind::Three),
        0xF0.. => (word & 0xFFFF_FFFF, Kind::Four),
    }
}

/// The first ASCII characters of an alias, four at most; of one that begins otherwise, its `beginning`.
pub fn letters(bytes: &[u8]) -> (u64, Kind) {
    let word = word_at(bytes, 0);
    let ascii = |byte: &&u8| byte.is_ascii();
    match bytes.iter().take(4).take_while(ascii).count() {
        0 => beginning(bytes),
        1 => ((word | LOWER) & 0xFF, Kind::Ascii1),
        2 => ((word | LOWER) & 0xFFFF, Kind::Ascii2),
        3 => ((word | LOWER) & 0xFF_FFFF, Kind::Ascii3),
        _ => ((word | LOWER) & 0xFFFF_FFFF, Kind::Ascii4),
    }
}

#[cfg(test)]
mod tests {
    use super::{leading_word, word_at};

    #[test]
    fn a_word_is_ascii_letters_digits_and_the_low_line() {
        for byte in 0..=u8::MAX {
            let expected = byte.is_ascii_alphanumeric() || byte == b'_';
            for place in 0..8 {
                let mut bytes = [b'a'; 8];
                bytes[place] = byte;
                let length = if expected { 8 } else { place };
                assert_eq!(
                    leading_word(word_at(&bytes, 0)),
                    length,
                    "{byte} at {place}"
                );
            }
        }
    }
}
