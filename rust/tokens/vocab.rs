//! A vocabulary: which byte strings are tokens, and in which order they merge.
//!
//! Three tables by length of the key, because that is where the time goes: two bytes index a flat
//! array, up to seven bytes are compared as one integer, longer tokens by hash and then by bytes.

const SHORT: usize = 7;
const LIKELY_BITS: u32 = 21;
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// "No such token": greater than every rank, so that it loses every comparison.
pub(crate) const NONE: u32 = u32::MAX;

/// A token of more than seven bytes: part of its hash, where its bytes are, rank and length.
#[derive(Clone, Copy, Default)]
struct Long {
    tag: u32,
    offset: u32,
    rank: u32,
    length: u16,
}

/// An immutable set of tokens with their ranks (the lower, the earlier it merges).
pub(crate) struct Vocab {
    pairs: Box<[u32]>,
    /// A bit by the hash of each token of three to seven bytes: while merging most of what is asked for is none, and the
    /// bits stay in a core's cache, which the tables do not.
    likely: Box<[u64]>,
    keys: Box<[u64]>,
    ranks: Box<[u32]>,
    long: Box<[Long]>,
    bytes: Vec<u8>,
    longest: usize,
}

/// Up to seven bytes and their number as one integer; never zero.
#[inline]
fn pack(token: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..token.len()].copy_from_slice(token);
    u64::from_le_bytes(word) | (token.len() as u64) << 56
}

/// [`pack`] of `text[at..at + length]`, with one load where the text goes on for eight bytes.
#[inline]
fn pack_at(text: &[u8], at: usize, length: usize) -> u64 {
    match text.get(at..at + 8) {
        Some(word) => {
            let mut eight = [0; 8];
            eight.copy_from_slice(word);
            let mask = (1_u64 << (8 * length)) - 1;
            u64::from_le_bytes(eight) & mask | (length as u64) << 56
        }
        None => pack(&text[at..at + length]),
    }
}

/// Hash of a long token.
#[inline]
fn hash(token: &[u8]) -> u64 {
    let mut state = token.len() as u64;
    let mut chunks = token.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        state = (state ^ u64::from_le_bytes(word))
            .wrapping_mul(MULTIPLIER)
            .rotate_left(29);
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        state = (state ^ pack(rest))
            .wrapping_mul(MULTIPLIER)
            .rotate_left(29);
    }
    (state ^ state >> 32).wrapping_mul(MULTIPLIER)
}

/// Slots for so many tokens: two thirds full, and never full.
fn slots(tokens: usize) -> usize {
    tokens * 3 / 2 + 8
}

/// The first slot to look at, in a table of any size (Lemire 2018).
#[inline]
fn first_slot(hash: u64, slots: usize) -> usize {
    ((u128::from(hash) * slots as u128) >> 64) as usize
}

/// Where the bit of a hash is, in the filter of short tokens.
#[inline]
fn likely_bit(hash: u64) -> (usize, u64) {
    let bit = (hash >> (64 - LIKELY_BITS)) as usize;
    (bit >> 6, 1 << (bit & 63))
}

#[inline]
fn next_slot(slot: usize, slots: usize) -> usize {
    if slot + 1 == slots { 0 } else { slot + 1 }
}

impl Vocab {
    /// A vocabulary from tokens in rank order.
    pub(crate) fn new(tokens: &[&[u8]]) -> Self {
        let long_tokens = tokens.iter().filter(|t| t.len() > SHORT);
        let (count, size) = long_tokens.fold((0, 0), |(n, b), t| (n + 1, b + t.len()));
        let short = slots(tokens.len() - count);
        let mut vocab = Self {
            pairs: vec![NONE; 1 << 16].into_boxed_slice(),
            likely: vec![0; 1 << (LIKELY_BITS - 6)].into_boxed_slice(),
            keys: vec![0; short].into_boxed_slice(),
            ranks: vec![NONE; short].into_boxed_slice(),
            long: vec![Long::default(); slots(count)].into_boxed_slice(),
            bytes: Vec::with_capacity(size),
            longest: tokens.iter().map(|t| t.len()).max().unwrap_or(0),
        };
        for (rank, token) in tokens.iter().enumerate() {
            vocab.insert(token, rank as u32);
        }
        vocab
    }

    fn insert(&mut self, token: &[u8], rank: u32) {
        if let [a, b] = *token {
            self.pairs[usize::from(a) << 8 | usize::from(b)] = rank;
        }
        if token.len() <= SHORT {
            let key = pack(token);
            let (word, bit) = likely_bit(key.wrapping_mul(MULTIPLIER));
            self.likely[word] |= bit;
            let mut slot = first_slot(key.wrapping_mul(MULTIPLIER), self.keys.len());
            while self.keys[slot] != 0 {
                slot = next_slot(slot, self.keys.len());
            }
            (self.keys[slot], self.ranks[slot]) = (key, rank);
        } else {
            let hash = hash(token);
            let mut slot = first_slot(hash, self.long.len());
            while self.long[slot].length != 0 {
                slot = next_slot(slot, self.long.len());
            }
            let (offset, length) = (self.bytes.len() as u32, token.len() as u16);
            self.long[slot] = Long {
                tag: hash as u32,
                offset,
                rank,
                length,
            };
            self.bytes.extend_from_slice(token);
        }
    }

    /// The rank of `text[from..to]`, or [`NONE`] when that is no token.
    #[inline]
    pub(crate) fn rank(&self, text: &[u8], from: usize, to: usize) -> u32 {
        let length = to - from;
        if length <= SHORT {
            if length == 2 {
                return self.pair(text[from], text[from + 1]);
            }
            return self.short_rank(pack_at(text, from, length));
        }
        if length > self.longest {
            return NONE;
        }
        self.long_rank(&text[from..to])
    }

    /// Whether `text[from..to]` is a token: `rank` without fetching it.
    #[inline]
    pub(crate) fn holds(&self, text: &[u8], from: usize, to: usize) -> bool {
        if (3..=SHORT).contains(&(to - from)) {
            return self.short_slot(pack_at(text, from, to - from)).is_some();
        }
        self.rank(text, from, to) != NONE
    }

    /// The rank of a two-byte token, or [`NONE`].
    #[inline]
    pub(crate) fn pair(&self, first: u8, second: u8) -> u32 {
        self.pairs[usize::from(first) << 8 | usize::from(second)]
    }

    #[inline]
    fn short_rank(&self, key: u64) -> u32 {
        self.short_slot(key).map_or(NONE, |slot| self.ranks[slot])
    }

    #[inline]
    fn short_slot(&self, key: u64) -> Option<usize> {
        let hash = key.wrapping_mul(MULTIPLIER);
        let (word, bit) = likely_bit(hash);
        if self.likely[word] & bit == 0 {
            return None;
        }
        let mut slot = first_slot(hash, self.keys.len());
        loop {
            match self.keys[slot] {
                found if found == key => return Some(slot),
                0 => return None,
                _ => slot = next_slot(slot, self.keys.len()),
            }
        }
    }

    fn long_rank(&self, token: &[u8]) -> u32 {
        let hash = hash(token);
        let mut slot = first_slot(hash, self.long.len());
        loop {
            let entry = &self.long[slot];
            if entry.tag == hash as u32 && usize::from(entry.length) == token.len() {
                let from = entry.offset as usize;
                if &self.bytes[from..from + token.len()] == token {
                    return entry.rank;
                }
            }
            if entry.length == 0 {
                return NONE;
            }
            slot = next_slot(slot, self.long.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_has_its_own_rank_and_nothing_else_has_one() {
        let tokens: Vec<&[u8]> = vec![
            b"a",
            b"b",
            b"ab",
            b"\0",
            b"\0\0\0",
            b"abcdefg",
            b"abcdefgh",
            b"abcdefghabcdefghi",
        ];
        let vocab = Vocab::new(&tokens);
        for (rank, token) in tokens.iter().enumerate() {
            assert_eq!(vocab.rank(token, 0, token.len()), rank as u32);
            let padded = [b"xy", *token, b"0123456789"].concat();
            assert_eq!(vocab.rank(&padded, 2, 2 + token.len()), rank as u32);
        }
        for other in [
            &b"\0\0"[..],
            b"abc",
            b"abcdefgx",
            b"abcdefghabcdefgh",
            &[b'a'; 99],
        ] {
            assert_eq!(vocab.rank(other, 0, other.len()), NONE);
        }
    }
}
