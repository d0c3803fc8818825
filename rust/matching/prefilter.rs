//! Which positions of a text are worth starting the automaton at, and in which state.
//!
//! An alias can only begin where the first bytes of some alias stand. Its first one or two characters
//! (up to four letters for ASCII) are its beginning. All beginnings are hashed into one bit set, small
//! enough for the cache: a scan costs one multiplication and one look-up per character. Where two
//! three-byte characters begin an alias (most of Chinese) an exact table confirms the few per cent that
//! pass and knows the automaton's state behind them, so the walk goes on from there.

// Called once per character of a text: left to itself the compiler outlines them, which doubles the time of a scan.
#![allow(clippy::inline_always)]

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;

/// How the beginning of an alias looks; each kind is hashed apart from the others.
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

/// Where a walk of the automaton begins.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The state after the first `depth` bytes.
    pub state: StateID,
    /// Bytes already read; no alias is shorter.
    pub depth: usize,
}

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
const BITS_PER_KEY: usize = 16;
const SIX_BYTES: u64 = 0xFFFF_FFFF_FFFF;

/// The beginnings of a set of aliases.
#[derive(Debug, Clone)]
pub struct Prefilter {
    bits: Box<[u64]>,
    shift: u32,
    /// Whether any alias begins with this ASCII character, in either case.
    ascii: [bool; 128],
    /// One bit per `Kind` that occurs.
    kinds: u16,
    root: StateID,
    /// Open addressing by the same hash as the bit set; key 0 is free.
    entries: Box<[(u64, StateID)]>,
    entries_shift: u32,
}

impl Prefilter {
    /// The filter of `aliases`, folded and none empty, which `automaton` was built of.
    pub fn new(aliases: &[String], automaton: &NFA, root: StateID) -> Self {
        let mut keys: Vec<(u64, Kind)> = aliases
            .iter()
            .map(|alias| beginning(alias.as_bytes()))
            .collect();
        keys.sort_unstable_by_key(|(key, kind)| (*kind as u8, *key));
        keys.dedup();
        let size = (keys.len() * BITS_PER_KEY)
            .next_power_of_two()
            .clamp(1 << 12, 1 << 24);
        let pairs = keys
            .iter()
            .filter(|(_, kind)| *kind == Kind::ThreeThree)
            .count();
        let slots = (pairs * 2).next_power_of_two().max(2);
        let mut filter = Self {
            bits: vec![0; size / 64].into(),
            shift: 64 - size.trailing_zeros(),
            ascii: [false; 128],
            kinds: 0,
            root,
            entries: vec![(0, root); slots].into(),
            entries_shift: 64 - slots.trailing_zeros(),
        };
        for (key, kind) in keys {
            filter.kinds |= 1 << kind as u16;
            let hash = hash(key, kind);
            let bit = (hash >> filter.shift) as usize;
            filter.bits[bit / 64] |= 1 << (bit % 64);
            if kind == Kind::ThreeThree {
                let bytes = key.to_le_bytes();
                let step = |state, byte: &u8| automaton.next_state(Anchored::Yes, state, *byte);
                let state = bytes[..6].iter().fold(root, step);
                let mut slot = (hash >> filter.entries_shift) as usize;
                while filter.entries[slot].0 != 0 {
                    slot = (slot + 1) % slots;
                }
                filter.entries[slot] = (key, state);
            }
        }
        for lead in aliases
            .iter()
            .filter_map(|alias| alias.bytes().next())
            .filter(u8::is_ascii)
        {
            filter.ascii[usize::from(lead)] = true;
            filter.ascii[usize::from(lead.to_ascii_uppercase())] = true;
        }
        filter
    }

    /// The first position from `at` on that is no Han character or where an alias may begin, or near the end.
    ///
    /// This is the loop that Chinese text spends its time in.
    #[inline(never)]
    pub fn skip_han(&self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
            let word = u64::from_le_bytes(*chunk);
            if !(0xE4..=0xE9).contains(&(word as u8))
                || self.bit(hash(word & SIX_BYTES, Kind::ThreeThree))
            {
                break;
            }
            at += 3;
        }
        at
    }

    /// The first position from `at` on that is not ASCII or where an alias may begin.
    ///
    /// `in_word` says whether a letter or digit stands before `at`, and on return before the position;
    /// with `WORDS` an alias that begins with one must not follow one.
    #[inline(never)]
    pub fn skip_ascii<const WORDS: bool>(
        &self,
        bytes: &[u8],
        mut at: usize,
        in_word: &mut bool,
    ) -> usize {
        while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii()) {
            let letter = byte.is_ascii_alphanumeric();
            let inside = WORDS && letter && *in_word;
            if !inside
                && self.ascii[usize::from(*byte)]
                && self.letters(word_at(bytes, at)).is_some()
            {
                break;
            }
            *in_word = letter;
            at += 1;
        }
        at
    }

    /// Where to begin the walk at a character of three bytes; `word` is the eight bytes from it on.
    #[inline(always)]
    pub fn three(&self, word: u64) -> Option<Entry> {
        let pair = word & SIX_BYTES;
        let hashed = hash(pair, Kind::ThreeThree);
        if self.bit(hashed) {
            return self.entry(word, hashed);
        }
        if self.has(Kind::Three) {
            self.single(word)
        } else {
            None
        }
    }

    #[inline(never)]
    fn entry(&self, word: u64, hashed: u64) -> Option<Entry> {
        if self.has(Kind::Three) && self.test(word & 0xFF_FFFF, Kind::Three) {
            return Some(self.root());
        }
        let pair = word & SIX_BYTES;
        let mut slot = (hashed >> self.entries_shift) as usize;
        loop {
            let (key, state) = self.entries[slot];
            if key == pair {
                return Some(Entry { state, depth: 6 });
            }
            if key == 0 {
                return None;
            }
            slot = (slot + 1) & (self.entries.len() - 1);
        }
    }

    #[inline(never)]
    fn single(&self, word: u64) -> Option<Entry> {
        self.test(word & 0xFF_FFFF, Kind::Three)
            .then(|| self.root())
    }

    /// Where to begin the walk at an ASCII character.
    #[inline(always)]
    pub fn ascii(&self, word: u64) -> Option<Entry> {
        if self.ascii[word as usize & 0x7F] {
            self.letters(word)
        } else {
            None
        }
    }

    #[inline]
    fn letters(&self, word: u64) -> Option<Entry> {
        let lower = word | LOWER;
        let any = self.has(Kind::Ascii4) && self.test(lower & 0xFFFF_FFFF, Kind::Ascii4)
            || self.has(Kind::Ascii3) && self.test(lower & 0xFF_FFFF, Kind::Ascii3)
            || self.has(Kind::Ascii2) && self.test(lower & 0xFFFF, Kind::Ascii2)
            || self.has(Kind::Ascii1) && self.test(lower & 0xFF, Kind::Ascii1);
        any.then(|| self.root())
    }

    /// Where to begin the walk at a character of two or four bytes.
    #[inline]
    pub fn other(&self, word: u64) -> Option<Entry> {
        let any = match word as u8 {
            0xF0.. => self.has(Kind::Four) && self.test(word & 0xFFFF_FFFF, Kind::Four),
            _ => {
                self.has(Kind::TwoTwo) && self.test(word & 0xFFFF_FFFF, Kind::TwoTwo)
                    || self.has(Kind::Two) && self.test(word & 0xFFFF, Kind::Two)
            }
        };
        any.then(|| self.root())
    }

    /// Whether some alias has one three-byte character only, so that pairs do not decide.
    pub fn has_single_han(&self) -> bool {
        self.has(Kind::Three)
    }

    #[inline]
    fn root(&self) -> Entry {
        Entry {
            state: self.root,
            depth: 0,
        }
    }

    #[inline(always)]
    fn has(&self, kind: Kind) -> bool {
        self.kinds >> kind as u16 & 1 == 1
    }

    #[inline(always)]
    fn test(&self, key: u64, kind: Kind) -> bool {
        self.bit(hash(key, kind))
    }

    #[inline(always)]
    fn bit(&self, hashed: u64) -> bool {
        let bit = (hashed >> self.shift) as usize;
        self.bits
            .get(bit / 64)
            .is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }
}

/// Bit 5 of every byte: set, it makes upper-case ASCII letters lower case; other characters collide
/// harmlessly, because the aliases' keys are made the same way and the automaton decides.
const LOWER: u64 = 0x2020_2020_2020_2020;

#[inline(always)]
fn hash(key: u64, kind: Kind) -> u64 {
    (key << 16 ^ kind as u64).wrapping_mul(MIX)
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

/// The beginning that represents an alias, as a number, and its kind.
fn beginning(bytes: &[u8]) -> (u64, Kind) {
    let word = word_at(bytes, 0);
    match word as u8 {
        0..0x80 => match bytes
            .iter()
            .take(4)
            .take_while(|byte| byte.is_ascii())
            .count()
        {
            0 | 1 => ((word | LOWER) & 0xFF, Kind::Ascii1),
            2 => ((word | LOWER) & 0xFFFF, Kind::Ascii2),
            3 => ((word | LOWER) & 0xFF_FFFF, Kind::Ascii3),
            _ => ((word | LOWER) & 0xFFFF_FFFF, Kind::Ascii4),
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
