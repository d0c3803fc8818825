//! Search terms and pieces of a text for Python.

use pyo3::prelude::*;

use super::signals::detached;
use super::tokens::DETACH_ABOVE;
use crate::text::analyzer::{stem as stem_word, term_strings};
use crate::text::pieces::pieces as cut;

/// Spans of the pieces of a long text, none longer than `limit` code points, each ending where it can be read.
#[pyfunction]
pub fn pieces(py: Python<'_>, text: &str, limit: usize) -> PyResult<Vec<(usize, usize)>> {
    detached(py, || cut(text, limit))
}

/// The search terms of a text in order: pairs of unspaced scripts, stems of words.
#[pyfunction]
pub fn terms(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
    if text.len() < DETACH_ABOVE {
        return Ok(term_strings(text));
    }
    detached(py, || term_strings(text))
}

/// A lower-case word without its inflection, as `terms` gives it.
#[pyfunction]
pub fn stem(word: &str) -> String {
    stem_word(word)
}
