//! The score of a paragraph:
//!
//! ```text
//! (paragraph P + near N + window W + given + c) * (unit U + line O + asked A + given + d)
//! ```
//!
//! P, W, U, O are sums of BM25 over the groups of the question, each over its best; N is P of the two paragraphs before
//! and after, nearer ones more; A is 1 for a chapter asked for by number. A unit's worth lifts its paragraphs, a
//! paragraph's own words choose among them. Measured against a sum, ranks, learnt weights: see `docs/decisions`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::CorpusError;
use super::bm25::rarity;
use super::corpus::{Corpus, LEVELS, PARAGRAPH, WINDOW};
use super::gather::Gathered;
use super::inside::{Coverage, Inside};
use super::query::{Query, Wanted};
use super::rank::{UnitSignals, over_best, rank_units};

/// A unit and what it is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredUnit {
    /// Its number in the corpus.
    pub unit: u32,
    /// What units are ranked by: its signals and, weighted, its best paragraph's.
    pub rank: f32,
    /// BM25 of its words over the best.
    pub own: f32,
    /// BM25 of what the outline says of it over the best.
    pub told: f32,
    /// 1 for a chapter asked for by number.
    pub asked: f32,
    /// The number and the score of its best paragraph, if it was looked into.
    pub best: Option<(u32, f32)>,
}

/// What a question found.
#[derive(Debug, Clone, Default)]
pub struct Scored {
    /// Numbers of paragraphs in the corpus, ascending.
    pub numbers: Vec<u32>,
    /// Their scores.
    pub scores: Vec<f32>,
    /// Units that may be found, by (-rank, number).
    pub units: Vec<ScoredUnit>,
    /// Per group the paragraphs that hold it, one counted once for each wording.
    pub frequencies: Vec<u64>,
    /// By level the best sum before everything was divided by it.
    pub strongest: [f32; LEVELS],
    /// Of the question's words.
    pub coverage: Coverage,
}

/// The signals of the paragraphs that were looked into, by place.
pub(super) struct Signals {
    pub inside: Inside,
    pub units: UnitSignals,
    /// P, N, W, given, their weighted sum without the constant, the score.
    pub own: Vec<f32>,
    pub near: Vec<f32>,
    pub window: Vec<f32>,
    pub given: Vec<f32>,
    pub sum: Vec<f32>,
    pub scores: Vec<f32>,
    pub strongest: [f32; LEVELS],
    pub coverage: Coverage,
    pub frequencies: Vec<u64>,
}

/// By family what a paragraph, its window, its unit and the unit's outline line got.
pub(super) struct Target<'t> {
    pub paragraph: u32,
    /// The line of the outline that tells most of its unit.
    pub line: Option<u32>,
    pub shares: &'t mut [Vec<f32>; LEVELS],
}

/// Score the paragraphs of a corpus.
///
/// Cost: the postings of the question's terms; below .4 ms for a novel of 900,000 characters. Of a larger corpus the best
/// `look_into` paragraphs' worth of units are looked into.
pub fn score(corpus: &Corpus, query: &Query) -> Result<Scored, CorpusError> {
    let signals = signals(corpus, query, None)?;
    let Signals { inside, units, .. } = &signals;
    let mut best: Vec<Option<(u32, f32)>> = vec![None; corpus.units.len()];
    let mut ranks = units.sum.clone();
    for (position, &(unit, from)) in inside.units.iter().enumerate() {
        let end = inside
            .units
            .get(position + 1)
            .map_or(inside.numbers.len(), |next| next.1 as usize);
        let mut strongest = 0.0_f32;
        for place in from as usize..end {
            strongest = strongest.max(signals.sum[place]);
            let score = signals.scores[place];
            if best[unit as usize].is_none_or(|(_, held)| score > held) {
                best[unit as usize] = Some((inside.numbers[place], score));
            }
        }
        ranks[unit as usize] += query.weights.best * strongest;
    }
    let mut ranked: Vec<ScoredUnit> = (0..corpus.units.len())
        .filter(|&unit| units.allowed[unit])
        .map(|unit| ScoredUnit {
            unit: unit as u32,
            rank: ranks[unit],
            own: units.own[unit],
            told: units.told[unit],
            asked: units.asked[unit],
            best: best[unit],
        })
        .collect();
    ranked.sort_unstable_by(|a, b| b.rank.total_cmp(&a.rank).then(a.unit.cmp(&b.unit)));
    Ok(Scored {
        numbers: signals.inside.numbers,
        scores: signals.scores,
        units: ranked,
        frequencies: signals.frequencies,
        strongest: signals.strongest,
        coverage: signals.coverage,
    })
}

pub(super) fn signals(
    corpus: &Corpus,
    query: &Query,
    target: Option<Target<'_>>,
) -> Result<Signals, CorpusError> {
    query.check()?;
    let gathered: Vec<Gathered<'_>> = query
        .groups
        .iter()
        .map(|group| {
            Gathered::of(
                corpus,
                group.any.iter().map(|(wanted, factor)| (wanted, *factor)),
            )
        })
        .collect();
    corpus.pool.with(|scratch| {
        let (mut of_unit, mut of_paragraph) = ([None, None], None);
        let mut besides = None;
        if let Some(target) = target {
            let unit = corpus.unit_of(target.paragraph) as u32;
            let [own, window, whole, told] = target.shares;
            let told = target.line.map(|line| (line, told.as_mut_slice()));
            of_unit = [Some((unit, whole.as_mut_slice())), told];
            of_paragraph = Some((
                target.paragraph - corpus.units[unit as usize].first,
                own,
                window,
            ));
            besides = Some(unit);
        }
        let units = rank_units(corpus, query, &gathered, &mut scratch.units, of_unit);
        let lifted = lifted(corpus, query);
        let chosen = units.best(corpus, query.look_into, &lifted);
        let mut inside = Inside::new(corpus, &chosen, besides);
        let shares = match of_paragraph {
            Some((at, own, window)) => {
                let first = besides.and_then(|unit| inside.first_of(unit)).unwrap_or(0);
                [
                    Some((first + at, own.as_mut_slice())),
                    Some((first + at, window.as_mut_slice())),
                ]
            }
            None => [None, None],
        };
        inside.score(corpus, query, &gathered, scratch, shares);
        let coverage = if query.concepts.is_empty() {
            Coverage::default()
        } else {
            inside.coverage(corpus, &query.concepts, scratch)
        };
        let frequencies = gathered.iter().map(|one| one.paragraphs).collect();
        Ok(multiply(
            corpus,
            query,
            inside,
            units,
            coverage,
            frequencies,
        ))
    })
}

fn multiply(
    corpus: &Corpus,
    query: &Query,
    mut inside: Inside,
    units: UnitSignals,
    coverage: Coverage,
    frequencies: Vec<u64>,
) -> Signals {
    let weights = &query.weights;
    let [mut own, mut window] = std::mem::take(&mut inside.sums);
    let counted = inside.counted as usize;
    let best = over_best(&mut own, |place| place < counted);
    let best_window = over_best(&mut window, |place| place < counted);
    let near = inside.near(&own);
    let mut given = vec![0.0; own.len()];
    for signal in &query.paragraphs {
        let mut values = vec![0.0; own.len()];
        for (path, index, value) in &signal.values {
            let number = corpus.paragraph(path, *index);
            let place = number.and_then(|number| {
                let unit = corpus.unit_of(number);
                Some(inside.first_of(unit as u32)? + number - corpus.units[unit].first)
            });
            if let Some(place) = place {
                values[place as usize] += value;
            }
        }
        let around = inside.near(&values);
        for (place, held) in given.iter_mut().enumerate() {
            *held += signal.weight * values[place] + signal.near * around[place];
        }
    }
    let mut sum = Vec::with_capacity(own.len());
    let mut scores = Vec::with_capacity(own.len());
    for (position, &(unit, from)) in inside.units.iter().enumerate() {
        let end = inside
            .units
            .get(position + 1)
            .map_or(own.len(), |next| next.1 as usize);
        let whole = units.sum[unit as usize] + weights.d;
        for place in from as usize..end {
            let one = weights.paragraph * own[place]
                + weights.near * near[place]
                + weights.window * window[place]
                + given[place];
            sum.push(one);
            let factor = if inside.body[place] {
                1.0
            } else {
                weights.heading
            };
            scores.push(factor * (one + weights.c) * whole);
        }
    }
    let mut strongest = [0.0; LEVELS];
    strongest[PARAGRAPH] = best;
    strongest[WINDOW] = best_window;
    strongest[2..].copy_from_slice(&units.strongest);
    Signals {
        inside,
        units,
        own,
        near,
        window,
        given,
        sum,
        scores,
        strongest,
        coverage,
        frequencies,
    }
}

/// Per unit the most that a signal from elsewhere can add to one of its paragraphs; empty without such signals.
fn lifted(corpus: &Corpus, query: &Query) -> Vec<f32> {
    let mut lifted = Vec::new();
    for signal in &query.paragraphs {
        lifted.resize(corpus.units.len(), 0.0_f32);
        for (path, index, value) in &signal.values {
            if let Some(number) = corpus.paragraph(path, *index) {
                let held = &mut lifted[corpus.unit_of(number)];
                *held = held.max(signal.weight * value);
            }
        }
    }
    lifted
}

/// In how many paragraphs each text stands, all of its terms.
pub fn frequencies<'t>(corpus: &Corpus, texts: impl IntoIterator<Item = &'t str>) -> Vec<u64> {
    let held = |text| Gathered::of(corpus, [(&Wanted::text(text), 1.0)]).paragraphs;
    texts.into_iter().map(held).collect()
}

/// The rarity among paragraphs of each text, see `bm25`.
pub fn rarities<'t>(corpus: &Corpus, texts: impl IntoIterator<Item = &'t str>) -> Vec<f64> {
    let held = frequencies(corpus, texts).into_iter();
    held.map(|held| rarity(corpus.totals[PARAGRAPH], held as f64))
        .collect()
}

impl Scored {
    /// The score of the best paragraph; 0 when there is none.
    pub fn best(&self) -> f32 {
        self.scores.iter().fold(0.0, |best, &score| best.max(score))
    }

    /// (number, score) of what is above 0, by (-score, number); sorted only as far as it is read.
    pub fn best_first(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        let found = self
            .numbers
            .iter()
            .zip(&self.scores)
            .filter(|one| *one.1 > 0.0);
        // scores are not negative: their bits are in the order of their values
        let mut heap: BinaryHeap<(u32, Reverse<u32>)> = found
            .map(|(&number, &score)| (score.to_bits(), Reverse(number)))
            .collect();
        std::iter::from_fn(move || {
            let (bits, Reverse(number)) = heap.pop()?;
            Some((number, f32::from_bits(bits)))
        })
    }
}
