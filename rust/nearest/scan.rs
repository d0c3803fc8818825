//! Every code beside a question's: how many bits differ; then the product of the rows that are near enough.
//!
//! One pass over the codes counts how many rows lie at each distance, which tells where to stop; all rows of the last distance are
//! taken, so that what is found does not depend on their order. Processors with AVX2 run the same lines compiled for them.

// Two calls, below: to what was compiled for a processor that has been asked, and a hint to it.
#![allow(unsafe_code)]

use crate::nearest::rows::product;

/// Rows between the one that is compared and the one that is fetched.
const AHEAD: usize = 6;

/// What is searched: `words` words of code and `dimension` numbers for each slot.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a> {
    /// Codes, one after the other.
    pub codes: &'a [u64],
    /// Rows, one after the other.
    pub rows: &'a [i16],
    /// Words of a code: 1, 2, 4 or 8.
    pub words: usize,
    /// Numbers of a row.
    pub dimension: usize,
}

/// Products with the rows of at least `enough` slots, those whose codes differ least: (product, slot), unsorted.
///
/// Cost: some 2 ns a slot and 50 ns for each that is taken, at 384 numbers.
#[must_use]
pub fn nearest(slots: Slots<'_>, code: &[u64], row: &[i16], enough: usize) -> Vec<(i32, u32)> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has just said that it has both.
        return unsafe { nearest_avx2(slots, code, row, enough) };
    }
    nearest_anywhere(slots, code, row, enough)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn nearest_avx2(slots: Slots<'_>, code: &[u64], row: &[i16], enough: usize) -> Vec<(i32, u32)> {
    nearest_anywhere(slots, code, row, enough)
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "to be compiled for each kind of processor"
)]
fn nearest_anywhere(slots: Slots<'_>, code: &[u64], row: &[i16], enough: usize) -> Vec<(i32, u32)> {
    let count = slots.codes.len() / slots.words;
    // Loops and no iterators that collect: what is not inlined here would be compiled for any processor.
    let mut taken: Vec<u32> = Vec::with_capacity(count.min(2 * enough));
    if count <= enough {
        taken.extend(0..count as u32);
    } else {
        let mut distances = vec![0_u16; count];
        match slots.words {
            1 => measure::<1>(slots.codes, code, &mut distances),
            2 => measure::<2>(slots.codes, code, &mut distances),
            4 => measure::<4>(slots.codes, code, &mut distances),
            _ => measure::<8>(slots.codes, code, &mut distances),
        }
        let last = farthest(&distances, 64 * slots.words, enough);
        for (number, part) in distances.chunks(32).enumerate() {
            let mut any = false;
            for distance in part {
                any |= *distance <= last;
            }
            if any {
                for (place, distance) in part.iter().enumerate() {
                    if *distance <= last {
                        taken.push((number * 32 + place) as u32);
                    }
                }
            }
        }
    }
    let row_of = |slot: u32| {
        let start = slot as usize * slots.dimension;
        &slots.rows[start..start + slots.dimension]
    };
    let mut found = Vec::with_capacity(taken.len());
    for (number, &slot) in taken.iter().enumerate() {
        if let Some(&later) = taken.get(number + AHEAD) {
            wanted(row_of(later));
        }
        found.push((product(row_of(slot), row), slot));
    }
    found
}

/// Have a row on its way from memory: rows lie anywhere, so that the processor cannot foresee the next.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a hint costs less than a call")]
fn wanted(row: &[i16]) {
    #[cfg(target_arch = "x86_64")]
    for line in row.chunks(32) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: reads nothing, and the address is that of a slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = row;
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "to be compiled for each kind of processor"
)]
fn measure<const WORDS: usize>(codes: &[u64], code: &[u64], distances: &mut [u16]) {
    let Ok(code) = <&[u64; WORDS]>::try_from(code) else {
        return;
    };
    for (distance, other) in distances.iter_mut().zip(codes.as_chunks::<WORDS>().0) {
        let mut differing = 0;
        for place in 0..WORDS {
            differing += (other[place] ^ code[place]).count_ones();
        }
        *distance = differing as u16;
    }
}

/// The least distance within which there are `enough` slots.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "to be compiled for each kind of processor"
)]
fn farthest(distances: &[u16], bits: usize, enough: usize) -> u16 {
    // Four tables: neighbours often have the same distance, and would wait for each other.
    let mut counts = vec![[0_u32; 4]; bits + 1];
    let (fours, rest) = distances.as_chunks::<4>();
    for four in fours {
        for (table, distance) in four.iter().enumerate() {
            counts[usize::from(*distance)][table] += 1;
        }
    }
    for distance in rest {
        counts[usize::from(*distance)][0] += 1;
    }
    let mut within = 0;
    for (distance, tables) in counts.iter().enumerate() {
        within += tables.iter().sum::<u32>() as usize;
        if within >= enough {
            return distance as u16;
        }
    }
    bits as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(count: usize, words: usize) -> Vec<u64> {
        let mut state = 7_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state
        };
        (0..count * words)
            .map(|_| next() ^ (next() >> 32))
            .collect()
    }

    #[test]
    fn the_slots_taken_are_those_that_sorting_by_distance_takes() {
        for words in [1, 2, 4, 8] {
            let codes = codes(1_003, words);
            let rows: Vec<i16> = (0..1_003_i16).collect();
            let slots = Slots {
                codes: &codes,
                rows: &rows,
                words,
                dimension: 1,
            };
            let code = &codes[5 * words..6 * words];
            let distance = |slot: usize| -> u32 {
                codes[slot * words..(slot + 1) * words]
                    .iter()
                    .zip(code)
                    .map(|(a, b)| (a ^ b).count_ones())
                    .sum()
            };
            let mut sorted: Vec<u32> = (0..1_003).map(distance).collect();
            sorted.sort_unstable();
            for enough in [1, 40, 1_002] {
                let expected: Vec<u32> = (0..1_003_u32)
                    .filter(|&slot| distance(slot as usize) <= sorted[enough - 1])
                    .collect();
                let mut found = nearest(slots, code, &[1], enough);
                found.sort_unstable_by_key(|one| one.1);
                assert_eq!(found.iter().map(|one| one.1).collect::<Vec<_>>(), expected);
                assert!(
                    found
                        .iter()
                        .all(|one| one.0 == i32::from(rows[one.1 as usize]))
                );
                assert_eq!(found, nearest_anywhere(slots, code, &[1], enough));
            }
        }
    }

    #[test]
    fn with_no_more_slots_than_are_wanted_every_row_is_compared() {
        let codes = codes(6, 1);
        let slots = Slots {
            codes: &codes,
            rows: &[1, 2, 3, 4, 5, 6],
            words: 1,
            dimension: 1,
        };
        let found = nearest(slots, &[0], &[10], 6);
        assert_eq!(
            found,
            [(10, 0), (20, 1), (30, 2), (40, 3), (50, 4), (60, 5)]
        );
    }
}
