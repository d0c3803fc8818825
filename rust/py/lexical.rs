//! `lexical_embed`: texts in, little-endian float32 out.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

use super::signals::detached;

/// Hashed n-gram vectors, row-major little-endian float32, `len(texts) * dimension * 4` bytes.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts lists owned")]
#[pyo3(signature = (texts, dimension))]
pub fn lexical_embed(
    py: Python<'_>,
    texts: Vec<PyBackedStr>,
    dimension: usize,
) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = detached(py, || {
        crate::text::lexical::embed(&texts, dimension)
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect::<Vec<u8>>()
    })?;
    Ok(PyBytes::new(py, &bytes))
}
