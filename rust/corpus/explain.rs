//! What a paragraph's score is made of.

use super::CorpusError;
use super::corpus::Corpus;
use super::query::Query;
use super::score::{Target, run};
use super::table::LEVELS;

/// Named numbers of one paragraph, in the order of the formula.
///
/// `score`; `paragraph`, `near`, `window`, `given`, `unit`, `told`, `asked`, `unit_given` as they enter it, before their
/// weights; then per family `paragraph.NAME`, `window.NAME`, `unit.NAME`, `told.NAME`: its part of the signal.
///
/// Cost: that of the question, twice where several lines of an outline are about one chapter.
pub fn explain(
    corpus: &Corpus,
    query: &Query,
    path: &str,
    index: u32,
) -> Result<Vec<(String, f32)>, CorpusError> {
    query.check()?;
    let Some(paragraph) = corpus.paragraph(path, index) else {
        return Err(CorpusError::Invalid(format!(
            "{path}#{index}: no such paragraph in the corpus"
        )));
    };
    let families = query.weights.families.len();
    let mut shares: [Vec<f32>; LEVELS] = std::array::from_fn(|_| vec![0.0; families]);
    let unit = corpus.unit_of(paragraph);
    let mut target = Target {
        paragraph,
        line: best_line(corpus, query, unit as u32),
        shares: &mut shares,
        signals: [0.0; 4],
    };
    let (found, units) = run(corpus, query, Some(&mut target));
    let [own, near, window, given] = target.signals;
    let mut named: Vec<(String, f32)> = [
        ("score", found.score_of(paragraph).unwrap_or(0.0)),
        ("paragraph", own),
        ("near", near),
        ("window", window),
        ("given", given),
        ("unit", units.own[unit]),
        ("told", units.told[unit]),
        ("asked", units.asked[unit]),
        ("unit_given", units.given[unit]),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let levels = ["paragraph", "window", "unit", "told"];
    for ((level, shares), best) in levels.into_iter().zip(shares).zip(found.strongest) {
        for (family, value) in query.weights.families.iter().zip(shares) {
            if value > 0.0 {
                named.push((
                    format!("{level}.{}", family.name),
                    value / best.max(f32::MIN_POSITIVE),
                ));
            }
        }
    }
    Ok(named)
}

/// The line of the outline that tells most of `unit`.
fn best_line(corpus: &Corpus, query: &Query, unit: u32) -> Option<u32> {
    let lines: Vec<u32> = corpus
        .table
        .told
        .iter()
        .filter(|told| told.1 == unit)
        .map(|told| told.0)
        .collect();
    if lines.len() < 2 {
        return lines.first().copied();
    }
    let told = run(corpus, query, None).1.lines;
    let better = |a: &u32, b: &u32| {
        told[*a as usize]
            .total_cmp(&told[*b as usize])
            .then(b.cmp(a))
    };
    lines.into_iter().max_by(better)
}
