//! What a question found.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::corpus::Corpus;
use super::coverage::Coverage;
use super::inside::Inside;
use super::query::Query;
use super::rank::UnitSignals;
use super::table::LEVELS;

/// A unit and what it is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredUnit {
    /// Its number in the corpus.
    pub unit: u32,
    /// What units are ranked by: the scores of its best three paragraphs together.
    pub rank: f32,
    /// BM25 of its words over the best.
    pub own: f32,
    /// BM25 of what the outline says of it over the best.
    pub told: f32,
    /// 1 for a chapter asked for by number.
    pub asked: f32,
}

/// The scores of paragraphs and units, by number, comparable within one question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scored {
    /// Numbers of the paragraphs that were looked into: (first, one past the last), ascending.
    pub runs: Vec<(u32, u32)>,
    /// Their scores, run after run.
    pub scores: Vec<f32>,
    /// The greatest of them; 0 when there is none.
    pub best: f32,
    /// Units that may be found, by number.
    pub units: Vec<ScoredUnit>,
    /// Units that would be, were they not later than what may be known; ranked by their own signals.
    pub withheld: Vec<ScoredUnit>,
    /// Per group the paragraphs that hold it, one counted once for each wording.
    pub frequencies: Vec<u64>,
    /// By level the best sum before everything was divided by it.
    pub strongest: [f32; LEVELS],
    /// Of the question's words.
    pub coverage: Coverage,
}

impl Scored {
    /// The units of a question, without scores of paragraphs.
    pub(super) fn new(
        corpus: &Corpus,
        query: &Query,
        inside: &Inside,
        signals: &UnitSignals,
    ) -> Self {
        let mut scored = Self {
            runs: inside.runs.clone(),
            scores: Vec::with_capacity(inside.paragraphs),
            ..Self::default()
        };
        for (at, unit) in corpus.table.units.iter().enumerate() {
            let one = ScoredUnit {
                unit: at as u32,
                rank: 0.0,
                own: signals.own[at],
                told: signals.told[at],
                asked: signals.asked[at],
            };
            if signals.allowed[at] {
                scored.units.push(one);
            } else if query.filter.is_later(unit.chapter)
                && query.filter.passes_but_time(unit.kind, unit.chapter)
            {
                let rank = signals.sum[at];
                scored.withheld.push(ScoredUnit { rank, ..one });
            }
        }
        scored
    }

    /// Rank every unit by its paragraphs, once their scores are there.
    pub(super) fn rank_units(&mut self, corpus: &Corpus) {
        self.best = greatest(&self.scores);
        // units and runs are both in order, and a unit lies in one run or in none
        let (mut runs, mut before) = (self.runs.iter().peekable(), 0);
        for scored in &mut self.units {
            let unit = &corpus.table.units[scored.unit as usize];
            while let Some((from, to)) = runs.next_if(|run| run.1 <= unit.first) {
                before += to - from;
            }
            scored.rank = match runs.peek() {
                Some((from, _)) if *from <= unit.first => {
                    let at = (before + unit.first - from) as usize;
                    best_three(&self.scores[at..at + unit.paragraphs as usize])
                }
                _ => 0.0,
            };
        }
    }

    /// Number and score of every paragraph that was looked into, ascending.
    pub fn each(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        let numbers = self.runs.iter().flat_map(|&(from, to)| from..to);
        numbers.zip(self.scores.iter().copied())
    }

    /// The score of a paragraph by its number; None when it was not looked into.
    pub fn score_of(&self, number: u32) -> Option<f32> {
        let mut before = 0;
        for &(from, to) in &self.runs {
            if number < to {
                let at = number.checked_sub(from)?;
                return Some(self.scores[(before + at) as usize]);
            }
            before += to - from;
        }
        None
    }

    /// (number, score) of the best `limit` of what is above `floor`, at least 0, by (-score, number).
    ///
    /// Cost: one pass, and a sort of what is returned.
    pub fn best_first(&self, limit: usize, floor: f32) -> Vec<(u32, f32)> {
        // scores are not negative: their bits are in the order of their values
        let floor = floor.max(0.0);
        let found = self.each().filter(|one| one.1 > floor);
        let mut keyed: Vec<(Reverse<u32>, u32)> = found
            .map(|(number, score)| (Reverse(score.to_bits()), number))
            .collect();
        if limit < keyed.len() {
            keyed.select_nth_unstable(limit);
            keyed.truncate(limit);
        }
        keyed.sort_unstable();
        let scored = keyed
            .into_iter()
            .map(|(Reverse(bits), number)| (number, f32::from_bits(bits)));
        scored.collect()
    }

    /// Units by (-rank, number); sorted only as far as it is read.
    pub fn best_units(&self) -> impl Iterator<Item = &ScoredUnit> + '_ {
        in_order(&self.units)
    }

    /// (number, own) of the units that `wanted` names among the best `most`, those that hold a word of the question, by
    /// (-own, number).
    pub fn by_own(&self, most: usize, wanted: impl Fn(u32) -> bool) -> Vec<(u32, f32)> {
        let holds = |one: &&ScoredUnit| one.own > 0.0 && one.rank > 0.0 && wanted(one.unit);
        let mut found: Vec<(Reverse<u32>, u32)> = if most >= self.units.len() {
            self.units.iter().filter(holds).map(own_first).collect()
        } else {
            let best = self.best_units().take(most);
            best.filter(holds).map(own_first).collect()
        };
        found.sort_unstable();
        let found = found.into_iter();
        found
            .map(|(Reverse(own), unit)| (unit, f32::from_bits(own)))
            .collect()
    }

    /// The withheld units likewise.
    pub fn best_withheld(&self) -> impl Iterator<Item = &ScoredUnit> + '_ {
        in_order(&self.withheld)
    }

    /// The number and score of the best paragraph of unit number `unit`; None when it was not looked into.
    pub fn best_of(&self, corpus: &Corpus, unit: u32) -> Option<(u32, f32)> {
        let unit = &corpus.table.units[unit as usize];
        let numbers = unit.first..unit.first + unit.paragraphs;
        let scores = numbers.filter_map(|number| Some((number, self.score_of(number)?)));
        scores.fold(None, |best: Option<(u32, f32)>, one| match best {
            Some(held) if held.1 >= one.1 => Some(held),
            _ => Some(one),
        })
    }
}

fn own_first(one: &ScoredUnit) -> (Reverse<u32>, u32) {
    (Reverse(one.own.to_bits()), one.unit)
}

/// The greatest of values that are not negative; 0 when there is none.
///
/// Their bits are in the order of their values, and whole numbers are compared several at once.
pub(super) fn greatest(values: &[f32]) -> f32 {
    let bits = values.iter().map(|value| value.to_bits().cast_signed());
    f32::from_bits(bits.fold(0, i32::max).cast_unsigned())
}

/// The sum of the best three, added from the greatest on.
fn best_three(scores: &[f32]) -> f32 {
    let mut best = [0.0_f32; 3];
    for &score in scores {
        let mut score = score;
        if score <= best[2] {
            continue;
        }
        for held in &mut best {
            if score > *held {
                std::mem::swap(held, &mut score);
            }
        }
    }
    best.iter().sum()
}

fn in_order(units: &[ScoredUnit]) -> impl Iterator<Item = &ScoredUnit> + '_ {
    // ranks are not negative either
    let keyed = units.iter().enumerate();
    let mut heap: BinaryHeap<(u32, Reverse<usize>)> = keyed
        .map(|(at, unit)| (unit.rank.to_bits(), Reverse(at)))
        .collect();
    std::iter::from_fn(move || {
        let (_, Reverse(at)) = heap.pop()?;
        Some(&units[at])
    })
}
