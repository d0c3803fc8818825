//! Definitions of source text, and what an id is.

use std::ops::Range;

use pyo3::prelude::*;

use crate::code::scan::blocks::blocks;
use crate::code::scan::names::each_call;
use crate::code::scan::python::{ScopeKind, outline};
use crate::py::value::value;

/// A function or a class of a source text; lines are 1-based and inclusive.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct Definition {
    /// `class` for what has members, else `function`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Line of the name.
    pub line: usize,
    /// First line, decorators included.
    pub first_line: usize,
    /// Last line of the body.
    pub last_line: usize,
}

value!(Definition {
    kind: String,
    name: String,
    line: usize,
    first_line: usize,
    last_line: usize
});

/// Functions and classes of Python source, in their order.
#[pyfunction]
pub fn python_outline(text: &str) -> Vec<Definition> {
    let found = outline(text).blocks;
    let rows = found
        .into_iter()
        .map(|b| (b.kind == ScopeKind::Class, b.name, b.extent));
    definitions(text, rows)
}

/// Definitions with bodies in braces, outermost first.
#[pyfunction]
pub fn brace_outline(text: &str) -> Vec<Definition> {
    let rows = blocks(text)
        .into_iter()
        .map(|b| (b.container, b.name, b.extent));
    definitions(text, rows)
}

/// Names that source text calls, each once, in the order of their first call.
#[pyfunction]
pub fn called_names(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    each_call(text, |name| {
        if seen.insert(name) {
            found.push(name);
        }
    });
    found
}

/// Whether an id names a symbol, rather than a local, a parameter or nothing.
#[pyfunction]
pub fn is_symbol(symbol: &str) -> bool {
    crate::code::index::symbol_id::parse(symbol).is_some()
}

fn definitions(
    text: &str,
    rows: impl Iterator<Item = (bool, Range<usize>, Range<usize>)>,
) -> Vec<Definition> {
    let newlines: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
    let line = |offset: usize| newlines.partition_point(|&n| n < offset) + 1;
    rows.map(|(container, name, extent)| Definition {
        kind: if container { "class" } else { "function" }.to_string(),
        line: line(name.start),
        name: text[name].to_string(),
        first_line: line(extent.start),
        last_line: line(extent.end),
    })
    .collect()
}
