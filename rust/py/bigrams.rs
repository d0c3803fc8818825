//! Full-text tokens for Python: whole batches at once.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use rayon::prelude::*;

use super::signals::{detached, in_pieces};
use crate::threads::spread;

/// Texts of this many bytes together are worth all cores.
const SPREAD_ABOVE: usize = 64 * 1024;
/// Bytes of text between two looks for signals; a text longer than that has the calling thread and looks inside.
const PIECE: usize = 1 << 20;

/// The index tokens of each text.
#[pyfunction]
#[pyo3(signature = (texts, /))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "extracted from Python, owned for the detached work"
)]
pub fn index_tokens(py: Python<'_>, texts: Vec<PyBackedStr>) -> PyResult<Vec<String>> {
    let one = |text: &PyBackedStr| crate::text::bigrams::index_tokens(text);
    in_pieces(py, &texts, PIECE, |_, piece| {
        let size = piece.iter().map(|text| text.len()).sum::<usize>();
        if size < SPREAD_ABOVE || piece.len() == 1 {
            return Ok::<_, PyErr>(piece.iter().map(one).collect());
        }
        Ok(spread(|| piece.par_iter().map(one).collect()))
    })
}

/// A term as an FTS5 phrase, "" when nothing of it is indexed.
#[pyfunction]
#[pyo3(signature = (term, /))]
pub fn term_phrase(term: &str) -> String {
    crate::text::bigrams::phrase(term)
}

/// The distinct grams of a text in order of first occurrence.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub fn text_grams(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
    detached(py, || crate::text::bigrams::grams(text))
}

/// Where the terms stand in each text: code-point spans, sorted, merged.
#[pyfunction]
#[pyo3(signature = (texts, terms, /))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "extracted from Python, owned for the detached work"
)]
pub fn find_terms(
    py: Python<'_>,
    texts: Vec<PyBackedStr>,
    terms: Vec<String>,
) -> PyResult<Vec<Vec<(u32, u32)>>> {
    detached(py, || {
        texts
            .iter()
            .map(|text| crate::text::bigrams::find_terms(text, &terms))
            .collect()
    })
}
