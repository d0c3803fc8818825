//! Paragraphs and windows of the units that are looked into.

use super::bm25::Bm25;
use super::corpus::Corpus;
use super::gather::Gathered;
use super::query::Query;
use super::scratch::Scratch;
use super::table::{PARAGRAPH, WINDOW};

/// Neighbours count by their distance, on each side; over three, so that the sum is an average.
const NEAR: [f32; 2] = [1.0 / 3.0, 0.5 / 3.0];

/// Above this share of the paragraphs it is faster to look at all of them: one in so many.
const DENSE: usize = 10;

/// The units that are looked into.
#[derive(Debug)]
pub struct Inside {
    /// By number, ascending.
    pub units: Vec<u32>,
    /// Their paragraphs, those of neighbouring units together: (first, one past the last).
    pub runs: Vec<(u32, u32)>,
    /// How many paragraphs.
    pub paragraphs: usize,
    /// Of every unit the number of its first paragraph, if it is looked into.
    first: Vec<u32>,
}

const OUT: u32 = u32::MAX;

impl Inside {
    /// Look into `units`, ascending.
    pub fn new(corpus: &Corpus, units: Vec<u32>) -> Self {
        let mut first = vec![OUT; corpus.table.units.len()];
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for &number in &units {
            let unit = &corpus.table.units[number as usize];
            first[number as usize] = unit.first;
            match runs.last_mut() {
                Some(run) if run.1 == unit.first => run.1 += unit.paragraphs,
                _ => runs.push((unit.first, unit.first + unit.paragraphs)),
            }
        }
        let paragraphs = runs.iter().map(|run| (run.1 - run.0) as usize).sum();
        Self {
            units,
            runs,
            paragraphs,
            first,
        }
    }

    /// The number of a unit's first paragraph, if it is looked into.
    #[inline]
    pub fn first_of(&self, unit: u32) -> Option<u32> {
        let first = self.first[unit as usize];
        (first != OUT).then_some(first)
    }

    /// Sums of BM25 of paragraphs and, where they weigh something, of windows, into `scratch.sums`.
    pub fn score(
        &self,
        corpus: &Corpus,
        query: &Query,
        gathered: &Gathered<'_, '_>,
        scratch: &mut Scratch,
    ) {
        let all = corpus.table.columns.body.len();
        scratch.paragraphs.reserve(all);
        scratch.windows.reserve(all);
        for sums in &mut scratch.sums {
            sums.resize(sums.len().max(all), 0.0);
        }
        for (position, group) in query.groups.iter().enumerate() {
            let family = &query.weights.families[group.family];
            let weight = family.weight * group.weight;
            let counts = &mut scratch.paragraphs;
            let seen = gathered.each_paragraph(
                position,
                0,
                |unit| self.first_of(unit),
                |paragraph, frequency| counts.add(paragraph, frequency),
            );
            // what stands elsewhere is as rare there as here
            let unseen = gathered.paragraphs(position) as f64 / seen.max(1) as f64;
            let bm25 = |level: usize, held: usize| {
                let held = (held as f64 * unseen).min(corpus.table.totals[level].count as f64);
                let (k1, b) = (query.weights.k1[level], family.b[level]);
                Bm25::new(corpus.table.totals[level], held, weight, k1, b)
            };
            if scratch.paragraphs.touched.len() * DENSE > self.paragraphs {
                self.score_all(corpus, query.weights.window > 0.0, scratch, bm25);
            } else {
                score_touched(corpus, query.weights.window > 0.0, scratch, bm25);
            }
        }
    }

    /// Look at every paragraph; leaves the frequencies zero.
    fn score_all(
        &self,
        corpus: &Corpus,
        windows: bool,
        scratch: &mut Scratch,
        bm25: impl Fn(usize, usize) -> Bm25,
    ) {
        let Scratch {
            paragraphs,
            windows: around,
            before,
            sums,
            ..
        } = scratch;
        let columns = &corpus.table.columns;
        let own = bm25(PARAGRAPH, paragraphs.touched.len());
        let runs = self.runs.iter().map(|run| run.0 as usize..run.1 as usize);
        for run in runs.clone() {
            let (values, lengths) = (
                &paragraphs.values[run.clone()],
                &columns.lengths[PARAGRAPH][run.clone()],
            );
            own.add_all(&mut sums[PARAGRAPH][run], values, lengths);
        }
        if windows {
            let mut held = 0;
            for run in runs.clone() {
                before.clear();
                before.push(0);
                let mut sum = 0_u32;
                before.extend(paragraphs.values[run.clone()].iter().map(|value| {
                    sum = value.wrapping_add(sum);
                    sum
                }));
                let reach = &columns.around[run.clone()];
                let values = around.values[run].iter_mut();
                for (at, (value, &(back, on))) in values.zip(reach).enumerate() {
                    let until = before[at + usize::from(on) + 1];
                    *value = until.wrapping_sub(before[at - usize::from(back)]);
                    held += usize::from(*value > 0);
                }
            }
            let own = bm25(WINDOW, held);
            for run in runs {
                let (values, lengths) = (
                    &mut around.values[run.clone()],
                    &columns.lengths[WINDOW][run.clone()],
                );
                own.add_all(&mut sums[WINDOW][run], values, lengths);
                values.fill(0);
            }
        }
        paragraphs.drain(|_, _| {});
    }
}

/// Look at the paragraphs that hold the group, and the windows that hold these; leaves the frequencies zero.
fn score_touched(
    corpus: &Corpus,
    windows: bool,
    scratch: &mut Scratch,
    bm25: impl Fn(usize, usize) -> Bm25,
) {
    let Scratch {
        paragraphs,
        windows: around,
        sums,
        ..
    } = scratch;
    let columns = &corpus.table.columns;
    let own = bm25(PARAGRAPH, paragraphs.touched.len());
    let [sums, window_sums] = sums;
    let (lengths, window_lengths) = (&columns.lengths[PARAGRAPH], &columns.lengths[WINDOW]);
    if windows {
        for &at in &paragraphs.touched {
            let (before, after) = columns.holding[at as usize];
            let value = paragraphs.values[at as usize];
            for window in at - u32::from(before)..=at + u32::from(after) {
                around.add(window, value);
            }
        }
    }
    paragraphs
        .drain(|at, frequency| sums[at as usize] += own.value(frequency, lengths[at as usize]));
    let own = bm25(WINDOW, around.touched.len());
    around.drain(|at, frequency| {
        window_sums[at as usize] += own.value(frequency, window_lengths[at as usize]);
    });
}

/// What stands around each paragraph of a unit.
pub fn near(unit: &[f32], out: &mut [f32]) {
    for (distance, weight) in (1..).zip(NEAR) {
        let Some(rest) = unit.len().checked_sub(distance) else {
            return;
        };
        for (held, value) in out[distance..].iter_mut().zip(&unit[..rest]) {
            *held += weight * value;
        }
        for (held, value) in out[..rest].iter_mut().zip(&unit[distance..]) {
            *held += weight * value;
        }
    }
}
