//! What short pieces counted to, per thread: prose repeats its words.
//!
//! A table of whole keys (up to fifteen bytes and their number), so an entry is either the very piece or nothing. Two
//! places for each hash: a new piece displaces the one of the two that was asked for longer ago (of a novel's words a
//! quarter fewer are counted again than with one). 256 kB per encoding and thread, small enough to stay in a core's
//! cache, which the vocabulary is not.

use std::cell::RefCell;

/// Longest piece that is kept.
pub(crate) const LONGEST: usize = 15;
const BITS: u32 = 13;

/// What a piece counted to stands beside its length, in the upper half of the highest byte.
const TOKENS_AT: u32 = 60;
const TOKENS: u64 = 0xF << TOKENS_AT;

#[derive(Clone, Copy, Default)]
struct Slot {
    low: u64,
    high: u64,
}

/// Counts of recent pieces of one encoding.
pub(crate) struct Memo {
    /// The piece that was asked for last stands first.
    pairs: Box<[[Slot; 2]]>,
}

/// A piece as two integers, its length in the highest byte; never zero.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    low: u64,
    high: u64,
}

impl Key {
    /// The key of `text[from..from + length]`, `length` from 1 to 15.
    #[inline]
    pub(crate) fn of(text: &[u8], from: usize, length: usize) -> Self {
        let mut bytes = [0; 16];
        let mut word = if let Some(sixteen) = text.get(from..from + 16) {
            bytes.copy_from_slice(sixteen);
            u128::from_le_bytes(bytes) & ((1 << (8 * length)) - 1)
        } else {
            bytes[..length].copy_from_slice(&text[from..from + length]);
            u128::from_le_bytes(bytes)
        };
        word |= (length as u128) << 120;
        Self {
            low: word as u64,
            high: (word >> 64) as u64,
        }
    }

    #[inline]
    fn place(self) -> usize {
        let mixed = (self.low ^ self.high.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (64 - BITS)) as usize
    }

    #[inline]
    fn is(self, slot: Slot) -> bool {
        slot.low == self.low && slot.high & !TOKENS == self.high
    }
}

impl Slot {
    #[inline]
    fn tokens(self) -> usize {
        (self.high >> TOKENS_AT) as usize
    }
}

impl Memo {
    fn new() -> Self {
        Self {
            pairs: vec![[Slot::default(); 2]; 1 << BITS].into_boxed_slice(),
        }
    }

    /// The count of a piece, from memory or by counting it now; no piece has more tokens than bytes.
    #[inline]
    pub(crate) fn get_or(&mut self, key: Key, count: impl FnOnce() -> usize) -> usize {
        let [first, second] = &mut self.pairs[key.place()];
        if !key.is(*first) {
            std::mem::swap(first, second);
            if !key.is(*first) {
                *first = Slot {
                    low: key.low,
                    high: key.high | (count() as u64) << TOKENS_AT,
                };
            }
        }
        first.tokens()
    }
}

thread_local! {
    static MEMOS: RefCell<Vec<Option<Memo>>> = const { RefCell::new(Vec::new()) };
}

/// Run `work` with this thread's memo of encoding number `encoding`.
#[inline]
pub(crate) fn with<T>(encoding: usize, work: impl FnOnce(&mut Memo) -> T) -> T {
    MEMOS.with(|memos| match memos.try_borrow_mut() {
        Ok(mut memos) => {
            if memos.len() <= encoding {
                memos.resize_with(encoding + 1, || None);
            }
            work(memos[encoding].get_or_insert_with(Memo::new))
        }
        // A count inside a count: what a long one asks, whether to go on, may be answered by somebody who counts.
        Err(_) => work(&mut Memo::new()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_inside_a_count_has_a_memo_of_its_own() {
        let key = Key::of(b"ab", 0, 2);
        let inner = with(0, |_| with(0, |memo| memo.get_or(key, || 2)));
        assert_eq!(inner, 2);
    }

    #[test]
    fn a_piece_is_counted_once_and_never_taken_for_another() {
        let mut memo = Memo::new();
        let text = b"a\0\0abcdefghijklmnopqrstuvwxyz";
        for length in 1..=LONGEST {
            for from in 0..text.len() - length {
                let piece = &text[from..from + length];
                let counted = usize::from(piece[0]) % length + 1;
                let tokens = memo.get_or(Key::of(text, from, length), || counted);
                assert_eq!(tokens, counted);
                let alone = memo.get_or(Key::of(piece, 0, length), || {
                    unreachable!("{piece:?} was counted")
                });
                assert_eq!(alone, tokens);
            }
        }
    }
}
