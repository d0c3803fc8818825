//! Units for a question: what their own words, the outline and the chapter numbers say of them.

use super::bm25::Bm25;
use super::corpus::{Corpus, LINE, UNIT};
use super::gather::Gathered;
use super::query::Query;
use super::scratch::Counts;

/// The signals of every unit of the corpus, by number.
#[derive(Debug, Default)]
pub struct UnitSignals {
    /// Whether it may be found.
    pub allowed: Vec<bool>,
    /// BM25 of its words over the best.
    pub own: Vec<f32>,
    /// BM25 of what the outline says of it over the best.
    pub told: Vec<f32>,
    /// BM25 of the outline's lines; empty when they weigh nothing.
    pub lines: Vec<f32>,
    /// 1 for a chapter asked for by number.
    pub asked: Vec<f32>,
    /// Signals from elsewhere, with their weights.
    pub given: Vec<f32>,
    /// All of it, weighted: the second factor of the score without its constant.
    pub sum: Vec<f32>,
    /// The best of `own` and of `told` before they are divided by it.
    pub strongest: [f32; 2],
}

/// What a target's values are made of, by family: filled while others are scored.
pub type Shares<'t> = Option<(u32, &'t mut [f32])>;

/// Score every unit.
pub fn rank_units(
    corpus: &Corpus,
    query: &Query,
    gathered: &[Gathered<'_>],
    counts: &mut Counts,
    mut shares: [Shares<'_>; 2],
) -> UnitSignals {
    let all = corpus.units.len();
    let passes = |unit: &super::corpus::Unit| query.filter.passes(unit.kind, unit.chapter);
    let mut signals = UnitSignals {
        allowed: corpus.units.iter().map(passes).collect(),
        own: vec![0.0; all],
        asked: vec![0.0; all],
        given: vec![0.0; all],
        ..UnitSignals::default()
    };
    let mut lines = vec![0.0_f32; if query.weights.line > 0.0 { all } else { 0 }];
    counts.reserve(all);
    for (group, gathered) in query.groups.iter().zip(gathered) {
        let family = &query.weights.families[group.family];
        let weight = family.weight * group.weight;
        if weight <= 0.0 {
            continue;
        }
        gathered.each_unit(|unit, frequency| counts.add(unit, frequency));
        let touched = counts.touched();
        let told = touched
            .iter()
            .filter(|&&unit| corpus.units[unit as usize].line)
            .count();
        let bm25 = |level: usize, held: usize| {
            let (k1, b) = (query.weights.k1[level], family.b[level]);
            Bm25::new(corpus.totals[level], held as f64, weight, k1, b)
        };
        let (own, line) = (bm25(UNIT, touched.len()), bm25(LINE, told));
        counts.drain(|at, frequency| {
            let unit = &corpus.units[at as usize];
            let value = own.value(frequency, unit.length as f32);
            signals.own[at as usize] += value;
            share(&mut shares[0], at, group.family, value);
            if unit.line && !lines.is_empty() {
                let value = line.value(frequency, unit.length as f32);
                lines[at as usize] += value;
                share(&mut shares[1], at, group.family, value);
            }
        });
    }
    signals.told = vec![0.0; all];
    if !lines.is_empty() {
        for &(line, unit) in &corpus.told {
            let held = &mut signals.told[unit as usize];
            *held = held.max(lines[line as usize]);
        }
    }
    signals.lines = lines;
    signals.mark(corpus, query);
    signals.add_up(query);
    signals
}

/// Note what `at` got from `family`, if it is the one that is asked about.
#[inline]
pub fn share(shares: &mut Shares<'_>, at: u32, family: usize, value: f32) {
    if let Some((target, families)) = shares
        && *target == at
    {
        families[family] += value;
    }
}

/// Divide by the greatest of the values that `counts` says; it.
pub fn over_best(values: &mut [f32], counts: impl Fn(usize) -> bool) -> f32 {
    let counted = values.iter().enumerate().filter(|one| counts(one.0));
    let best = counted.fold(0.0_f32, |best, one| best.max(*one.1));
    if best > 0.0 {
        for value in values {
            *value /= best;
        }
    }
    best
}

impl UnitSignals {
    fn mark(&mut self, corpus: &Corpus, query: &Query) {
        for (number, unit) in corpus.units.iter().enumerate() {
            if unit.kind == super::rows::Kind::Chapter
                && unit
                    .chapter
                    .is_some_and(|chapter| query.chapters.contains(&chapter))
            {
                self.asked[number] = 1.0;
            }
        }
        for given in &query.units {
            for (path, position, value) in &given.values {
                let document = corpus.find(path).map(|at| &corpus.documents[at]);
                if let Some(document) = document
                    && (*position as usize) < document.rows.units.len()
                {
                    self.given[(document.first_unit + position) as usize] += given.weight * value;
                }
            }
        }
    }

    fn add_up(&mut self, query: &Query) {
        let allowed = &self.allowed;
        let own = over_best(&mut self.own, |unit| allowed[unit]);
        let told = over_best(&mut self.told, |unit| allowed[unit]);
        self.strongest = [own, told];
        let weights = &query.weights;
        self.sum = (0..self.own.len())
            .map(|unit| {
                weights.unit * self.own[unit]
                    + weights.line * self.told[unit]
                    + weights.asked * self.asked[unit]
                    + self.given[unit]
            })
            .collect();
    }

    /// The units to look into: the best by `sum` until they have `paragraphs`, in the order of the corpus.
    pub fn best(&self, corpus: &Corpus, paragraphs: Option<usize>, lifted: &[f32]) -> Vec<u32> {
        let allowed = (0..corpus.units.len()).filter(|&unit| self.allowed[unit]);
        let room = paragraphs.unwrap_or(usize::MAX);
        let there: usize = allowed
            .clone()
            .map(|unit| corpus.units[unit].paragraphs as usize)
            .sum();
        if there <= room {
            return allowed.map(|unit| unit as u32).collect();
        }
        let worth = |unit: usize| self.sum[unit] + lifted.get(unit).copied().unwrap_or(0.0);
        let mut heap: std::collections::BinaryHeap<(u32, std::cmp::Reverse<u32>)> = allowed
            .map(|unit| (worth(unit).to_bits(), std::cmp::Reverse(unit as u32)))
            .collect();
        let (mut chosen, mut taken) = (Vec::new(), 0);
        while taken < room
            && let Some((_, std::cmp::Reverse(unit))) = heap.pop()
        {
            taken += corpus.units[unit as usize].paragraphs as usize;
            chosen.push(unit);
        }
        chosen.sort_unstable();
        chosen
    }
}
