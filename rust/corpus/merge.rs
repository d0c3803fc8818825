//! Documents into a segment; `join` makes one of two segments.

use super::CorpusError;
use super::segment::{FamilyIndex, FamilyWriter};
use super::terms::{Cursor, Entry, FamilyTerms};

/// Keys that are sorted at a time: few enough to stay in the cache.
const BATCH: usize = 16 * 1024;

/// One family of one document on its way into a segment.
#[derive(Debug, Clone, Copy)]
pub struct Source<'p> {
    /// Its keys and blocks.
    pub terms: &'p FamilyTerms,
    /// Number of units of the document.
    pub units: u32,
    /// The slot of the first; the others follow.
    pub first_slot: u32,
}

/// One family of many documents, given in the order of their slots.
///
/// Cost: linear in the number of (key, document), about 25 ns each; sorted in ranges of keys that fit into the cache.
pub fn merge(sources: &[Source<'_>]) -> Result<FamilyIndex, CorpusError> {
    let mut cursors: Vec<Cursor<'_>> = sources
        .iter()
        .map(|source| source.terms.cursor(source.units as usize))
        .collect();
    let mut writer = FamilyWriter::default();
    let mut found: Vec<(u32, Entry)> = Vec::new();
    let mut order: Vec<u64> = Vec::new();
    for until in range_ends(sources) {
        found.clear();
        order.clear();
        for (number, cursor) in (0..).zip(&mut cursors) {
            while cursor.due(until)
                && let Some((key, entry)) = cursor.next()
            {
                // the place in `found` breaks ties: it grows with the slot
                order.push(u64::from(key) << 32 | found.len() as u64);
                found.push((number, entry));
            }
        }
        order.sort_unstable();
        let mut open = None;
        for &one in &order {
            let key = (one >> 32) as u32;
            if open != Some(key) {
                writer.begin(key);
                open = Some(key);
            }
            let (number, entry) = found[one as u32 as usize];
            let Source {
                terms,
                units,
                first_slot,
            } = sources[number as usize];
            terms.each_block(entry, units as usize, |unit, from, to| {
                writer.block(first_slot + unit, &terms.bytes, from, to);
            });
        }
    }
    finished(writer.finish())
}

/// The last key of each range, ascending; the last is the highest key there can be.
fn range_ends(sources: &[Source<'_>]) -> Vec<u32> {
    let samples = sources
        .iter()
        .flat_map(|source| source.terms.samples.iter());
    let mut samples: Vec<u32> = samples.copied().collect();
    samples.sort_unstable();
    let keys: usize = sources
        .iter()
        .map(|source| source.terms.keys as usize)
        .sum();
    let ranges = keys.div_ceil(BATCH).max(1);
    let mut ends: Vec<u32> = (1..ranges)
        .filter_map(|range| samples.get(range * samples.len() / ranges).copied())
        .chain([u32::MAX])
        .collect();
    ends.dedup();
    ends
}

/// A family, unless its postings were too many.
pub(super) fn finished(family: Option<FamilyIndex>) -> Result<FamilyIndex, CorpusError> {
    family.ok_or_else(|| {
        CorpusError::Invalid("the project is too large: more than 4 GB of postings".to_owned())
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::terms::Row;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    pub type Rows = BTreeMap<(u32, u32, u32), u32>;

    pub fn rows_of(index: &FamilyIndex) -> Rows {
        let mut rows = Rows::new();
        for (position, &key) in index.keys().iter().enumerate() {
            for (slot, block) in index.postings(position) {
                block.each(|paragraph, count| {
                    rows.insert((key, slot, paragraph), count);
                });
            }
        }
        rows
    }

    pub fn documents() -> impl Strategy<Value = Vec<Rows>> {
        let document = proptest::collection::btree_map(
            (prop_oneof![0..50_u32, any::<u32>()], 0..3_u32, 0..5_u32),
            1..4_u32,
            0..120,
        );
        proptest::collection::vec(document, 0..8)
    }

    /// Three units of five paragraphs each.
    const UNITS: [(u32, u32); 3] = [(0, 5), (5, 5), (10, 5)];

    fn family(rows: &Rows) -> FamilyTerms {
        let rows: Vec<Row> = rows
            .iter()
            .map(|(&(key, unit, p), &n)| (key, unit * 5 + p, n))
            .collect();
        FamilyTerms::from_rows(&rows, &UNITS)
    }

    pub fn merged(documents: &[Rows]) -> FamilyIndex {
        let terms: Vec<FamilyTerms> = documents.iter().map(family).collect();
        let sources: Vec<Source<'_>> = (0..)
            .zip(&terms)
            .map(|(i, terms)| Source {
                terms,
                units: 3,
                first_slot: i * 3,
            })
            .collect();
        merge(&sources).expect("small")
    }

    pub fn expected(documents: &[Rows]) -> Rows {
        (0..)
            .zip(documents)
            .flat_map(|(i, rows)| {
                rows.iter()
                    .map(move |(&(key, unit, p), &n)| ((key, i * 3 + unit, p), n))
            })
            .collect()
    }

    proptest! {
        #[test]
        fn a_merged_family_holds_every_row_under_its_slot(documents in documents()) {
            let index = merged(&documents);
            prop_assert!(index.keys().is_sorted());
            prop_assert_eq!(rows_of(&index), expected(&documents));
        }
    }
}
