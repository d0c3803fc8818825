//! `TextIndex` and `terms` for Python.

use std::sync::{PoisonError, RwLock};

use pyo3::prelude::*;

use crate::rank::bm25::{BlockText, Group, Scoring, TextIndex as Index};
use crate::text::analyzer::{stem as stem_word, term_strings};

type PyBlocks = Vec<(String, Vec<(u32, u32)>)>;
type PyGroups = Vec<(Vec<String>, Vec<u32>, f32)>;
type PyRanked = (u64, f32, Vec<(u32, f32)>);

/// BM25 over blocks of text, kept up to date document by document.
#[pyclass(frozen, module = "armarius._core")]
pub struct TextIndex(RwLock<Index>);

#[pymethods]
impl TextIndex {
    #[new]
    fn new() -> Self {
        Self(RwLock::new(Index::default()))
    }

    fn __len__(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Put the blocks of a document, (text, [(entity, count)]), in the place of those it had.
    fn replace(&self, py: Python<'_>, document: u64, blocks: PyBlocks) {
        py.detach(move || {
            let texts: Vec<BlockText<'_>> = blocks
                .iter()
                .map(|(text, entities)| BlockText {
                    text,
                    entities: entities.clone(),
                })
                .collect();
            self.0
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .replace(document, &texts);
        });
    }

    /// Documents by score: (document, score, [(block, score)]); groups are (words, entities, weight).
    #[pyo3(signature = (groups, *, k1, b, decay, limit))]
    fn search(
        &self,
        py: Python<'_>,
        groups: PyGroups,
        k1: f32,
        b: f32,
        decay: Vec<f32>,
        limit: usize,
    ) -> Vec<PyRanked> {
        py.detach(move || {
            let groups: Vec<Group> = groups
                .into_iter()
                .map(|(words, entities, weight)| Group {
                    words,
                    entities,
                    weight,
                })
                .collect();
            let index = self.0.read().unwrap_or_else(PoisonError::into_inner);
            let ranked = index.search(&groups, &Scoring { k1, b, decay }, limit);
            ranked
                .into_iter()
                .map(|ranked| (ranked.document, ranked.score, ranked.blocks))
                .collect()
        })
    }

    /// How often each document holds a word or phrase: (document, count) by document number.
    fn occurrences(&self, py: Python<'_>, word: &str) -> Vec<(u64, u32)> {
        py.detach(|| {
            self.0
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .occurrences(word)
        })
    }
}

/// The search terms of a text in order: pairs of unspaced scripts, stems of words.
#[pyfunction]
pub fn terms(text: &str) -> Vec<String> {
    term_strings(text)
}

/// A lower-case word without its inflection, as `terms` gives it.
#[pyfunction]
pub fn stem(word: &str) -> String {
    stem_word(word)
}
