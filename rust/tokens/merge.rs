//! Byte pair merging by rank: how many tokens are left when nothing merges any more.
//!
//! The definition (Sennrich et al. 2016; `tiktoken`): while two neighbours together are a token, merge
//! the pair of lowest rank, the leftmost of equals. Short pieces scan for the minimum on the stack;
//! long ones keep their pairs in one bucket per rank, so that a million equal letters cost a few
//! passes and not a million heap operations.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::interrupt::{Pace, paced};

use super::vocab::{NONE, Vocab};

/// Pieces of fewer units than this need the least of the stack.
const TINY: usize = 16;
/// Pieces of this many units or more go through the buckets.
const SMALL: usize = 96;

/// Number of tokens that merging the bytes of `text[from..to]` leaves.
pub(crate) fn count_bytes(vocab: &Vocab, text: &[u8], from: usize, to: usize) -> usize {
    count_units(vocab, text, to - from, (from..=to).map(|at| at as u32))
}

/// Number of tokens that merging `units` adjacent units leaves; `bounds` are their `units + 1` edges.
pub(crate) fn count_units(
    vocab: &Vocab,
    text: &[u8],
    units: usize,
    bounds: impl Iterator<Item = u32>,
) -> usize {
    if units < TINY {
        count_small::<TINY>(vocab, text, units, bounds)
    } else if units < SMALL {
        count_small::<SMALL>(vocab, text, units, bounds)
    } else {
        count_large(vocab, text, &bounds.collect::<Vec<_>>())
    }
}

#[inline]
fn rank(vocab: &Vocab, text: &[u8], from: u32, to: u32) -> u32 {
    vocab.rank(text, from as usize, to as usize)
}

fn count_small<const N: usize>(
    vocab: &Vocab,
    text: &[u8],
    mut units: usize,
    bounds: impl Iterator<Item = u32>,
) -> usize {
    let (mut edges, mut ranks) = ([0; N], [NONE; N]);
    for (edge, bound) in edges.iter_mut().zip(bounds) {
        *edge = bound;
    }
    for i in 0..units.saturating_sub(1) {
        ranks[i] = rank(vocab, text, edges[i], edges[i + 2]);
    }
    while units > 1 {
        let (mut best, mut at) = (NONE, 0);
        for (i, &rank) in ranks[..units - 1].iter().enumerate() {
            if rank < best {
                (best, at) = (rank, i);
            }
        }
        if best == NONE {
            break;
        }
        edges.copy_within(at + 2..=units, at + 1);
        ranks.copy_within(at + 1..units, at);
        units -= 1;
        ranks[units - 1] = NONE;
        if at + 1 < units {
            ranks[at] = rank(vocab, text, edges[at], edges[at + 2]);
        }
        if at > 0 {
            ranks[at - 1] = rank(vocab, text, edges[at - 1], edges[at + 1]);
        }
    }
    units
}

/// Unit `i` is alive while `next[i] > i`; `ranks[i]` is that of the pair it starts.
struct Chain<'a> {
    vocab: &'a Vocab,
    text: &'a [u8],
    edges: &'a [u32],
    next: Vec<u32>,
    previous: Vec<u32>,
    ranks: Vec<u32>,
    buckets: FxHashMap<u32, Vec<u32>>,
    order: BinaryHeap<Reverse<u32>>,
}

impl Chain<'_> {
    /// Look the pair that starts at `unit` up again and queue it.
    fn requeue(&mut self, unit: u32) {
        let (last, here) = (self.edges.len() - 1, unit as usize);
        let second = self.next[here] as usize;
        self.ranks[here] = NONE;
        if second >= last {
            return;
        }
        let end = self.next[second] as usize;
        let rank = rank(self.vocab, self.text, self.edges[here], self.edges[end]);
        self.ranks[here] = rank;
        if rank != NONE {
            let bucket = self.buckets.entry(rank).or_default();
            if bucket.is_empty() {
                self.order.push(Reverse(rank));
            }
            bucket.push(unit);
        }
    }

    fn merge(&mut self, unit: u32) {
        let here = unit as usize;
        let gone = self.next[here] as usize;
        let after = self.next[gone];
        self.next[here] = after;
        self.ranks[gone] = NONE;
        if let Some(previous) = self.previous.get_mut(after as usize) {
            *previous = unit;
        }
        self.requeue(unit);
        if unit > 0 {
            self.requeue(self.previous[here]);
        }
    }
}

fn count_large(vocab: &Vocab, text: &[u8], edges: &[u32]) -> usize {
    let units = edges.len() - 1;
    let mut chain = Chain {
        vocab,
        text,
        edges,
        next: (1..=units as u32).collect(),
        previous: (0..units as u32).map(|i| i.saturating_sub(1)).collect(),
        ranks: vec![NONE; units],
        buckets: FxHashMap::default(),
        order: BinaryHeap::new(),
    };
    for unit in paced(0..units as u32) {
        chain.requeue(unit);
    }
    let (mut left, mut pace) = (units, Pace::new());
    while let Some(Reverse(rank)) = chain.order.pop() {
        let mut bucket = chain.buckets.remove(&rank).unwrap_or_default();
        bucket.sort_unstable();
        bucket.dedup();
        for (i, &unit) in bucket.iter().enumerate() {
            pace.step(1);
            // A merge may have made a pair that comes earlier: it goes first, the rest waits.
            if chain
                .order
                .peek()
                .is_some_and(|Reverse(first)| *first < rank)
            {
                let waiting = chain.buckets.entry(rank).or_default();
                if waiting.is_empty() {
                    chain.order.push(Reverse(rank));
                }
                waiting.extend_from_slice(&bucket[i..]);
                break;
            }
            if chain.ranks[unit as usize] == rank {
                chain.merge(unit);
                left -= 1;
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::super::reference::merged;
    use super::*;
    use proptest::prelude::*;

    fn vocabulary(seed: &[(u8, u8)]) -> Vocab {
        let mut tokens: Vec<Vec<u8>> = (b'a'..=b'd').map(|b| vec![b]).collect();
        for &(i, j) in seed {
            let joined = [
                &tokens[usize::from(i) % tokens.len()][..],
                &tokens[usize::from(j) % tokens.len()],
            ]
            .concat();
            if !tokens.contains(&joined) {
                tokens.push(joined);
            }
        }
        Vocab::new(&tokens.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    proptest! {
        #[test]
        fn both_ways_of_merging_equal_the_definition(
            seed in prop::collection::vec(any::<(u8, u8)>(), 0..60),
            text in prop::collection::vec(b'a'..=b'd', 0..90),
        ) {
            let vocab = vocabulary(&seed);
            let edges: Vec<u32> = (0..=text.len() as u32).collect();
            let expected = merged(&vocab, &text);
            prop_assert_eq!(count_bytes(&vocab, &text, 0, text.len()), expected);
            prop_assert_eq!(count_large(&vocab, &text, &edges), expected);
        }
    }

    #[test]
    fn a_long_piece_of_equal_letters_merges_completely() {
        let tokens: Vec<Vec<u8>> = (0..7).map(|n| vec![b'a'; 1 << n]).collect();
        let vocab = Vocab::new(&tokens.iter().map(Vec::as_slice).collect::<Vec<_>>());
        assert_eq!(count_bytes(&vocab, &vec![b'a'; 64_000], 0, 64_000), 1_000);
    }
}
