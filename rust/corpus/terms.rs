//! The terms of one document: per family its keys in order, each with the blocks of the units that hold it.
//!
//! Kept as bytes, the same in memory and on disk: `key gap`, then (only in a document of several units) the number of
//! blocks, then per block (again only with several units) `unit gap` and the block.

use super::CorpusError;
use super::postings::{Block, write_block};
use super::varint::{self, Reader};

/// Every so many keys one is kept as a sample: merging many documents cuts the keys into ranges by them.
const SAMPLED: u32 = 128;

/// One occurrence list of a document that is being built: (key, paragraph, count), sorted.
pub type Row = (u32, u32, u32);

/// One family of one document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FamilyTerms {
    /// Number of keys.
    pub keys: u32,
    /// See the head of this file.
    pub bytes: Box<[u8]>,
    /// Every 128th key, ascending.
    pub samples: Box<[u32]>,
}

/// Paragraphs of a unit: `first..first + count` of the document.
pub type UnitSpan = (u32, u32);

impl FamilyTerms {
    /// From rows sorted by (key, paragraph).
    pub fn from_rows(rows: &[Row], units: &[UnitSpan]) -> Self {
        let mut family = Self::default();
        let (mut bytes, mut samples, mut postings) = (Vec::new(), Vec::new(), Vec::new());
        let mut next_key = 0;
        for same_key in rows.chunk_by(|a, b| a.0 == b.0) {
            let key = same_key[0].0;
            if family.keys % SAMPLED == 0 {
                samples.push(key);
            }
            family.keys += 1;
            varint::write(&mut bytes, key - next_key);
            next_key = key.saturating_add(1);
            if let [(first, _)] = *units {
                postings.clear();
                postings.extend(same_key.iter().map(|row| (row.1 - first, row.2)));
                write_block(&mut bytes, &postings);
                continue;
            }
            let unit_of = |row: &Row| units.partition_point(|unit| unit.0 <= row.1) - 1;
            let runs = same_key.chunk_by(|a, b| unit_of(a) == unit_of(b));
            varint::write(&mut bytes, runs.clone().count() as u32);
            let mut next_unit = 0;
            for run in runs {
                let unit = unit_of(&run[0]);
                varint::write(&mut bytes, (unit - next_unit) as u32);
                next_unit = unit + 1;
                postings.clear();
                postings.extend(run.iter().map(|row| (row.1 - units[unit].0, row.2)));
                write_block(&mut bytes, &postings);
            }
        }
        family.bytes = bytes.into();
        family.samples = samples.into();
        family
    }

    /// Check untrusted bytes; every reader below relies on it.
    pub fn check(keys: u32, bytes: &[u8], units: &[UnitSpan]) -> Result<Self, CorpusError> {
        let mut reader = Reader::new(bytes);
        let mut samples = Vec::new();
        let mut next_key = 0_u64;
        for position in 0..keys {
            let key = next_key + u64::from(reader.number()?);
            let key = u32::try_from(key).map_err(|_| reader.damaged("a key above 32 bits"))?;
            next_key = u64::from(key) + 1;
            if position % SAMPLED == 0 {
                samples.push(key);
            }
            if let [unit] = units {
                Block::check(&mut reader, unit.1)?;
                continue;
            }
            let mut next_unit = 0_u64;
            let blocks = reader.number()?;
            if blocks == 0 {
                return Err(reader.damaged("a key without blocks"));
            }
            for _ in 0..blocks {
                next_unit += u64::from(reader.number()?);
                let Some(unit) = usize::try_from(next_unit).ok().and_then(|u| units.get(u)) else {
                    return Err(reader.damaged("a unit that does not exist"));
                };
                Block::check(&mut reader, unit.1)?;
                next_unit += 1;
            }
        }
        if reader.left() > 0 {
            return Err(reader.damaged("bytes after the last key"));
        }
        Ok(Self {
            keys,
            bytes: bytes.into(),
            samples: samples.into(),
        })
    }

    /// Over the keys in order; `units` is the number of units of the document.
    pub fn cursor(&self, units: usize) -> Cursor<'_> {
        let mut cursor = Cursor {
            bytes: &self.bytes,
            at: 0,
            left: self.keys,
            key: 0,
            single: units == 1,
        };
        cursor.step(0);
        cursor
    }
}

/// Walks over the keys of a family, each with its blocks.
#[derive(Debug, Clone)]
pub struct Cursor<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Keys that have not been given, `key` the first of them.
    left: u32,
    key: u32,
    single: bool,
}

/// The blocks of one key, as a part of the family's bytes.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    from: u32,
    to: u32,
}

impl Cursor<'_> {
    /// The next key, if it is at most `until`, without moving on.
    #[inline]
    pub fn due(&self, until: u32) -> bool {
        self.left > 0 && self.key <= until
    }

    /// Read the key that follows `after` and the bytes before it.
    #[inline]
    fn step(&mut self, next_key: u32) {
        if self.left > 0 {
            self.key = next_key + varint::read(self.bytes, &mut self.at);
        }
    }
}

impl Iterator for Cursor<'_> {
    type Item = (u32, Entry);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let (key, from) = (self.key, self.at as u32);
        if self.single {
            Block::read(self.bytes, &mut self.at);
        } else {
            for _ in 0..varint::read(self.bytes, &mut self.at) {
                varint::read(self.bytes, &mut self.at);
                Block::read(self.bytes, &mut self.at);
            }
        }
        let to = self.at as u32;
        self.left -= 1;
        self.step(key.saturating_add(1));
        Some((key, Entry { from, to }))
    }
}

impl FamilyTerms {
    /// Call `found` with (unit, first byte, one past the last) for every block of an entry.
    #[inline]
    pub fn each_block(&self, entry: Entry, units: usize, mut found: impl FnMut(u32, usize, usize)) {
        let mut at = entry.from as usize;
        if units == 1 {
            return found(0, at, entry.to as usize);
        }
        let mut unit = 0;
        for _ in 0..varint::read(&self.bytes, &mut at) {
            unit += varint::read(&self.bytes, &mut at);
            let from = at;
            Block::read(&self.bytes, &mut at);
            found(unit, from, at);
            unit += 1;
        }
    }

    /// Call `found` with (key, paragraph, count), in the order of key and paragraph.
    pub fn each_row(&self, units: &[UnitSpan], mut found: impl FnMut(u32, u32, u32)) {
        for (key, entry) in self.cursor(units.len()) {
            self.each_block(entry, units.len(), |unit, mut from, _| {
                let first = units[unit as usize].0;
                let block = Block::read(&self.bytes, &mut from);
                block.each(|paragraph, count| found(key, first + paragraph, count));
            });
        }
    }
}

/// Rows of entities under other numbers: `numbers[local]`.
pub fn renumbered(entities: &FamilyTerms, units: &[UnitSpan], numbers: &[u32]) -> FamilyTerms {
    let mut rows: Vec<Row> = Vec::new();
    entities.each_row(units, |local, paragraph, count| {
        rows.push((numbers[local as usize], paragraph, count));
    });
    rows.sort_unstable();
    FamilyTerms::from_rows(&rows, units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows_of(family: &FamilyTerms, units: &[UnitSpan]) -> Vec<Row> {
        let mut rows = Vec::new();
        family.each_row(units, |key, paragraph, count| {
            rows.push((key, paragraph, count));
        });
        rows
    }

    proptest! {
        #[test]
        fn a_family_gives_back_its_rows_and_passes_its_own_check(
            rows in proptest::collection::btree_map((0..400_u32, 0..30_u32), 1..4_u32, 0..300), several in any::<bool>(),
        ) {
            let units: &[UnitSpan] = if several { &[(0, 10), (10, 1), (11, 19)] } else { &[(0, 30)] };
            let rows: Vec<Row> = rows.into_iter().map(|((key, p), n)| (key, p, n)).collect();
            let family = FamilyTerms::from_rows(&rows, units);
            prop_assert_eq!(&rows_of(&family, units), &rows);
            prop_assert_eq!(FamilyTerms::check(family.keys, &family.bytes, units).ok(), Some(family));
        }
    }

    #[test]
    fn entities_keep_their_rows_under_other_numbers() {
        let units = [(0, 2), (2, 2)];
        let family = FamilyTerms::from_rows(&[(0, 1, 2), (0, 3, 1), (1, 0, 1)], &units);
        let other = renumbered(&family, &units, &[7, 2]);
        assert_eq!(rows_of(&other, &units), [(2, 0, 1), (7, 1, 2), (7, 3, 1)]);
    }
}
