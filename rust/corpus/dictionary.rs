//! The terms of a corpus in three layers: a large one, a middle one, and a small one over what has changed last.
//!
//! A change writes the small layer anew, which is of few documents. When it is of more, the middle takes it in; when the
//! middle has grown to a share of the large one, both are folded, a step with each change: none waits for all of it.

use std::sync::Arc;

use super::CorpusError;
use super::join::GONE;
use super::key::Key;
use super::layer::{EntityNumbers, Folding, Layer};
use super::part::Part;
use super::rows::Rows;
use super::segment::Postings;

const LAYERS: usize = 3;
const LARGE: usize = 0;
const MIDDLE: usize = 1;
const SMALL: usize = 2;

/// The middle takes the small layer in when that has more bytes: about four chapters.
const SMALL_BYTES: usize = 96 * 1024;
/// The middle is folded into the large layer when it has grown to this share of it, and to this many bytes.
const MIDDLE_SHARE: usize = 8;
const MIDDLE_BYTES: usize = 256 * 1024;
/// Folding takes at most so many changes, of at least so many bytes each.
const STEPS: usize = 12;
const STEP_BYTES: usize = 512 * 1024;

/// The units of a layer's slots.
#[derive(Debug, Clone, Copy)]
pub struct Slots<'c>(&'c [u32]);

impl Slots<'_> {
    /// The unit of a slot; None when it is no more.
    #[inline]
    pub fn unit(&self, slot: u32) -> Option<u32> {
        let unit = self.0[slot as usize];
        (unit != GONE).then_some(unit)
    }
}

/// Where every term of a corpus stands.
#[derive(Debug, Clone)]
pub struct Dictionary {
    entities: Arc<EntityNumbers>,
    layers: [Arc<Layer>; LAYERS],
    /// Of each layer slot to unit.
    units: [Vec<u32>; LAYERS],
    /// The parts of the small layer.
    recent: Vec<Part>,
    /// Of the large layer and the middle one, which stay as they are meanwhile.
    folding: Option<Folding>,
}

impl Dictionary {
    /// Of parts in the order of their paths; `first_unit` says of rows where their units begin, if they are still there.
    pub fn new(
        parts: &[Part],
        first_unit: impl Fn(&Arc<Rows>) -> Option<u32>,
    ) -> Result<Self, CorpusError> {
        let mut entities = Arc::default();
        let large = Arc::new(Layer::build(parts, &mut entities)?);
        let mut made = Self {
            entities,
            layers: [large, Arc::default(), Arc::default()],
            units: Default::default(),
            recent: Vec::new(),
            folding: None,
        };
        made.place(&first_unit);
        Ok(made)
    }

    /// The same after a change; `first_unit` no longer knows the rows that are gone.
    pub fn with(
        &self,
        changed: &[Part],
        first_unit: impl Fn(&Arc<Rows>) -> Option<u32>,
    ) -> Result<Self, CorpusError> {
        let stays = self
            .recent
            .iter()
            .filter(|one| first_unit(&one.rows).is_some());
        let recent: Vec<Part> = stays.chain(changed).cloned().collect();
        let mut entities = Arc::clone(&self.entities);
        let small = Arc::new(Layer::build(&recent, &mut entities)?);
        let [large, middle, _] = self.layers.clone();
        let mut next = Self {
            entities,
            layers: [large, middle, small],
            units: Default::default(),
            recent,
            folding: self.folding.clone(),
        };
        next.place(&first_unit);
        next.tidy(&first_unit)?;
        Ok(next)
    }

    /// The key number of an entity that occurs somewhere.
    pub fn entity(&self, id: &str) -> Option<u32> {
        self.entities.get(id)
    }

    /// The postings of `key` in every layer, each with what tells the units of its slots.
    #[inline]
    pub fn postings(&self, key: Key) -> impl Iterator<Item = (Postings<'_>, Slots<'_>)> {
        let layers = self.layers.iter().zip(&self.units);
        layers.map(move |(layer, units)| (layer.segment.postings(key), Slots(units)))
    }

    /// Bytes that it occupies, the rows of its documents not counted.
    pub fn resident_bytes(&self) -> usize {
        let layers = self.layers.iter();
        let layers: usize = layers.map(|layer| layer.segment.resident_bytes()).sum();
        let terms = |part: &Part| part.terms.text.iter().map(|f| f.bytes.len()).sum::<usize>();
        layers
            + self.recent.iter().map(terms).sum::<usize>()
            + self.folding.as_ref().map_or(0, Folding::resident_bytes)
    }

    fn place(&mut self, first_unit: &impl Fn(&Arc<Rows>) -> Option<u32>) {
        for (units, layer) in self.units.iter_mut().zip(&self.layers) {
            *units = layer.units(first_unit);
        }
    }

    /// One bounded step of what keeps the layers apart in size.
    fn tidy(&mut self, first_unit: &impl Fn(&Arc<Rows>) -> Option<u32>) -> Result<(), CorpusError> {
        let small = self.size(SMALL);
        if small > MIDDLE_BYTES && small * MIDDLE_SHARE > self.size(LARGE) {
            return self.fold(first_unit); // so much has changed at once
        }
        if let Some(folding) = self.folding.take() {
            if let Some(layer) = folding.layer()? {
                self.layers[LARGE] = Arc::new(layer);
                self.layers[MIDDLE] = Arc::default();
                self.place(first_unit);
            } else {
                let step = STEP_BYTES.max(folding.size() / STEPS);
                self.folding = Some(folding.further(step)?);
            }
        } else if small > SMALL_BYTES {
            self.layers[MIDDLE] = Arc::new(self.folding_of(MIDDLE, SMALL).whole()?);
            self.layers[SMALL] = Arc::default();
            self.recent = Vec::new();
            self.place(first_unit);
        }
        if self.folding.is_none() && self.is_grown() {
            self.folding = Some(self.folding_of(LARGE, MIDDLE));
        }
        Ok(())
    }

    /// All layers as one, at once.
    pub(super) fn fold(
        &mut self,
        first_unit: &impl Fn(&Arc<Rows>) -> Option<u32>,
    ) -> Result<(), CorpusError> {
        self.folding = None;
        for other in [MIDDLE, SMALL] {
            self.layers[LARGE] = Arc::new(self.folding_of(LARGE, other).whole()?);
            self.layers[other] = Arc::default();
            self.place(first_unit);
        }
        self.recent = Vec::new();
        Ok(())
    }

    fn folding_of(&self, low: usize, high: usize) -> Folding {
        let sides = [low, high];
        Folding::new(
            sides.map(|side| &self.layers[side]),
            sides.map(|side| self.units[side].as_slice()),
        )
    }

    fn is_grown(&self) -> bool {
        let middle = self.size(MIDDLE);
        let units = &self.units[LARGE];
        let gone = units.iter().filter(|&&unit| unit == GONE).count();
        (middle > MIDDLE_BYTES && middle * MIDDLE_SHARE > self.size(LARGE))
            || (gone > 64 && gone * 2 > units.len())
    }

    fn size(&self, layer: usize) -> usize {
        self.layers[layer].segment.size()
    }
}
