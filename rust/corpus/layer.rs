//! The dictionary of a corpus is a few segments: a large one that stays, and smaller ones over what has changed since.

use std::sync::Arc;

use crate::threads::spread;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::CorpusError;
use super::join::{GONE, Joined, Old};
use super::key::FAMILIES;
use super::merge::{Source, merge};
use super::part::Part;
use super::rows::Rows;
use super::segment::{FamilyIndex, Segment};
use super::terms::{FamilyTerms, renumbered};

/// Parts that are merged by the thread that asks: to wake others takes longer.
const FEW: usize = 8;

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
        let families: Result<Vec<FamilyIndex>, CorpusError> = if parts.len() <= FEW {
            (0..FAMILIES).map(family).collect()
        } else {
            spread(|| (0..FAMILIES).into_par_iter().map(family).collect())
        };
        for (place, family) in layer.segment.families.iter_mut().zip(families?) {
            *place = family;
        }
        Ok(layer)
    }

    /// Slot to unit, `GONE` where the document has been replaced; `first_unit` knows the documents that are not.
    pub fn units(&self, first_unit: &impl Fn(&Arc<Rows>) -> Option<u32>) -> Vec<u32> {
        let mut units = Vec::with_capacity(self.slots as usize);
        for member in &self.members {
            let first = first_unit(&member.rows);
            for unit in 0..member.rows.units.len() as u32 {
                units.push(first.map_or(GONE, |first| first + unit));
            }
        }
        units
    }
}

/// Two layers on their way into one, without what is gone.
#[derive(Debug, Clone)]
pub struct Folding {
    plan: Arc<Plan>,
    joined: Joined,
}

#[derive(Debug)]
struct Plan {
    layers: [Arc<Layer>; 2],
    /// Slots of each layer to those of the joined one.
    slots: [Vec<u32>; 2],
    members: Vec<Member>,
    all: u32,
}

impl Folding {
    /// Of two layers; `units` is what `units` gave for each.
    pub fn new(layers: [&Arc<Layer>; 2], units: [&[u32]; 2]) -> Self {
        let (mut members, mut all) = (Vec::new(), 0);
        let mut slots = [Vec::new(), Vec::new()];
        for side in 0..2 {
            for &unit in units[side] {
                slots[side].push(if unit == GONE { GONE } else { all });
                all += u32::from(unit != GONE);
            }
            for member in &layers[side].members {
                match slots[side].get(member.first_slot as usize) {
                    Some(&first_slot) if first_slot != GONE => members.push(Member {
                        rows: Arc::clone(&member.rows),
                        first_slot,
                    }),
                    _ => {}
                }
            }
        }
        let plan = Arc::new(Plan {
            layers: layers.map(Arc::clone),
            slots,
            members,
            all,
        });
        let joined = Joined::default();
        Self { plan, joined }
    }

    /// Further by about so many bytes of postings.
    pub fn further(&self, bytes: usize) -> Result<Self, CorpusError> {
        let Plan { layers, slots, .. } = &*self.plan;
        let [low, high] = [0, 1].map(|side| Old {
            segment: &layers[side].segment,
            slots: &slots[side],
        });
        Ok(Self {
            plan: Arc::clone(&self.plan),
            joined: self.joined.clone().further(low, high, bytes)?,
        })
    }

    /// The one layer, at once.
    pub fn whole(&self) -> Result<Layer, CorpusError> {
        let whole = self.further(usize::MAX)?.layer()?;
        Ok(whole.unwrap_or_default()) // of all bytes nothing is left
    }

    /// Bytes of all postings that are folded.
    pub fn size(&self) -> usize {
        let layers = self.plan.layers.iter();
        layers.map(|layer| layer.segment.size()).sum()
    }

    /// Bytes that it occupies beside its layers.
    pub fn resident_bytes(&self) -> usize {
        self.joined.resident_bytes()
    }

    /// The one layer; None while there is something left to fold.
    pub fn layer(&self) -> Result<Option<Layer>, CorpusError> {
        let Some(segment) = self.joined.segment()? else {
            return Ok(None);
        };
        Ok(Some(Layer {
            segment,
            members: self.plan.members.clone(),
            slots: self.plan.all,
        }))
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
