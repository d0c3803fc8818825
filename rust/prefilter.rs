//! Which positions of a text are worth starting the automaton at.
//!
//! An alias can only begin where the first bytes of some alias stand. Their first one or two
//! characters (up to four letters for ASCII) are hashed into one bit set, small enough for the cache;
//! a scan costs one multiplication and one look-up per character and lets the automaton see the few
//! per cent that pass. False alarms cost time, never an answer.

/// What the first bytes of an alias look like; each kind is hashed apart from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
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
}

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
const BITS_PER_KEY: usize = 24;

/// The set of alias beginnings.
#[derive(Debug, Clone)]
pub struct Prefilter {
    bits: Vec<u64>,
    shift: u32,
    /// Whether any alias begins with this byte (both cases of an ASCII letter).
    leads: [bool; 256],
    /// One bit per `Kind` that occurs.
    kinds: u16,
}

impl Prefilter {
    /// The filter of `aliases`, already folded, none empty.
    pub fn new<'a>(aliases: impl Iterator<Item = &'a str>) -> Self {
        let mut leads = [false; 256];
        let (mut kinds, mut keys) = (0, Vec::new());
        for alias in aliases {
            let bytes = alias.as_bytes();
            let Some(lead) = bytes.first() else { continue };
            leads[usize::from(*lead)] = true;
            leads[usize::from(lead.to_ascii_uppercase())] = true;
            let (kind, length) = beginning(bytes);
            kinds |= 1 << kind as u16;
            keys.push(hash(load(bytes, length), kind));
        }
        let size = (keys.len() * BITS_PER_KEY)
            .next_power_of_two()
            .clamp(1 << 12, 1 << 23);
        let mut filter = Self {
            bits: vec![0; size / 64],
            shift: 64 - size.trailing_zeros(),
            leads,
            kinds,
        };
        for key in keys {
            let bit = (key >> filter.shift) as usize;
            filter.bits[bit / 64] |= 1 << (bit % 64);
        }
        filter
    }

    /// Whether any alias begins with a byte like this one.
    #[inline]
    pub fn begins_with(&self, lead: u8) -> bool {
        self.leads[usize::from(lead)]
    }

    /// Whether an alias may begin at `at`, where a character begins.
    #[inline]
    pub fn may_begin(&self, bytes: &[u8], at: usize) -> bool {
        let word = match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => load(&bytes[at..], 8),
        };
        match word as u8 {
            0..0x80 => self.ascii(word),
            0xE0..0xF0 => {
                self.has(Kind::ThreeThree) && self.test(word & 0xFFFF_FFFF_FFFF, Kind::ThreeThree)
                    || self.has(Kind::Three) && self.test(word & 0xFF_FFFF, Kind::Three)
            }
            0x80..0xE0 => {
                self.has(Kind::TwoTwo) && self.test(word & 0xFFFF_FFFF, Kind::TwoTwo)
                    || self.has(Kind::Two) && self.test(word & 0xFFFF, Kind::Two)
            }
            0xF0.. => self.test(word & 0xFFFF_FFFF, Kind::Four),
        }
    }

    #[inline]
    fn ascii(&self, word: u64) -> bool {
        let lower = lower_ascii(word);
        self.has(Kind::Ascii4) && self.test(lower & 0xFFFF_FFFF, Kind::Ascii4)
            || self.has(Kind::Ascii3) && self.test(lower & 0xFF_FFFF, Kind::Ascii3)
            || self.has(Kind::Ascii2) && self.test(lower & 0xFFFF, Kind::Ascii2)
            || self.has(Kind::Ascii1) && self.test(lower & 0xFF, Kind::Ascii1)
    }

    #[inline]
    fn has(&self, kind: Kind) -> bool {
        self.kinds >> kind as u16 & 1 == 1
    }

    #[inline]
    fn test(&self, key: u64, kind: Kind) -> bool {
        let bit = (hash(key, kind) >> self.shift) as usize;
        self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }
}

#[inline]
fn hash(key: u64, kind: Kind) -> u64 {
    (key ^ (kind as u64) << 56).wrapping_mul(MIX)
}

/// Sets bit 5 of every byte: upper-case ASCII letters become lower case, other bytes collide harmlessly
/// because the aliases' keys are made the same way.
#[inline]
fn lower_ascii(word: u64) -> u64 {
    word | 0x2020_2020_2020_2020
}

/// The kind and length in bytes of the beginning that represents an alias.
fn beginning(bytes: &[u8]) -> (Kind, usize) {
    match bytes[0] {
        0..0x80 => match bytes
            .iter()
            .take(4)
            .take_while(|byte| byte.is_ascii())
            .count()
        {
            1 => (Kind::Ascii1, 1),
            2 => (Kind::Ascii2, 2),
            3 => (Kind::Ascii3, 3),
            _ => (Kind::Ascii4, 4),
        },
        0x80..0xE0 if matches!(bytes.get(2), Some(0xC0..0xE0)) => (Kind::TwoTwo, 4),
        0x80..0xE0 => (Kind::Two, 2),
        0xE0..0xF0 if matches!(bytes.get(3), Some(0xE0..0xF0)) => (Kind::ThreeThree, 6),
        0xE0..0xF0 => (Kind::Three, 3),
        0xF0.. => (Kind::Four, 4),
    }
}

/// The first `length` bytes as a little-endian number; ASCII in lower case where the kind says so.
fn load(bytes: &[u8], length: usize) -> u64 {
    let mut chunk = [0; 8];
    let length = length.min(bytes.len());
    chunk[..length].copy_from_slice(&bytes[..length]);
    let word = u64::from_le_bytes(chunk);
    if length <= 4 && chunk[0] < 0x80 {
        return lower_ascii(word) & (u64::MAX >> (64 - 8 * length.max(1)));
    }
    word
}
