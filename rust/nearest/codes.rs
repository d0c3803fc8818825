//! A vector's code: the signs of its coordinates, after it was centred and turned.
//!
//! Vectors of a language model lean one way, so that signs alone tell little: with the mean taken off, half of them differ between
//! strangers. Turning spreads what few coordinates hold over all bits. It is a Hadamard transform of the vector folded to a power of
//! two with signs of its own (Ailon and Chazelle 2006; codes of signs: Charikar 2002), in whole numbers, exact on every machine.

/// Bits beyond which more of them find no more: of vectors of 768 coordinates 512 lose nothing.
const MOST_BITS: usize = 512;

/// How vectors of one length are coded.
#[derive(Clone, Debug)]
pub struct Coder {
    bits: usize,
    flipped: Vec<bool>,
}

impl Coder {
    /// For vectors of so many coordinates.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        // splitmix64: the signs are the same wherever an index was made.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let flipped = (0..dimension)
            .map(|_| {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                (mixed ^ (mixed >> 31)) & 1 == 1
            })
            .collect();
        Self {
            bits: dimension.next_power_of_two().clamp(64, MOST_BITS),
            flipped,
        }
    }

    /// Words of 64 bits in a code: 1, 2, 4 or 8.
    #[must_use]
    pub fn words(&self) -> usize {
        self.bits / 64
    }

    /// Write the code of a row that was centred at `centre` into `code`, which has `words()` words.
    ///
    /// Args: `folded` is scratch of any content; it is resized.
    pub fn write(&self, row: &[i16], centre: &[i32], folded: &mut Vec<i32>, code: &mut [u64]) {
        folded.clear();
        folded.resize(self.bits, 0);
        for (place, ((&value, &middle), &flip)) in
            row.iter().zip(centre).zip(&self.flipped).enumerate()
        {
            let off = i32::from(value) - middle;
            folded[place % self.bits] += if flip { -off } else { off };
        }
        turn(folded);
        for (word, values) in code.iter_mut().zip(folded.chunks_exact(64)) {
            *word = values.iter().enumerate().fold(0, |bits, (place, &value)| {
                bits | (u64::from(value > 0) << place)
            });
        }
    }
}

/// The Hadamard transform, in place. Values grow by the square root of their number at most in length: they stay in 32 bits.
fn turn(values: &mut [i32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transform_is_its_own_inverse_but_for_scale() {
        let before: Vec<i32> = (0..64).map(|n| n * n - 900).collect();
        let mut values = before.clone();
        turn(&mut values);
        assert_eq!(values[0], before.iter().sum::<i32>());
        turn(&mut values);
        assert_eq!(values, before.iter().map(|n| n * 64).collect::<Vec<_>>());
    }

    #[test]
    fn opposite_rows_differ_in_every_bit_and_equal_ones_in_none() {
        for dimension in [3, 64, 384, 768, 1_500] {
            let coder = Coder::new(dimension);
            let row: Vec<i16> = (0..dimension)
                .map(|n| i16::try_from(n * 7_919 % 997).unwrap_or(0) - 498)
                .collect();
            let opposite: Vec<i16> = row.iter().map(|n| -n).collect();
            let (centre, mut scratch) = (vec![0; dimension], Vec::new());
            let mut both = vec![0_u64; 2 * coder.words()];
            let (one, other) = both.split_at_mut(coder.words());
            coder.write(&row, &centre, &mut scratch, one);
            coder.write(&opposite, &centre, &mut scratch, other);
            let differing: u32 = one
                .iter()
                .zip(&*other)
                .map(|(a, b)| (a ^ b).count_ones())
                .sum();
            let zeros = scratch.iter().filter(|value| **value == 0).count();
            assert_eq!(differing as usize, 64 * coder.words() - zeros);
        }
    }
}
