//! Paragraphs and windows of the units that are looked into.

use super::bm25::{Bm25, rarity};
use super::corpus::{Corpus, PARAGRAPH, WINDOW};
use super::gather::Gathered;
use super::query::{Concept, Query, Wanted};
use super::rank::{Shares, share};
use super::rows::Role;
use super::scratch::Scratch;

/// Not looked into.
const OUT: u32 = u32::MAX;

/// Neighbours count by their distance, on each side; over three, so that the sum is an average.
const NEAR: [f32; 2] = [1.0 / 3.0, 0.5 / 3.0];

/// The paragraphs that are looked into, one after the other under numbers of their own (*places*).
#[derive(Debug)]
pub struct Inside {
    /// The units, ascending, each with the place of its first paragraph.
    pub units: Vec<(u32, u32)>,
    /// How many of the places take part in maxima and rarities; the others are only explained.
    pub counted: u32,
    /// Number in the corpus, by place.
    pub numbers: Vec<u32>,
    /// Whether it is a body, by place.
    pub body: Vec<bool>,
    /// BM25 sums of paragraphs and of windows, by place.
    pub sums: [Vec<f32>; 2],
    first: Vec<u32>,
    lengths: [Vec<f32>; 2],
    holding: Vec<(u8, u8)>,
}

/// How much of the question its best window holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Coverage {
    /// Rarities of all concepts, weighted.
    pub total: f32,
    /// Those of the concepts whose words occur nowhere.
    pub lost: f32,
    /// The most that one window holds.
    pub best: f32,
    /// Positions of the concepts whose words occur nowhere.
    pub missing: Vec<usize>,
}

impl Inside {
    /// The paragraphs of `units`, then of `besides`, which are not counted.
    pub fn new(corpus: &Corpus, units: &[u32], besides: Option<u32>) -> Self {
        let mut inside = Self {
            units: Vec::with_capacity(units.len() + 1),
            counted: 0,
            numbers: Vec::new(),
            body: Vec::new(),
            sums: [Vec::new(), Vec::new()],
            first: vec![OUT; corpus.units.len()],
            lengths: [Vec::new(), Vec::new()],
            holding: Vec::new(),
        };
        for &unit in units {
            inside.take(corpus, unit);
        }
        inside.counted = inside.numbers.len() as u32;
        if let Some(unit) = besides
            && inside.first[unit as usize] == OUT
        {
            inside.take(corpus, unit);
        }
        let zeros = || vec![0.0; inside.numbers.len()];
        inside.sums = [zeros(), zeros()];
        inside
    }

    fn take(&mut self, corpus: &Corpus, number: u32) {
        let unit = &corpus.units[number as usize];
        let document = &corpus.documents[unit.document as usize];
        let from = (unit.first - document.first_paragraph) as usize;
        let own = from..from + unit.paragraphs as usize;
        let place = self.numbers.len() as u32;
        self.first[number as usize] = place;
        self.units.push((number, place));
        self.numbers
            .extend(unit.first..unit.first + unit.paragraphs);
        let rows = &document.rows;
        for paragraph in &rows.paragraphs[own.clone()] {
            self.body.push(paragraph.role == Role::Body);
            self.lengths[PARAGRAPH].push(paragraph.length as f32);
        }
        let windows = rows.windows.lengths[own.clone()].iter();
        self.lengths[WINDOW].extend(windows.map(|&length| length as f32));
        self.holding.extend_from_slice(&rows.windows.holding[own]);
    }

    /// The place of a unit's first paragraph.
    pub fn first_of(&self, unit: u32) -> Option<u32> {
        self.first
            .get(unit as usize)
            .copied()
            .filter(|&place| place != OUT)
    }

    /// Score paragraphs and, where they weigh something, windows.
    pub fn score(
        &mut self,
        corpus: &Corpus,
        query: &Query,
        gathered: &[Gathered<'_>],
        scratch: &mut Scratch,
        mut shares: [Shares<'_>; 2],
    ) {
        let Scratch {
            paragraphs,
            windows,
            ..
        } = scratch;
        paragraphs.reserve(self.numbers.len());
        windows.reserve(self.numbers.len());
        for (group, gathered) in query.groups.iter().zip(gathered) {
            let family = &query.weights.families[group.family];
            let weight = family.weight * group.weight;
            if weight <= 0.0 {
                continue;
            }
            let seen = gathered.each_paragraph(
                |unit| self.first_of(unit),
                |place, frequency| paragraphs.add(place, frequency),
            );
            let unseen = gathered.paragraphs as f64 / seen.max(1) as f64;
            let bm25 = |level: usize, touched: &[u32]| {
                let held = touched
                    .iter()
                    .filter(|&&place| place < self.counted)
                    .count();
                let held = (held as f64 * unseen).min(corpus.totals[level].count as f64);
                let (k1, b) = (query.weights.k1[level], family.b[level]);
                Bm25::new(corpus.totals[level], held, weight, k1, b)
            };
            let own = bm25(PARAGRAPH, paragraphs.touched());
            let around = query.weights.window > 0.0;
            paragraphs.drain(|place, frequency| {
                let value = own.value(frequency, self.lengths[PARAGRAPH][place as usize]);
                self.sums[PARAGRAPH][place as usize] += value;
                share(&mut shares[0], place, group.family, value);
                if around {
                    let (before, after) = self.holding[place as usize];
                    for window in place - u32::from(before)..=place + u32::from(after) {
                        windows.add(window, frequency);
                    }
                }
            });
            let own = bm25(WINDOW, windows.touched());
            windows.drain(|place, frequency| {
                let value = own.value(frequency, self.lengths[WINDOW][place as usize]);
                self.sums[WINDOW][place as usize] += value;
                share(&mut shares[1], place, group.family, value);
            });
        }
    }

    /// How much of the question the best window holds.
    pub fn coverage(
        &self,
        corpus: &Corpus,
        concepts: &[Concept],
        scratch: &mut Scratch,
    ) -> Coverage {
        let windows = &mut scratch.windows;
        windows.reserve(self.numbers.len());
        let mut coverage = Coverage::default();
        let mut held = vec![0.0_f32; self.numbers.len()];
        for (position, concept) in concepts.iter().enumerate() {
            let word = Gathered::of(corpus, [(&concept.word, 1.0)]);
            if word.paragraphs == 0 && matches!(concept.word, Wanted::Entity(_)) {
                continue; // known from elsewhere: that the texts do not name it says nothing of the question
            }
            let seen = self.mark(&word, 1.0, windows);
            let unseen = word.paragraphs as f64 / seen.max(1) as f64;
            let count = windows.touched().len() as f64 * unseen;
            let count = count.min(corpus.totals[WINDOW].count as f64);
            let weight = concept.weight * rarity(corpus.totals[WINDOW], count) as f32;
            coverage.total += weight;
            if word.paragraphs == 0 {
                coverage.lost += weight;
                coverage.missing.push(position);
            }
            if concept.share > 0.0 {
                let near = Gathered::of(corpus, concept.near.iter().map(|one| (one, 1.0)));
                self.mark(&near, concept.share, windows);
            }
            windows.drain(|place, share| held[place as usize] += weight * share);
        }
        let counted = held.iter().take(self.counted as usize);
        coverage.best = counted.fold(0.0, |best: f32, &one| best.max(one));
        coverage
    }

    fn mark(
        &self,
        gathered: &Gathered<'_>,
        share: f32,
        windows: &mut super::scratch::Counts,
    ) -> u64 {
        gathered.each_paragraph(
            |unit| self.first_of(unit),
            |place, _| {
                let (before, after) = self.holding[place as usize];
                for window in place - u32::from(before)..=place + u32::from(after) {
                    windows.raise(window, share);
                }
            },
        )
    }

    /// Per place what stands around it, within the unit.
    pub fn near(&self, values: &[f32]) -> Vec<f32> {
        let mut near = vec![0.0; values.len()];
        for (position, &(_, from)) in self.units.iter().enumerate() {
            let end = self
                .units
                .get(position + 1)
                .map_or(values.len(), |next| next.1 as usize);
            let unit = &values[from as usize..end];
            for (distance, weight) in (1..).zip(NEAR) {
                for at in distance..unit.len() {
                    near[from as usize + at] += weight * unit[at - distance];
                    near[from as usize + at - distance] += weight * unit[at];
                }
            }
        }
        near
    }
}
