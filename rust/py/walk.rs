//! `walk` for Python.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

use super::signals::Signals;
use crate::files::walk::walk as walk_folder;

use super::value::value;

pyo3::import_exception!(armarius.errors, ContractError);

/// A file that a walk met, as it was then.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct WalkedFile {
    /// Relative to the folder walked, as the system writes paths.
    pub path: OsString,
    /// Bytes.
    pub size: u64,
    /// Differs when the file may have changed.
    pub stamp: String,
    /// When it last changed, nanoseconds since 1970.
    pub changed_ns: i64,
}

value!(WalkedFile {
    path: OsString,
    size: u64,
    stamp: String,
    changed_ns: i64
});

type Refusals = Vec<(OsString, String)>;

/// What a walk rested on.
#[pyclass(frozen, module = "armarius._core")]
pub struct Seen(crate::files::seen::Seen);

#[pymethods]
impl Seen {
    /// Whether another walk would answer the same; false also when that cannot be told without one.
    fn holds(&self, py: Python<'_>) -> bool {
        py.detach(|| self.0.holds())
    }
}

/// Files below `root`, refusals as `(path, reason)`, and what all of that rests on; hidden files that `opened` matches.
#[pyfunction]
#[pyo3(signature = (root, exclude, only, opened = Vec::new()))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "extracted from Python, owned for the detached walk"
)]
pub fn walk(
    py: Python<'_>,
    root: PathBuf,
    exclude: Vec<String>,
    only: Vec<PathBuf>,
    opened: Vec<String>,
) -> PyResult<(Vec<WalkedFile>, Refusals, Seen)> {
    let mut signals = Signals::new();
    let walked =
        py.detach(|| walk_folder(&root, &exclude, &only, &opened, &mut || signals.go_on()));
    signals.finish()?;
    let (found, refused, seen) =
        walked.map_err(|error| ContractError::new_err(format!("exclude: {error}")))?;
    Ok((
        found
            .into_iter()
            .map(|f| WalkedFile {
                path: f.path.into_os_string(),
                size: f.size,
                stamp: f.stamp,
                changed_ns: f.changed_ns,
            })
            .collect(),
        refused
            .into_iter()
            .map(|r| (r.path.into_os_string(), r.reason))
            .collect(),
        Seen(seen),
    ))
}
