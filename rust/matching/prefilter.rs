//! Which positions of a text are worth starting the automaton at, and in which state.
//!
//! An alias can only begin where the first bytes of some alias stand: its first one or two characters, or its first word
//! (ASCII letters, digits and `_`, eight at most), since a mention neither begins nor ends inside one. All beginnings are
//! hashed into one bit set, small enough for the cache: a scan costs one multiplication and one look-up per character or
//! word. Where two three-byte characters (most of Chinese) or a word begin an alias, an exact table confirms the few
//! per cent that pass. It knows the alias that ends there and the automaton's state, from which the walk goes on when
//! longer ones begin the same way. Inside words (`explain`) the first four letters are the beginning.

// Called once per character of a text: left to itself the compiler outlines them, which doubles the time of a scan.
#![allow(clippy::inline_always)]

use crate::matching::beginnings::{
    Beginnings, HIGH, Kind, LOWER, SIX_BYTES, beginning, depth_of, hash, leading_word, letters,
    word_at, word_key, words,
};
use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;

/// Where a walk of the automaton begins.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The state after the first `depth` bytes.
    pub state: StateID,
    /// Bytes already read; no alias is shorter that would be a mention.
    pub depth: usize,
    /// The alias of these bytes.
    pub whole: Option<u32>,
    /// Whether longer aliases begin with these bytes.
    pub goes_on: bool,
}

/// The beginnings of a set of aliases.
#[derive(Debug, Clone)]
pub struct Prefilter {
    /// Of words, and of characters that are not ASCII.
    beginnings: Beginnings,
    /// Of ASCII, wherever it stands in a word.
    letters: Beginnings,
    /// Whether any alias begins with this ASCII character, in either case.
    ascii: [bool; 128],
    /// Whether any begins with one that belongs to no word.
    signs: bool,
    root: StateID,
    /// Open addressing by the same hash as the bit set; key 0 is free.
    entries: Box<[Slot]>,
    entries_shift: u32,
}

/// A row of the exact table.
#[derive(Debug, Clone, Copy)]
struct Slot {
    key: u64,
    state: StateID,
    /// The alias, `NO_ALIAS` for none; with `GOES_ON` when longer ones begin the same way.
    whole: u32,
}

const GOES_ON: u32 = 1 << 31;
const NO_ALIAS: u32 = GOES_ON - 1;

impl Prefilter {
    /// The filter of `aliases`, folded and none empty, which `automaton` was built of.
    pub fn new(aliases: &[String], automaton: &NFA, root: StateID) -> Self {
        let keys = |of: fn(&[u8]) -> (u64, Kind)| {
            let mut keys: Vec<(u64, Kind)> =
                aliases.iter().map(|alias| of(alias.as_bytes())).collect();
            keys.sort_unstable_by_key(|(key, kind)| (*kind as u8, *key));
            keys.dedup();
            keys
        };
        let mut letters = keys(letters);
        letters.retain(|(_, kind)| *kind as u8 <= Kind::Ascii4 as u8);
        let keys = keys(beginning);
        let exact = keys.iter().filter(|(_, kind)| kind.is_exact()).count();
        let slots = (exact * 2).next_power_of_two().max(2);
        let free = Slot {
            key: 0,
            state: root,
            whole: NO_ALIAS,
        };
        let mut filter = Self {
            beginnings: Beginnings::new(&keys),
            letters: Beginnings::new(&letters),
            ascii: [false; 128],
            signs: false,
            root,
            entries: vec![free; slots].into(),
            entries_shift: 64 - slots.trailing_zeros(),
        };
        for (number, alias) in aliases.iter().enumerate() {
            filter.add(number as u32, alias.as_bytes(), automaton);
        }
        filter
    }

    fn add(&mut self, number: u32, alias: &[u8], automaton: &NFA) {
        if alias[0].is_ascii() {
            self.ascii[usize::from(alias[0])] = true;
            self.ascii[usize::from(alias[0].to_ascii_uppercase())] = true;
            self.signs |= leading_word(word_at(alias, 0)) == 0;
        }
        let (key, kind) = beginning(alias);
        if !kind.is_exact() {
            return;
        }
        let depth = depth_of(key);
        let step = |state, byte: &u8| automaton.next_state(Anchored::Yes, state, *byte);
        let state = alias[..depth].iter().fold(self.root, step);
        let mut at = (hash(key, kind) >> self.entries_shift) as usize;
        while self.entries[at].key != 0 && self.entries[at].key != key {
            at = (at + 1) & (self.entries.len() - 1);
        }
        let slot = &mut self.entries[at];
        (slot.key, slot.state) = (key, state);
        if alias.len() > depth {
            slot.whole |= GOES_ON;
        } else {
            slot.whole = number | slot.whole & GOES_ON;
        }
    }

    /// The first position from `at` on that is no Han character or where an alias may begin, or near the end.
    ///
    /// This is the loop that Chinese text spends its time in.
    #[inline(never)]
    pub fn skip_han(&self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
            let word = u64::from_le_bytes(*chunk);
            if !(0xE4..=0xE9).contains(&(word as u8))
                || self
                    .beginnings
                    .bit(hash(word & SIX_BYTES, Kind::ThreeThree))
            {
                break;
            }
            at += 3;
        }
        at
    }

    /// The first position from `at` on where an alias may begin that is a mention there, or that is not ASCII.
    ///
    /// `in_word` says whether a letter, digit or `_` stands before `at`, and on return before the position.
    #[inline(never)]
    pub fn next_word(
        &self,
        bytes: &[u8],
        mut at: usize,
        in_word: &mut bool,
    ) -> (usize, Option<Entry>) {
        // Eight characters at once: where words begin is known before any of them is looked up.
        while !self.signs
            && let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk)
            && u64::from_le_bytes(*chunk) & HIGH == 0
        {
            let inside = words(u64::from_le_bytes(*chunk));
            let mut begins = inside & !(inside << 8 | u64::from(*in_word) << 7);
            while begins != 0 {
                let start = at + (begins.trailing_zeros() / 8) as usize;
                let word = word_at(bytes, start);
                let key = word_key(word, leading_word(word));
                let hashed = hash(key, Kind::Word);
                if self.beginnings.bit(hashed)
                    && let Some(entry) = self.exact(key, hashed)
                {
                    return (start, Some(entry));
                }
                begins &= begins - 1;
            }
            *in_word = inside >> 63 == 1;
            at += 8;
        }
        while let Some(&byte) = bytes.get(at).filter(|byte| byte.is_ascii()) {
            let word = word_at(bytes, at);
            let length = leading_word(word);
            if length > 0 && !*in_word {
                let key = word_key(word, length);
                let hashed = hash(key, Kind::Word);
                if self.beginnings.bit(hashed)
                    && let Some(entry) = self.exact(key, hashed)
                {
                    return (at, Some(entry));
                }
            } else if length == 0 && self.ascii[usize::from(byte)] {
                *in_word = false;
                if let Some(entry) = self.inside(word) {
                    return (at, Some(entry));
                }
            }
            *in_word = length == 8;
            at += length.max(1);
        }
        (at, None)
    }

    /// The first position from `at` on that is not ASCII or where an alias may begin, in a word or not.
    #[inline(never)]
    pub fn skip_ascii(&self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii()) {
            if self.ascii[usize::from(*byte)] && self.inside(word_at(bytes, at)).is_some() {
                break;
            }
            at += 1;
        }
        at
    }

    /// Where to begin the walk at a character of three bytes; `word` is the eight bytes from it on.
    #[inline(always)]
    pub fn three(&self, word: u64) -> Option<Entry> {
        let pair = word & SIX_BYTES;
        let hashed = hash(pair, Kind::ThreeThree);
        if self.beginnings.bit(hashed) {
            return self.entry(word, hashed);
        }
        if self.has_single_han() {
            self.single(word)
        } else {
            None
        }
    }

    #[inline(never)]
    fn entry(&self, word: u64, hashed: u64) -> Option<Entry> {
        if self.has_single_han() && self.beginnings.test(word & 0xFF_FFFF, Kind::Three) {
            return Some(self.root());
        }
        self.exact(word & SIX_BYTES, hashed)
    }

    #[inline]
    fn exact(&self, key: u64, hashed: u64) -> Option<Entry> {
        let mut at = (hashed >> self.entries_shift) as usize;
        loop {
            let slot = self.entries[at];
            if slot.key == key {
                let alias = slot.whole & NO_ALIAS;
                return Some(Entry {
                    state: slot.state,
                    depth: depth_of(key),
                    whole: (alias != NO_ALIAS).then_some(alias),
                    goes_on: slot.whole & GOES_ON != 0,
                });
            }
            if slot.key == 0 {
                return None;
            }
            at = (at + 1) & (self.entries.len() - 1);
        }
    }

    #[inline(never)]
    fn single(&self, word: u64) -> Option<Entry> {
        self.beginnings
            .test(word & 0xFF_FFFF, Kind::Three)
            .then(|| self.root())
    }

    /// Where to begin the walk at an ASCII character, in a word or not.
    #[inline]
    pub fn inside(&self, word: u64) -> Option<Entry> {
        let (lower, set) = (word | LOWER, &self.letters);
        let any = set.has(Kind::Ascii4) && set.test(lower & 0xFFFF_FFFF, Kind::Ascii4)
            || set.has(Kind::Ascii3) && set.test(lower & 0xFF_FFFF, Kind::Ascii3)
            || set.has(Kind::Ascii2) && set.test(lower & 0xFFFF, Kind::Ascii2)
            || set.has(Kind::Ascii1) && set.test(lower & 0xFF, Kind::Ascii1);
        any.then(|| self.root())
    }

    /// Where to begin the walk at a character of two or four bytes.
    #[inline]
    pub fn other(&self, word: u64) -> Option<Entry> {
        let set = &self.beginnings;
        let any = match word as u8 {
            0xF0.. => set.has(Kind::Four) && set.test(word & 0xFFFF_FFFF, Kind::Four),
            _ => {
                set.has(Kind::TwoTwo) && set.test(word & 0xFFFF_FFFF, Kind::TwoTwo)
                    || set.has(Kind::Two) && set.test(word & 0xFFFF, Kind::Two)
            }
        };
        any.then(|| self.root())
    }

    /// Whether some alias has one three-byte character only, so that pairs do not decide.
    #[inline(always)]
    pub fn has_single_han(&self) -> bool {
        self.beginnings.has(Kind::Three)
    }

    #[inline]
    fn root(&self) -> Entry {
        Entry {
            state: self.root,
            depth: 0,
            whole: None,
            goes_on: true,
        }
    }
}
