//! `CorpusPart`: one document.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;

use super::kind_of;
use crate::corpus::part::Part;
use crate::corpus::rows::{Role, Unit};
use crate::corpus::wire;
use crate::py::signals::detached;

/// One document of a corpus, immutable: rows of its paragraphs, its terms, who stands in them.
#[pyclass(frozen, module = "armarius._core")]
pub struct CorpusPart(pub(super) Part);

// Arguments are extracted by value: that is how PyO3 hands over a list.
#[allow(clippy::needless_pass_by_value)]
#[pymethods]
impl CorpusPart {
    /// Read a document: paragraphs are (start, end, role), units (label, chapter, first paragraph), names (paragraph, under
    /// which name it stands, what it defines or "").
    #[new]
    #[pyo3(signature = (path, kind, text, paragraphs, units, names = Vec::new(), /))]
    fn new(
        py: Python<'_>,
        path: &str,
        kind: &str,
        text: &str,
        paragraphs: Vec<(u32, u32, PyBackedStr)>,
        units: Vec<(String, Option<u32>, u32)>,
        names: Vec<(u32, PyBackedStr, PyBackedStr)>,
    ) -> PyResult<Self> {
        let kind = kind_of(kind)?;
        let mut spans = Vec::with_capacity(paragraphs.len());
        for (start, end, role) in &paragraphs {
            spans.push((*start, *end, role_of(role)?));
        }
        let units = units.into_iter().map(|(label, chapter, first)| Unit {
            label,
            chapter,
            first,
        });
        let units = units.collect();
        let names: Vec<(u32, &str, &str)> = names
            .iter()
            .map(|(p, name, own)| (*p, &**name, &**own))
            .collect();
        Ok(Self(detached(py, || {
            Part::with_names(path, kind, text, &spans, units, &names)
        })??))
    }

    /// The part that `to_bytes` gave.
    #[staticmethod]
    #[pyo3(signature = (data, /))]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Self> {
        Ok(Self(py.detach(|| wire::from_bytes(&data))?))
    }

    /// What a store keeps.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| wire::to_bytes(&self.0));
        PyBytes::new(py, &bytes)
    }

    /// The same document with these entities, (paragraph, id, count), in the place of those it had.
    #[pyo3(signature = (rows, /))]
    fn with_entities(&self, py: Python<'_>, rows: Vec<(u32, PyBackedStr, u32)>) -> PyResult<Self> {
        let rows: Vec<(u32, &str, u32)> = rows.iter().map(|(p, id, n)| (*p, &**id, *n)).collect();
        Ok(Self(py.detach(|| self.0.with_entities(&rows))?))
    }

    #[getter]
    fn path(&self) -> &str {
        &self.0.rows.path
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.0.rows.kind.name()
    }

    /// Number of paragraphs.
    fn __len__(&self) -> usize {
        self.0.rows.paragraphs.len()
    }
}

fn role_of(name: &str) -> PyResult<Role> {
    let found = Role::ALL.into_iter().find(|role| role.name() == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
        PyValueError::new_err(format!("role must be one of {names:?}, got {name:?}"))
    })
}
