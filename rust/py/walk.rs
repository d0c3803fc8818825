//! `walk` for Python.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

type Files = Vec<(OsString, u64, String, i64)>;
type Refusals = Vec<(OsString, String)>;

/// Files below `root` as `(path, size, stamp, changed_ns)`, and refusals as `(path, reason)`.
#[pyfunction]
#[pyo3(signature = (root, exclude, only))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "extracted from Python, owned for the detached walk"
)]
pub fn walk(
    py: Python<'_>,
    root: PathBuf,
    exclude: Vec<String>,
    only: Vec<PathBuf>,
) -> PyResult<(Files, Refusals)> {
    let (found, refused) = py
        .detach(|| crate::files::walk::walk(&root, &exclude, &only))
        .map_err(|error| PyValueError::new_err(format!("exclude: {error}")))?;
    Ok((
        found
            .into_iter()
            .map(|f| (f.path.into_os_string(), f.size, f.stamp, f.changed_ns))
            .collect(),
        refused
            .into_iter()
            .map(|r| (r.path.into_os_string(), r.reason))
            .collect(),
    ))
}
