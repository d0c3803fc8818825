//! Several wordings of one question as one answer.

use super::corpus::Corpus;
use super::rank::over_best;
use super::scored::Scored;

/// The scores of `own` with those of other wordings: `own + mean * average + most * greatest`, each answer over its best.
///
/// A paragraph that a wording did not look into has 0 there. Units are ranked by what comes of it.
pub fn fuse(corpus: &Corpus, own: &Scored, others: &[&Scored], mean: f32, most: f32) -> Scored {
    let mut fused = own.clone();
    if others.is_empty() {
        return fused;
    }
    let by_number = |found: &Scored| {
        let mut scores = vec![0.0; corpus.table.columns.body.len()];
        for (number, score) in found.each() {
            scores[number as usize] = score;
        }
        scores
    };
    let scores = joined(
        by_number(own),
        others.iter().map(|one| by_number(one)),
        mean,
        most,
    );
    let runs = others
        .iter()
        .chain([&own])
        .flat_map(|one| &one.runs)
        .copied();
    fused.runs = union(runs.collect());
    let runs = fused.runs.iter();
    fused.scores = runs
        .flat_map(|&(from, to)| &scores[from as usize..to as usize])
        .copied()
        .collect();
    fused.rank_units(corpus);
    fused
}

fn union(mut runs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    runs.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for run in runs {
        match joined.last_mut() {
            Some(last) if run.0 <= last.1 => last.1 = last.1.max(run.1),
            _ => joined.push(run),
        }
    }
    joined
}

fn joined(
    mut own: Vec<f32>,
    others: impl Iterator<Item = Vec<f32>>,
    mean: f32,
    most: f32,
) -> Vec<f32> {
    over_best(&mut own, |_| true);
    let (mut sum, mut greatest, mut count) = (vec![0.0; own.len()], vec![0.0_f32; own.len()], 0);
    for mut other in others {
        over_best(&mut other, |_| true);
        count += 1;
        for (at, value) in other.into_iter().enumerate() {
            sum[at] += value;
            greatest[at] = greatest[at].max(value);
        }
    }
    for (at, value) in own.iter_mut().enumerate() {
        *value += mean * sum[at] / count.max(1) as f32 + most * greatest[at];
    }
    own
}
