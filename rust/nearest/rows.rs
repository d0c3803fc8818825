//! Unit vectors as 16-bit whole numbers of length 2^15.
//!
//! A coordinate is wrong by at most 2^-16, a cosine by some 1e-5: finer than float16, in as many bytes. By the inequality of
//! Cauchy and Schwarz no part of a product leaves 32 bits.

/// The length of a vector that is kept.
const LENGTH: f64 = 32_768.0;

/// The vector scaled to length 2^15 and rounded; none where it is zero or not finite.
#[must_use]
pub fn scaled(vector: &[f32]) -> Option<Vec<i16>> {
    let squares: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if !squares.is_finite() || squares <= 0.0 {
        return None;
    }
    let factor = LENGTH / squares.sqrt();
    let most = f64::from(i16::MAX);
    Some(
        vector
            .iter()
            .map(|&x| (f64::from(x) * factor).round().clamp(-most, most) as i16)
            .collect(),
    )
}

/// The product of two scaled vectors: 2^30 times their cosine.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "to be compiled for the processor that the caller is"
)]
#[must_use]
pub fn product(one: &[i16], other: &[i16]) -> i32 {
    let mut sum = 0;
    for (&a, &b) in one.iter().zip(other) {
        sum += i32::from(a) * i32::from(b);
    }
    sum
}

/// What a product says: the cosine, in [-1, 1].
#[must_use]
pub fn cosine(product: i32) -> f32 {
    let exact = f64::from(product) / (LENGTH * LENGTH);
    exact.clamp(-1.0, 1.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_on_an_axis_is_kept_without_overflow() {
        let one = scaled(&[0.0, -3.0, 0.0]).expect("not zero");
        assert_eq!(one, [0, -32_767, 0]);
        assert!((cosine(product(&one, &one)) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn zeros_and_what_is_not_finite_have_no_direction() {
        assert!(scaled(&[0.0, 0.0]).is_none());
        assert!(scaled(&[1.0, f32::NAN]).is_none());
        assert!(scaled(&[f32::INFINITY, 1.0]).is_none());
    }

    #[test]
    fn a_cosine_of_whole_numbers_is_that_of_the_vectors() {
        let one: Vec<f32> = (0_u8..96).map(|n| f32::from(n).sin()).collect();
        let other: Vec<f32> = (0_u8..96)
            .map(|n| (f32::from(n) * 1.7).cos() + 0.3)
            .collect();
        let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
        let exact =
            one.iter().zip(&other).map(|(a, b)| a * b).sum::<f32>() / length(&one) / length(&other);
        let kept = cosine(product(
            &scaled(&one).unwrap_or_default(),
            &scaled(&other).unwrap_or_default(),
        ));
        assert!((exact - kept).abs() < 5e-5, "{exact} {kept}");
    }
}
