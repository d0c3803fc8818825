//! `Corpus`: the parts of a project as one.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use super::part::CorpusPart;
use super::query::CorpusQuery;
use super::scores::CorpusScores;
use crate::corpus::corpus::Corpus as Whole;
use crate::corpus::part::Part;
use crate::corpus::score::{frequencies, rarities, score};
use crate::corpus::stretch::stretches;
use crate::corpus::symbols;

/// The documents of a project in path order, immutable; a change makes another that shares what has not changed.
#[pyclass(frozen, module = "armarius._core")]
pub struct Corpus(pub(in crate::py) Arc<Whole>);

// Arguments are extracted by value: that is how PyO3 hands over a list.
#[allow(clippy::needless_pass_by_value)]
#[pymethods]
impl Corpus {
    /// From parts in any order.
    #[new]
    #[pyo3(signature = (parts, /))]
    fn new(py: Python<'_>, parts: Vec<PyRef<'_, CorpusPart>>) -> PyResult<Self> {
        let parts = taken(&parts);
        Ok(Self(Arc::new(py.detach(|| Whole::new(parts))?)))
    }

    /// From what `CorpusPart.to_bytes` gave.
    #[staticmethod]
    #[pyo3(signature = (parts, /))]
    fn open(py: Python<'_>, parts: Vec<PyBackedBytes>) -> PyResult<Self> {
        Ok(Self(Arc::new(py.detach(|| Whole::open(&parts))?)))
    }

    /// From (path, number of paragraphs, bytes, where what `to_bytes` gave begins) of each document: the corpus of those that can be read, and what is wrong
    /// with the others, by path.
    #[staticmethod]
    #[pyo3(signature = (parts, /))]
    fn recover(
        py: Python<'_>,
        parts: Vec<(PyBackedStr, usize, PyBackedBytes, usize)>,
    ) -> PyResult<(Self, BTreeMap<String, String>)> {
        let (corpus, damaged) = py.detach(|| Whole::recover(&parts))?;
        Ok((Self(Arc::new(corpus)), damaged))
    }

    /// The corpus after a change: parts replace or join those of their paths, removed paths go.
    #[pyo3(signature = (changed, removed = Vec::new()))]
    fn with_parts(
        &self,
        py: Python<'_>,
        changed: Vec<PyRef<'_, CorpusPart>>,
        removed: Vec<String>,
    ) -> PyResult<Self> {
        let changed = taken(&changed);
        Ok(Self(Arc::new(
            py.detach(|| self.0.with(changed, &removed))?,
        )))
    }

    /// Documents by path.
    #[getter]
    fn paths(&self) -> Vec<&str> {
        self.0
            .documents
            .iter()
            .map(|one| one.rows.path.as_str())
            .collect()
    }

    /// Path and label of each unit, by number.
    #[getter]
    fn units(&self) -> Vec<(&str, &str)> {
        let documents = self.0.documents.iter();
        documents
            .flat_map(|one| {
                let units = one.rows.units.iter();
                units.map(|unit| (one.rows.path.as_str(), unit.label.as_str()))
            })
            .collect()
    }

    /// Bytes in memory.
    #[getter]
    fn resident_bytes(&self) -> usize {
        self.0.resident_bytes()
    }

    /// Number of paragraphs.
    fn __len__(&self) -> usize {
        self.0.table.columns.body.len()
    }

    /// Score the paragraphs and units.
    #[pyo3(signature = (query, /))]
    fn score(&self, py: Python<'_>, query: &CorpusQuery) -> PyResult<CorpusScores> {
        let scored = py.detach(|| score(&self.0, &query.0))?;
        Ok(CorpusScores {
            corpus: Arc::clone(&self.0),
            scored,
        })
    }

    /// The best stretches for the words of a text, of what the question `within` may find: path, first paragraph, one
    /// past the last, and how much of the rarity of the words it holds, 0 to 1.
    #[pyo3(signature = (text, within, limit, /))]
    fn stretches(
        &self,
        py: Python<'_>,
        text: &str,
        within: &CorpusQuery,
        limit: usize,
    ) -> Vec<(&str, u32, u32, f32)> {
        let found = py.detach(|| stretches(&self.0, text, &within.0.filter, limit));
        let placed = found.into_iter().map(|one| {
            let path = &*self.0.documents[one.document].rows.path;
            (path, one.first, one.end, one.share)
        });
        placed.collect()
    }

    /// Where each name is defined in source code: (path, paragraph).
    #[pyo3(signature = (names, /))]
    fn definitions(&self, names: Vec<PyBackedStr>) -> Vec<Vec<(&str, u32)>> {
        names
            .iter()
            .map(|name| symbols::definitions(&self.0, name))
            .collect()
    }

    /// Where each name is called in source code: (path, paragraph).
    #[pyo3(signature = (names, /))]
    fn calls(&self, names: Vec<PyBackedStr>) -> Vec<Vec<(&str, u32)>> {
        names
            .iter()
            .map(|name| symbols::calls(&self.0, name))
            .collect()
    }

    /// In how many paragraphs each text stands, all of its terms.
    #[pyo3(signature = (texts, /))]
    fn frequencies(&self, texts: Vec<PyBackedStr>) -> Vec<u64> {
        frequencies(&self.0, texts.iter().map(|text| &**text))
    }

    /// How much it says that a text stands in a paragraph: ln(1 + (N - n + 1/2) / (n + 1/2)).
    #[pyo3(signature = (texts, /))]
    fn rarities(&self, texts: Vec<PyBackedStr>) -> Vec<f64> {
        rarities(&self.0, texts.iter().map(|text| &**text))
    }
}

fn taken(parts: &[PyRef<'_, CorpusPart>]) -> Vec<Part> {
    parts.iter().map(|part| part.0.clone()).collect()
}
