//! `scan`: the ripgrep engine for Python.

use std::path::PathBuf;

use pyo3::exceptions::{PyNotADirectoryError, PyValueError};
use pyo3::prelude::*;

use crate::files::grep::{ScanError, ScanOptions, scan as scan_folder};

type Hit = (String, u64, usize, usize, String);

/// Search every text file under a folder; returns (hits, unread, truncated).
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts paths owned")]
#[pyo3(signature = (root, pattern, *, regex, case_sensitive, globs, limit))]
pub fn scan(
    py: Python<'_>,
    root: PathBuf,
    pattern: &str,
    regex: bool,
    case_sensitive: bool,
    globs: Vec<String>,
    limit: Option<usize>,
) -> PyResult<(Vec<Hit>, Vec<String>, bool)> {
    let options = ScanOptions {
        regex,
        case_sensitive,
        globs,
        limit,
    };
    let found = py
        .detach(|| scan_folder(&root, pattern, &options))
        .map_err(|error| match error {
            ScanError::Root(_) => PyNotADirectoryError::new_err(error.to_string()),
            ScanError::Pattern { .. } | ScanError::Glob(..) => {
                PyValueError::new_err(error.to_string())
            }
        })?;
    let hits = found
        .hits
        .into_iter()
        .map(|hit| (hit.path, hit.line, hit.start, hit.end, hit.text))
        .collect();
    Ok((hits, found.unread, found.truncated))
}
