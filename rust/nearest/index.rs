//! Vectors by key: put, remove, search, bytes.

use rustc_hash::FxHashMap;

use crate::nearest::codes::Coder;
use crate::nearest::rows::{cosine, scaled};
use crate::nearest::scan::{Slots, nearest};

/// The first bytes of a saved index: what it is, and of which form.
pub const MAGIC: &[u8; 16] = b"armarius signs 1";

/// Slots that are compared exactly for each that is asked for, at least.
const FOR_EACH: usize = 8;

/// A key and the cosine of its vector with the question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// As it was put.
    pub key: u64,
    /// In [-1, 1].
    pub similarity: f32,
}

/// Unit vectors with distinct keys.
#[derive(Clone, Debug)]
pub struct SignIndex {
    dimension: usize,
    coder: Coder,
    places: FxHashMap<u64, u32>,
    keys: Vec<u64>,
    rows: Vec<i16>,
    codes: Vec<u64>,
    /// Of all rows, coordinate by coordinate.
    sums: Vec<i64>,
    /// What was taken off before the signs were taken: the mean of the rows when there were `centred_at` of them.
    centre: Vec<i32>,
    centred_at: usize,
}

impl SignIndex {
    /// Without vectors; of vectors of `dimension` coordinates, at least one.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            coder: Coder::new(dimension),
            places: FxHashMap::default(),
            keys: Vec::new(),
            rows: Vec::new(),
            codes: Vec::new(),
            sums: vec![0; dimension],
            centre: vec![0; dimension],
            centred_at: 0,
        }
    }

    /// Coordinates of a vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Vectors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Add vectors or replace those of known keys; `vectors` has `dimension` coordinates for each key. One of zeros, or one
    /// that is not finite, has no direction: its key is taken out.
    ///
    /// Cost: about 3 µs a vector at 768 coordinates. When there are twice as many as at the last time, all are coded anew.
    pub fn put(&mut self, keys: &[u64], vectors: &[f32]) {
        let mut scratch = Vec::new();
        for (&key, vector) in keys.iter().zip(vectors.chunks_exact(self.dimension)) {
            match scaled(vector) {
                Some(row) => self.set(key, &row, &mut scratch),
                None => self.forget(key),
            }
        }
        if self.len() >= 2 * self.centred_at {
            self.centre();
        }
    }

    /// Take vectors out; unknown keys are ignored.
    pub fn remove(&mut self, keys: &[u64]) {
        for &key in keys {
            self.forget(key);
        }
    }

    /// Code all vectors by the mean of those that are there now.
    pub fn centre(&mut self) {
        let count = i64::try_from(self.len().max(1)).unwrap_or(i64::MAX);
        for (middle, sum) in self.centre.iter_mut().zip(&self.sums) {
            *middle = sum.div_euclid(count) as i32;
        }
        self.centred_at = self.len();
        let mut scratch = Vec::new();
        let codes = self.codes.chunks_exact_mut(self.coder.words());
        for (code, row) in codes.zip(self.rows.chunks_exact(self.dimension)) {
            self.coder.write(row, &self.centre, &mut scratch, code);
        }
    }

    /// The nearest vectors, best first, equally near ones by key; nothing for a question that has no direction.
    ///
    /// `compared` vectors at least are compared exactly, those whose signs are nearest, and eight for each asked for.
    #[must_use]
    pub fn search(&self, question: &[f32], limit: usize, compared: usize) -> Vec<Found> {
        let Some(row) = scaled(question) else {
            return Vec::new();
        };
        if limit == 0 || row.len() != self.dimension {
            return Vec::new();
        }
        let mut code = vec![0; self.coder.words()];
        self.coder
            .write(&row, &self.centre, &mut Vec::new(), &mut code);
        let slots = Slots {
            codes: &self.codes,
            rows: &self.rows,
            words: self.coder.words(),
            dimension: self.dimension,
        };
        let enough = compared.max(limit.saturating_mul(FOR_EACH));
        let mut found = nearest(slots, &code, &row, enough);
        let order = |a: &(i32, u32), b: &(i32, u32)| {
            (b.0, self.keys[a.1 as usize]).cmp(&(a.0, self.keys[b.1 as usize]))
        };
        if limit < found.len() {
            found.select_nth_unstable_by(limit, order);
            found.truncate(limit);
        }
        found.sort_unstable_by(order);
        found
            .into_iter()
            .map(|(product, slot)| Found {
                key: self.keys[slot as usize],
                similarity: cosine(product),
            })
            .collect()
    }

    /// Everything but the codes, which are made again: magic, dimension, count, number at the centring, centre,
    /// keys, rows; little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes =
            Vec::with_capacity(40 + 4 * self.dimension + self.len() * (8 + 2 * self.dimension));
        bytes.extend_from_slice(MAGIC);
        for number in [self.dimension, self.len(), self.centred_at] {
            bytes.extend_from_slice(&(number as u64).to_le_bytes());
        }
        self.centre
            .iter()
            .for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        self.keys
            .iter()
            .for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        self.rows
            .iter()
            .for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        bytes
    }

    /// What `to_bytes` wrote; none where the bytes are anything else.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(MAGIC)?;
        let (head, bytes) = bytes.split_at_checked(24)?;
        let number = |place: usize| -> Option<usize> {
            let bytes = head.get(8 * place..8 * place + 8)?.try_into().ok()?;
            usize::try_from(u64::from_le_bytes(bytes)).ok()
        };
        let (dimension, count, centred_at) = (number(0)?, number(1)?, number(2)?);
        let of_rows = count.checked_mul(dimension)?.checked_mul(2)?;
        let size = dimension
            .checked_mul(4)?
            .checked_add(count.checked_mul(8)?)?
            .checked_add(of_rows)?;
        if dimension == 0 || bytes.len() != size || u32::try_from(count).is_err() {
            return None;
        }
        let (centre, bytes) = bytes.split_at(4 * dimension);
        let (keys, rows) = bytes.split_at(8 * count);
        let mut index = Self::new(dimension);
        index.centre = centre
            .as_chunks()
            .0
            .iter()
            .map(|four| i32::from_le_bytes(*four))
            .collect();
        index.keys = keys
            .as_chunks()
            .0
            .iter()
            .map(|eight| u64::from_le_bytes(*eight))
            .collect();
        index.rows = rows
            .as_chunks()
            .0
            .iter()
            .map(|two| i16::from_le_bytes(*two))
            .collect();
        index.centred_at = centred_at;
        index.places = index
            .keys
            .iter()
            .zip(0..)
            .map(|(&key, slot)| (key, slot))
            .collect();
        // A centre lies among the rows, whose numbers are 16 bits: more would leave 32 bits when it is taken off and turned.
        let far = |middle: &i32| middle.unsigned_abs() > 1 << 15;
        if index.places.len() != count || index.centre.iter().any(far) {
            return None;
        }
        index.codes = vec![0; count * index.coder.words()];
        let (mut scratch, words) = (Vec::new(), index.coder.words());
        for (row, code) in index
            .rows
            .chunks_exact(dimension)
            .zip(index.codes.chunks_exact_mut(words))
        {
            for (sum, &value) in index.sums.iter_mut().zip(row) {
                *sum += i64::from(value);
            }
            index.coder.write(row, &index.centre, &mut scratch, code);
        }
        Some(index)
    }

    fn set(&mut self, key: u64, row: &[i16], scratch: &mut Vec<i32>) {
        self.forget(key);
        self.places.insert(key, self.keys.len() as u32);
        self.keys.push(key);
        self.rows.extend_from_slice(row);
        for (sum, &value) in self.sums.iter_mut().zip(row) {
            *sum += i64::from(value);
        }
        let start = self.codes.len();
        self.codes.resize(start + self.coder.words(), 0);
        self.coder
            .write(row, &self.centre, scratch, &mut self.codes[start..]);
    }

    /// The last slot takes the place of the one that goes.
    fn forget(&mut self, key: u64) {
        let Some(slot) = self.places.remove(&key) else {
            return;
        };
        let (slot, last) = (slot as usize, self.keys.len() - 1);
        let (wide, words) = (self.dimension, self.coder.words());
        for (sum, &value) in self.sums.iter_mut().zip(&self.rows[slot * wide..]) {
            *sum -= i64::from(value);
        }
        self.keys.swap_remove(slot);
        if slot < last {
            self.places.insert(self.keys[slot], slot as u32);
            self.rows.copy_within(last * wide.., slot * wide);
            self.codes.copy_within(last * words.., slot * words);
        }
        self.rows.truncate(last * wide);
        self.codes.truncate(last * words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(count: usize, dimension: usize, seed: u64) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            f32::from((state >> 48) as u16) / 65_536.0 - 0.4
        };
        (0..count * dimension).map(|_| next()).collect()
    }

    fn filled(count: usize, dimension: usize) -> SignIndex {
        let mut index = SignIndex::new(dimension);
        let keys: Vec<u64> = (0..count as u64).map(|key| 3 * key).collect();
        index.put(&keys, &vectors(count, dimension, 1));
        index
    }

    #[test]
    fn a_vector_is_nearest_to_itself_among_thousands() {
        let index = filled(3_000, 48);
        for (key, vector) in vectors(3_000, 48, 1)
            .chunks_exact(48)
            .enumerate()
            .step_by(97)
        {
            let found = index.search(vector, 3, 64);
            assert_eq!(found[0].key, 3 * key as u64);
            assert!(found[0].similarity > 0.999 && found[1].similarity < 0.999);
        }
    }

    #[test]
    fn slots_in_another_order_find_the_same() {
        let (one, mut other) = (filled(2_000, 32), SignIndex::new(32));
        let all = vectors(2_000, 32, 1);
        for key in (0..2_000_usize).rev() {
            other.put(&[3 * key as u64], &all[32 * key..32 * key + 32]);
        }
        other.centre();
        let mut again = one.clone();
        again.centre();
        for question in vectors(20, 32, 9).chunks_exact(32) {
            assert_eq!(
                again.search(question, 10, 128),
                other.search(question, 10, 128)
            );
        }
    }

    #[test]
    fn equally_near_vectors_come_by_key() {
        let mut index = SignIndex::new(2);
        index.put(&[9, 4, 7], &[1.0, 1.0, 2.0, 2.0, 0.5, 0.5]);
        let keys: Vec<u64> = index
            .search(&[1.0, 1.0], 2, 1)
            .iter()
            .map(|one| one.key)
            .collect();
        assert_eq!(keys, [4, 7]);
    }

    #[test]
    fn a_question_or_vector_without_direction_finds_and_keeps_nothing() {
        let mut index = filled(10, 4);
        assert!(index.search(&[0.0; 4], 5, 8).is_empty());
        assert!(index.search(&[1.0; 3], 5, 8).is_empty());
        index.put(&[0, 3], &[0.0, 0.0, 0.0, 0.0, f32::NAN, 1.0, 1.0, 1.0]);
        assert_eq!(index.len(), 8);
    }

    #[test]
    fn bytes_bring_back_what_answers_alike_and_anything_else_is_refused() {
        let mut index = filled(700, 24);
        index.remove(&[3, 33, 1]);
        let bytes = index.to_bytes();
        let again = SignIndex::from_bytes(&bytes).expect("its own bytes");
        assert_eq!(again.to_bytes(), bytes);
        for question in vectors(20, 24, 5).chunks_exact(24) {
            assert_eq!(
                index.search(question, 10, 64),
                again.search(question, 10, 64)
            );
        }
        assert!(SignIndex::from_bytes(&bytes[..bytes.len() - 1]).is_none());
        assert!(SignIndex::from_bytes(b"").is_none());
        for place in [0, 16, 17, 23, 24, 31] {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0xff;
            assert!(SignIndex::from_bytes(&damaged).is_none(), "{place}");
        }
    }

    #[test]
    fn what_is_removed_is_gone_and_what_is_put_again_has_moved() {
        let mut index = filled(50, 16);
        let first = vectors(1, 16, 1);
        index.remove(&[0]);
        assert!(index.search(&first, 50, 1).iter().all(|one| one.key != 0));
        index.put(&[147], &first);
        assert_eq!(index.search(&first, 1, 1)[0].key, 147);
        assert_eq!(index.len(), 49);
    }
}
