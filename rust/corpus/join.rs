//! Two segments into one, at once or in steps of which none is long.

use std::sync::Arc;

use super::CorpusError;
use super::key::FAMILIES;
use super::merge::finished;
use super::segment::{FamilyIndex, FamilyWriter, Segment};

/// A segment on its way into another.
#[derive(Debug, Clone, Copy)]
pub struct Old<'s> {
    /// What it holds.
    pub segment: &'s Segment,
    /// Old slot to new slot, ascending; `GONE` where the unit is no more.
    pub slots: &'s [u32],
}

/// The slot of a unit that is no more.
pub const GONE: u32 = u32::MAX;

/// How far two segments have been joined; all new slots of the first are below those of the second.
#[derive(Debug, Clone, Default)]
pub struct Joined {
    /// By family ranges of its keys, in order.
    pieces: [Vec<Arc<FamilyIndex>>; FAMILIES],
    family: usize,
    /// Position of the next key in each segment.
    at: [usize; 2],
}

impl Joined {
    /// Further by about so many bytes of postings, of the same two segments as before.
    ///
    /// Cost: linear in these bytes, which are not decoded; about 10 ns a block.
    pub fn further(
        mut self,
        low: Old<'_>,
        high: Old<'_>,
        bytes: usize,
    ) -> Result<Self, CorpusError> {
        let mut left = bytes;
        while left > 0 && self.family < FAMILIES {
            let family = self.family;
            let sides = [low, high].map(|old| (&old.segment.families[family], old.slots));
            let mut writer = FamilyWriter::default();
            while left > 0 {
                let next = [0, 1].map(|side| sides[side].0.keys().get(self.at[side]).copied());
                let Some(key) = next.into_iter().flatten().min() else {
                    (self.family, self.at) = (family + 1, [0; 2]);
                    break;
                };
                writer.begin(key);
                for side in 0..2 {
                    if next[side] != Some(key) {
                        continue;
                    }
                    let mut postings = sides[side].0.postings(self.at[side]);
                    left = left.saturating_sub(postings.bytes().len());
                    while let Some((slot, from, to)) = postings.next_span() {
                        let slot = sides[side].1[slot as usize];
                        if slot != GONE {
                            writer.block(slot, postings.bytes(), from, to);
                        }
                    }
                    self.at[side] += 1;
                }
            }
            self.pieces[family].push(Arc::new(finished(writer.finish())?));
        }
        Ok(self)
    }

    /// Bytes that its pieces occupy.
    pub fn resident_bytes(&self) -> usize {
        let pieces = self.pieces.iter().flatten();
        pieces.map(|piece| piece.resident_bytes()).sum()
    }

    /// The one segment; None while there is something left to join.
    pub fn segment(&self) -> Result<Option<Segment>, CorpusError> {
        if self.family < FAMILIES {
            return Ok(None);
        }
        let mut whole = Segment::default();
        for (place, pieces) in whole.families.iter_mut().zip(&self.pieces) {
            *place = finished(FamilyIndex::of_pieces(pieces))?;
        }
        Ok(Some(whole))
    }
}

#[cfg(test)]
mod tests {
    use super::super::merge::tests::{Rows, documents, expected, merged, rows_of};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn joined_segments_hold_the_rows_of_the_units_that_live(
            low in documents(), high in documents(), gone in proptest::collection::vec(any::<bool>(), 48),
            step in prop_oneof![Just(usize::MAX), 1..400_usize],
        ) {
            let segments = [&low, &high].map(|documents| {
                let mut segment = Segment::default();
                segment.families[2] = merged(documents);
                segment
            });
            let mut next = 0;
            let slots = [0, 24].map(|from| -> Vec<u32> {
                (0..24).map(|slot| if gone[from + slot] { GONE } else { next += 1; next - 1 }).collect()
            });
            let old = |side: usize| Old { segment: &segments[side], slots: &slots[side] };
            let mut joining = Joined::default();
            let joined = loop {
                joining = joining.further(old(0), old(1), step).expect("small");
                if let Some(joined) = joining.segment().expect("small") {
                    break joined;
                }
            };
            let lives = |side: usize, documents: &[Rows]| -> Rows {
                expected(documents).into_iter()
                    .filter(|((_, slot, _), _)| slots[side][*slot as usize] != GONE)
                    .map(|((key, slot, p), n)| ((key, slots[side][slot as usize], p), n))
                    .collect()
            };
            let mut wanted = lives(0, &low);
            wanted.extend(lives(1, &high));
            prop_assert_eq!(rows_of(&joined.families[2]), wanted);
        }
    }
}
