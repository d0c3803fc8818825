//! What the matcher hands to Python: frozen values that compare, hash and print.

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::value::value;

/// One occurrence of an alias; the span is in code points, half-open.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct Mention {
    /// Whose alias it is.
    pub entity_id: Py<PyString>,
    /// What was written: `text[start:end]`.
    pub term: Py<PyString>,
    /// First code point.
    pub start: u32,
    /// Code point after the last.
    pub end: u32,
}

/// The first mention of an entity.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct Match {
    /// Which entity.
    pub entity_id: Py<PyString>,
    /// What was written.
    pub matched_term: Py<PyString>,
    /// First code point.
    pub position: u32,
}

/// An alias that stands in the text and is not a mention, with the reason.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct Rejection {
    /// Whose alias it is.
    pub entity_id: Py<PyString>,
    /// What was written: `text[start:end]`.
    pub term: Py<PyString>,
    /// First code point.
    pub start: u32,
    /// Code point after the last.
    pub end: u32,
    /// Stable words: shadowed, inside a word, splits a character.
    pub reason: Py<PyString>,
    /// The longer name that covers it, if one does.
    pub by: Option<Py<PyString>>,
}

value!(Mention { entity_id: Py<PyString>, term: Py<PyString>, start: u32, end: u32 });
value!(Match { entity_id: Py<PyString>, matched_term: Py<PyString>, position: u32 });
value!(Rejection {
    entity_id: Py<PyString>,
    term: Py<PyString>,
    start: u32,
    end: u32,
    reason: Py<PyString>,
    by: Option<Py<PyString>>,
});
