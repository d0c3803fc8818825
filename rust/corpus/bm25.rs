//! BM25 of one group at one level.
//!
//! Source: Robertson & Zaragoza 2009; the rarity is `ln(1 + (N - n + 1/2) / (n + 1/2))`, which is never negative.

use super::corpus::Total;

/// What a group is worth in a text, given how often it stands there and how long the text is.
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
        Self {
            scale: weight * rarity(total, held) as f32 * (k1 + 1.0),
            floor: k1 * (1.0 - b),
            slope: (f64::from(k1 * b) / mean) as f32,
        }
    }

    /// The value for `frequency` > 0 in a text of `length` terms.
    #[inline]
    pub fn value(&self, frequency: f32, length: f32) -> f32 {
        self.scale * frequency / (frequency + self.floor + self.slope * length)
    }
}

/// How much it says that something stands in a text when it stands in `held` of those counted in `total`.
pub fn rarity(total: Total, held: f64) -> f64 {
    (1.0 + (total.count as f64 - held + 0.5).max(0.0) / (held + 0.5)).ln()
}
