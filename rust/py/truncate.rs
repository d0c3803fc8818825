//! `truncate` for Python: conversions and nothing else.

use pyo3::prelude::*;

use super::signals::detached;
use super::tokens::{DETACH_ABOVE, TokenCounter};
use super::value::value;
use crate::text::offsets::CodePoints;
use crate::text::segment::is_grapheme_boundary;
use crate::truncate::{Boundary, Keep, truncate as cut_text};

pyo3::import_exception!(armarius.errors, ContractError);

/// The longest piece that fits; the span is in code points, half-open.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct Cut {
    /// First code point.
    pub start: usize,
    /// Code point after the last.
    pub end: usize,
    /// Tokens of the piece.
    pub tokens: usize,
    /// Whether more text around this one could not have changed the piece.
    pub settled: bool,
}

value!(Cut {
    start: usize,
    end: usize,
    tokens: usize,
    settled: bool
});

/// `at`, in code points, moved back to where no user-perceived character is torn.
#[pyfunction]
#[pyo3(signature = (text, at, /))]
pub fn grapheme_floor(text: &str, at: usize) -> usize {
    let starts: Vec<usize> = text.char_indices().map(|(byte, _)| byte).collect();
    let mut at = at.min(starts.len());
    while at > 0 && at < starts.len() && !is_grapheme_boundary(text, starts[at]) {
        at -= 1;
    }
    at
}

/// The longest piece of a text that fits.
#[pyfunction]
#[pyo3(signature = (text, max_tokens, keep, anchor, boundary, counter, /))]
pub fn truncate(
    py: Python<'_>,
    text: &str,
    max_tokens: usize,
    keep: &str,
    anchor: usize,
    boundary: &str,
    counter: &TokenCounter,
) -> PyResult<Cut> {
    let keep = match keep {
        "head" => Keep::Head,
        "tail" => Keep::Tail,
        "around" => Keep::Around(
            text.char_indices()
                .nth(anchor)
                .map_or(text.len(), |(at, _)| at),
        ),
        other => {
            return Err(ContractError::new_err(format!(
                "keep must be 'head', 'tail' or 'around', got {other:?}"
            )));
        }
    };
    let boundary = match boundary {
        "character" => Boundary::Character,
        "sentence" => Boundary::Sentence,
        "paragraph" => Boundary::Paragraph,
        other => {
            return Err(ContractError::new_err(format!(
                "boundary must be 'sentence', 'paragraph' or 'character', got {other:?}"
            )));
        }
    };
    let counter = &counter.counter;
    let cut = if text.len() < DETACH_ABOVE {
        cut_text(counter, text, max_tokens, keep, boundary)?
    } else {
        detached(py, || cut_text(counter, text, max_tokens, keep, boundary))??
    };
    let (start, end) = CodePoints::new(text).span(cut.start, cut.end);
    Ok(Cut {
        start,
        end,
        tokens: cut.tokens,
        settled: cut.settled,
    })
}
