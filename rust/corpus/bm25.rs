//! BM25 of one group at one level.
//!
//! Source: Robertson & Zaragoza 2009; the rarity is `ln(1 + (N - n + 1/2) / (n + 1/2))`, which is never negative.

use super::gather::ONE;
use super::table::Total;

/// What a group is worth in a text, given how often it stands there (in units of 1/1024) and how long the text is.
#[derive(Debug, Clone, Copy)]
pub struct Bm25 {
    scale: f32,
    floor: f32,
    slope: f32,
}

impl Bm25 {
    /// For a group that stands in `held` of the texts counted in `total`.
    pub fn new(total: Total, held: f64, weight: f32, k1: f32, b: f32) -> Self {
        let mean = (total.length as f64 / total.count.max(1) as f64).max(1e-9);
        let one = ONE as f32;
        Self {
            scale: weight * rarity(total, held) as f32 * (k1 + 1.0),
            floor: k1 * (1.0 - b) * one,
            slope: (f64::from(k1 * b) / mean) as f32 * one,
        }
    }

    /// The value for `frequency` in a text of `length` terms.
    #[inline]
    pub fn value(&self, frequency: u32, length: f32) -> f32 {
        let frequency = frequency.cast_signed() as f32; // below 2^31, and signed numbers convert faster
        self.scale * frequency / (frequency + self.floor + self.slope * length)
    }

    /// Add the value of every text to `sums`; no frequency, no value.
    pub fn add_all(&self, sums: &mut [f32], frequencies: &[u32], lengths: &[f32]) {
        for ((sum, &frequency), &length) in sums.iter_mut().zip(frequencies).zip(lengths) {
            let frequency = frequency.cast_signed() as f32;
            // a length of 0 with k1 of 0 must not divide by 0
            *sum += self.scale * frequency
                / (frequency + self.floor + self.slope * length).max(f32::MIN_POSITIVE);
        }
    }
}

/// How much it says that something stands in a text when it stands in `held` of those counted in `total`.
pub fn rarity(total: Total, held: f64) -> f64 {
    (1.0 + (total.count as f64 - held + 0.5).max(0.0) / (held + 0.5)).ln()
}
