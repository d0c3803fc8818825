//! Search terms for Python.

use pyo3::prelude::*;

use crate::text::analyzer::{stem as stem_word, term_strings};

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
