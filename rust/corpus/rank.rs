//! Units for a question: what their own words, the outline and the chapter numbers say of them.

use super::bm25::Bm25;
use super::corpus::Corpus;
use super::gather::Gathered;
use super::query::Query;
use super::scratch::Counts;
use super::table::{LINE, UNIT, Unit};

/// The signals of every unit of the corpus, by number.
#[derive(Debug, Default)]
pub struct UnitSignals {
    /// Whether it may be found.
    pub allowed: Vec<bool>,
    /// BM25 of its words over the best.
    pub own: Vec<f32>,
    /// BM25 of what the outline says of it over the best.
    pub told: Vec<f32>,
    /// BM25 of the outline's lines.
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

/// Look up every group and score every unit.
pub fn rank_units<'c>(
    corpus: &'c Corpus,
    query: &Query,
    gathered: &mut Gathered<'c, '_>,
    counts: &mut Counts,
) -> UnitSignals {
    let all = corpus.table.units.len();
    let passes = |unit: &Unit| query.filter.passes(unit.kind, unit.chapter);
    let mut signals = UnitSignals {
        allowed: corpus.table.units.iter().map(passes).collect(),
        own: vec![0.0; all],
        told: vec![0.0; all],
        lines: vec![0.0; all],
        asked: vec![0.0; all],
        given: vec![0.0; all],
        ..UnitSignals::default()
    };
    counts.reserve(all);
    for group in &query.groups {
        let family = &query.weights.families[group.family];
        let any = group.any.iter().map(|(wanted, factor)| (wanted, *factor));
        gathered.add(corpus, any, counts);
        let weight = family.weight * group.weight;
        let (lengths, is_line) = (
            &corpus.table.columns.unit_lengths,
            &corpus.table.columns.lines,
        );
        let told = counts
            .touched
            .iter()
            .filter(|&&unit| is_line[unit as usize])
            .count();
        let bm25 = |level: usize, held: usize| {
            let (k1, b) = (query.weights.k1[level], family.b[level]);
            Bm25::new(corpus.table.totals[level], held as f64, weight, k1, b)
        };
        let (own, line) = (bm25(UNIT, counts.touched.len()), bm25(LINE, told));
        let (sums, lines) = (signals.own.as_mut_slice(), signals.lines.as_mut_slice());
        counts.drain(|at, frequency| {
            let length = lengths[at as usize];
            sums[at as usize] += own.value(frequency, length);
            if is_line[at as usize] {
                lines[at as usize] += line.value(frequency, length);
            }
        });
    }
    for &(line, unit) in &corpus.table.told {
        let held = &mut signals.told[unit as usize];
        *held = held.max(signals.lines[line as usize]);
    }
    signals.mark(corpus, query);
    signals.mark_told(corpus, query);
    signals.add_up(query);
    signals
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
        for (number, unit) in corpus.table.units.iter().enumerate() {
            if unit.kind.is_story()
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

    /// What a signal says of the outline's lines, over to the chapters they are about: of several the greatest.
    fn mark_told(&mut self, corpus: &Corpus, query: &Query) {
        for given in &query.lines {
            let mut lines = vec![0.0_f32; self.given.len()];
            for (path, index, value) in &given.values {
                if let Some(number) = corpus.paragraph(path, *index) {
                    let held = &mut lines[corpus.unit_of(number)];
                    *held = held.max(*value);
                }
            }
            let mut told = vec![0.0_f32; self.given.len()];
            for &(line, unit) in &corpus.table.told {
                let held = &mut told[unit as usize];
                *held = held.max(lines[line as usize]);
            }
            for (given_to, value) in self.given.iter_mut().zip(told) {
                *given_to += given.weight * value;
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
        let allowed = (0..corpus.table.units.len()).filter(|&unit| self.allowed[unit]);
        let room = paragraphs.unwrap_or(usize::MAX);
        let there: usize = allowed
            .clone()
            .map(|unit| corpus.table.units[unit].paragraphs as usize)
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
            taken += corpus.table.units[unit as usize].paragraphs as usize;
            chosen.push(unit);
        }
        chosen.sort_unstable();
        chosen
    }
}
