//! `CorpusScores`: what a question found.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::found::{CorpusCoverage, ScoredUnit};
use crate::corpus::corpus::Corpus;
use crate::corpus::fuse::fuse;
use crate::corpus::scored::{self, Scored};

/// The scores of the paragraphs and units of a corpus for one question.
#[pyclass(frozen, module = "armarius._core")]
pub struct CorpusScores {
    pub(super) corpus: Arc<Corpus>,
    pub(super) scored: Scored,
}

// Arguments are extracted by value: that is how PyO3 hands over a list.
#[allow(clippy::needless_pass_by_value)]
#[pymethods]
impl CorpusScores {
    /// The score of the best paragraph, 0 when there is none.
    #[getter]
    fn best(&self) -> f32 {
        self.scored.best
    }

    /// By level the best sum before everything was divided by it.
    #[getter]
    fn strongest(&self) -> HashMap<&'static str, f32> {
        let names = ["paragraph", "window", "unit", "line"];
        names.into_iter().zip(self.scored.strongest).collect()
    }

    /// Per group of the question the paragraphs that hold it, one counted once for each wording.
    #[getter]
    fn frequencies(&self) -> Vec<u64> {
        self.scored.frequencies.clone()
    }

    #[getter]
    fn coverage(&self) -> CorpusCoverage {
        let coverage = self.scored.coverage.clone();
        CorpusCoverage {
            total: coverage.total,
            lost: coverage.lost,
            best: coverage.best,
            missing: coverage.missing,
        }
    }

    /// Path, position and score of paragraphs by (-score, path, position), those above a score, at least 0.
    #[pyo3(signature = (limit, /, above = 0.0))]
    fn paragraphs(&self, limit: usize, above: f32) -> Vec<(&str, u32, f32)> {
        let best = self.scored.best_first(limit, above).into_iter();
        best.map(|(number, score)| {
            let (path, index) = self.place(number);
            (path, index, score)
        })
        .collect()
    }

    /// Units by (-rank, path, position), those above 0, after the first `skip`.
    #[pyo3(signature = (limit, /, skip = 0))]
    fn units(&self, limit: usize, skip: usize) -> Vec<ScoredUnit> {
        let ranked = self.scored.best_units().take_while(|one| one.rank > 0.0);
        let ranked = ranked.skip(skip).take(limit);
        ranked.map(|one| self.unit(one)).collect()
    }

    /// (number, own) of those among the first `most` of `units` that `wanted` has a byte other than 0 for, by their
    /// number, and that hold a word of the question, by (-own, number).
    #[pyo3(signature = (wanted, most, /))]
    fn by_own(&self, wanted: &[u8], most: usize) -> Vec<(u32, f32)> {
        let is_wanted = |unit: u32| wanted.get(unit as usize).is_some_and(|&byte| byte != 0);
        self.scored.by_own(most, is_wanted)
    }

    /// Units later than what may be known that would have been found, by (-rank of their own signals, position).
    #[pyo3(signature = (limit, /))]
    fn withheld(&self, limit: usize) -> Vec<ScoredUnit> {
        let later = self.scored.best_withheld();
        let later = later.take_while(|one| one.rank > 0.0).take(limit);
        later.map(|one| self.unit(one)).collect()
    }

    /// The score of one paragraph; None when it was not looked into.
    #[pyo3(signature = (path, index, /))]
    fn score_of(&self, path: &str, index: u32) -> Option<f32> {
        let number = self.corpus.paragraph(path, index)?;
        self.scored.score_of(number)
    }

    /// These scores with those of other wordings of the same question over the same corpus.
    #[pyo3(signature = (others, *, mean, most))]
    fn fused(&self, py: Python<'_>, others: Vec<Py<Self>>, mean: f32, most: f32) -> PyResult<Self> {
        let others: Vec<&Self> = others.iter().map(Py::get).collect();
        if others
            .iter()
            .any(|other| !Arc::ptr_eq(&other.corpus, &self.corpus))
        {
            return Err(PyValueError::new_err(
                "the wordings were asked of another corpus",
            ));
        }
        let scored: Vec<&Scored> = others.iter().map(|other| &other.scored).collect();
        Ok(Self {
            scored: py.detach(|| fuse(&self.corpus, &self.scored, &scored, mean, most)),
            corpus: Arc::clone(&self.corpus),
        })
    }

    /// Number of paragraphs that were looked into.
    fn __len__(&self) -> usize {
        self.scored.scores.len()
    }
}

impl CorpusScores {
    fn unit(&self, one: &scored::ScoredUnit) -> ScoredUnit {
        let unit = &self.corpus.table.units[one.unit as usize];
        let document = &self.corpus.documents[unit.document as usize];
        let position = one.unit - document.first_unit;
        let best = self.scored.best_of(&self.corpus, one.unit);
        ScoredUnit {
            path: document.rows.path.clone(),
            unit: position,
            number: one.unit,
            label: document.rows.units[position as usize].label.clone(),
            chapter: unit.chapter,
            rank: one.rank,
            own: one.own,
            told: one.told,
            asked: one.asked,
            best: best.map(|(number, _)| number - document.first_paragraph),
            best_score: best.map_or(0.0, |(_, score)| score),
        }
    }

    fn place(&self, number: u32) -> (&str, u32) {
        let unit = &self.corpus.table.units[self.corpus.unit_of(number)];
        let document = &self.corpus.documents[unit.document as usize];
        (&document.rows.path, number - document.first_paragraph)
    }
}
