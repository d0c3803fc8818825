//! Search terms and pieces of a text for Python.

use pyo3::prelude::*;

use crate::text::analyzer::{stem as stem_word, term_strings};
use crate::text::pieces::pieces as cut;

/// Spans of the pieces of a long text, none longer than `limit` code points, each ending where it can be read.
#[pyfunction]
pub fn pieces(py: Python<'_>, text: &str, limit: usize) -> Vec<(usize, usize)> {
    py.detach(|| cut(text, limit))
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
