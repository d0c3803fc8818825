//! The dictionary of a corpus is two segments: a large one that stays, and a small one over what has changed since.

use std::sync::Arc;

use crate::threads::spread;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::CorpusError;
use super::key::FAMILIES;
use super::merge::{GONE, Old, Source, join, merge};
use super::part::Part;
use super::rows::Rows;
use super::segment::{FamilyIndex, Segment};
use super::terms::{FamilyTerms, renumbered};

/// Numbers of entity ids: given once, never again to another, so that postings keep their keys.
#[derive(Debug, Clone, Default)]
pub struct EntityNumbers(FxHashMap<String, u32>);

impl EntityNumbers {
    /// The number of an id that occurs somewhere.
    pub fn get(&self, id: &str) -> Option<u32> {
        self.0.get(id).copied()
    }
}

/// A segment and whose units its slots are.
#[derive(Debug, Default)]
pub struct Layer {
    /// The postings.
    pub segment: Segment,
    members: Vec<Member>,
    slots: u32,
}

#[derive(Debug, Clone)]
struct Member {
    rows: Arc<Rows>,
    first_slot: u32,
}

impl Layer {
    /// Documents in the order given.
    ///
    /// Cost: see `merge`; families in parallel.
    pub fn build(parts: &[Part], numbers: &mut Arc<EntityNumbers>) -> Result<Self, CorpusError> {
        let mut layer = Self::default();
        let mut entities: Vec<FamilyTerms> = Vec::with_capacity(parts.len());
        for part in parts {
            layer.members.push(Member {
                rows: Arc::clone(&part.rows),
                first_slot: layer.slots,
            });
            layer.slots += part.rows.units.len() as u32;
            let own: Vec<u32> = part
                .terms
                .ids
                .iter()
                .map(|id| numbered(numbers, id))
                .collect();
            entities.push(renumbered(&part.terms.entities, &part.rows.spans(), &own));
        }
        let family = |family: usize| {
            let terms = |at: usize| parts[at].terms.text.get(family).unwrap_or(&entities[at]);
            let sources: Vec<Source<'_>> = (0..parts.len())
                .map(|at| Source {
                    terms: terms(at),
                    units: parts[at].rows.units.len() as u32,
                    first_slot: layer.members[at].first_slot,
                })
                .collect();
            merge(&sources)
        };
        let families: Result<Vec<FamilyIndex>, CorpusError> =
            spread(|| (0..FAMILIES).into_par_iter().map(family).collect());
        for (place, family) in layer.segment.families.iter_mut().zip(families?) {
            *place = family;
        }
        Ok(layer)
    }

    /// Slot to unit, `GONE` where the document has been replaced; `first_unit` knows the documents that are not.
    pub fn units(&self, mut first_unit: impl FnMut(&Arc<Rows>) -> Option<u32>) -> Vec<u32> {
        let mut units = Vec::with_capacity(self.slots as usize);
        for member in &self.members {
            let first = first_unit(&member.rows);
            for unit in 0..member.rows.units.len() as u32 {
                units.push(first.map_or(GONE, |first| first + unit));
            }
        }
        units
    }

    /// Two layers as one, without what is gone; `units` is what `units` gave for each.
    pub fn join(layers: [&Self; 2], units: [&[u32]; 2]) -> Result<Self, CorpusError> {
        let mut joined = Self::default();
        let mut slots = [Vec::new(), Vec::new()];
        for side in 0..2 {
            for &unit in units[side] {
                slots[side].push(if unit == GONE { GONE } else { joined.slots });
                joined.slots += u32::from(unit != GONE);
            }
            for member in &layers[side].members {
                match slots[side].get(member.first_slot as usize) {
                    Some(&first_slot) if first_slot != GONE => joined.members.push(Member {
                        rows: Arc::clone(&member.rows),
                        first_slot,
                    }),
                    _ => {}
                }
            }
        }
        let [low, high] = [0, 1].map(|side| Old {
            segment: &layers[side].segment,
            slots: &slots[side],
        });
        joined.segment = join(low, high)?;
        Ok(joined)
    }
}

fn numbered(numbers: &mut Arc<EntityNumbers>, id: &str) -> u32 {
    if let Some(known) = numbers.get(id) {
        return known;
    }
    let all = &mut Arc::make_mut(numbers).0;
    let number = all.len() as u32;
    all.insert(id.to_owned(), number);
    number
}
