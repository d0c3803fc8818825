//! Search terms and pieces of a text for Python.

use pyo3::prelude::*;

use super::signals::detached;
use super::tokens::DETACH_ABOVE;
use crate::text::analyzer::{stem as stem_word, term_strings};
use crate::text::pieces::pieces as cut;
use crate::text::shape::shape as shape_of;

/// Spans of the pieces of a long text, none longer than `limit` code points, each ending where it can be read.
#[pyfunction]
pub fn pieces(py: Python<'_>, text: &str, limit: usize) -> PyResult<Vec<(usize, usize)>> {
    detached(py, || cut(text, limit))
}

/// (lines, characters, marked characters, lines with speech, scripts, hashes of sentences) of a text.
#[pyfunction]
pub fn shape(py: Python<'_>, text: &str, most: usize) -> PyResult<ShapeRow> {
    let row = |text: &str| {
        let one = shape_of(text, most);
        (
            one.lines,
            one.length,
            one.marked,
            one.spoken,
            one.scripts,
            one.sentences,
        )
    };
    if text.len() < DETACH_ABOVE {
        return Ok(row(text));
    }
    detached(py, || row(text))
}

type ShapeRow = (usize, usize, usize, usize, [usize; 5], Vec<u32>);

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
