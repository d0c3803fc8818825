//! `walk` for Python.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

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

/// See `files::events`.
#[pyclass(frozen, module = "armarius._core")]
pub struct EventQueue(Arc<crate::files::events::EventQueue>);

#[pymethods]
impl EventQueue {
    /// A queue; None where there is none, or too many.
    #[staticmethod]
    fn create() -> Option<Self> {
        crate::files::events::EventQueue::create().map(|queue| Self(Arc::new(queue)))
    }
}

/// Whether a folder lies on a file system of this machine, whose calls return.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "extracted from Python, owned for the detached call"
)]
pub fn is_local(py: Python<'_>, folder: PathBuf) -> bool {
    py.detach(|| crate::files::events::is_local(&folder))
}

/// What a walk rested on.
#[pyclass(frozen, module = "armarius._core")]
pub struct Seen(crate::files::seen::Seen);

#[pymethods]
impl Seen {
    /// Whether another walk would answer the same; false also when that cannot be told without one. With `by_stats`, what
    /// the kernel reports is not enough.
    #[pyo3(signature = (*, by_stats = false))]
    fn holds(&self, py: Python<'_>, by_stats: bool) -> bool {
        py.detach(|| self.0.holds(by_stats))
    }
}

/// Files below `root`, refusals as `(path, reason)`, and what all of that rests on; hidden files that `opened` matches.
#[pyfunction]
#[pyo3(signature = (root, exclude, only, opened = Vec::new(), queue = None))]
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
    queue: Option<&EventQueue>,
) -> PyResult<(Vec<WalkedFile>, Refusals, Seen)> {
    let queue = queue.map(|queue| Arc::clone(&queue.0));
    let mut signals = Signals::new();
    let walked = py.detach(|| {
        walk_folder(&root, &exclude, &only, &opened, queue, &mut || {
            signals.go_on()
        })
    });
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
