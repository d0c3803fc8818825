//! `scan`: the ripgrep engine for Python.

use std::path::PathBuf;

use pyo3::prelude::*;

use super::signals::Signals;

use super::value::value;
use crate::files::grep::{ScanError, ScanOptions, scan as scan_folder};

pyo3::import_exception!(armarius.errors, ContractError);
pyo3::import_exception!(armarius.errors, ProjectError);

/// One match in one line; `text[start:end]` is what matched.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct ScanHit {
    /// Relative to the scanned folder, `/` between parts.
    pub path: String,
    /// 1-based line number.
    pub line: u64,
    /// First code point of the match in `text`.
    pub start: usize,
    /// One past its last code point.
    pub end: usize,
    /// The whole line without its line break; bytes that are not UTF-8 became U+FFFD.
    pub text: String,
}

value!(ScanHit {
    path: String,
    line: u64,
    start: usize,
    end: usize,
    text: String
});

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
) -> PyResult<(Vec<ScanHit>, Vec<String>, bool)> {
    let options = ScanOptions {
        regex,
        case_sensitive,
        globs,
        limit,
    };
    let mut signals = Signals::new();
    let found = py.detach(|| scan_folder(&root, pattern, &options, &mut || signals.go_on()));
    signals.finish()?;
    let found = found.map_err(|error| match error {
        ScanError::Root(_) => ProjectError::new_err(error.to_string()),
        ScanError::Pattern { .. } | ScanError::Glob(..) => {
            ContractError::new_err(error.to_string())
        }
    })?;
    let hits = found
        .hits
        .into_iter()
        .map(|hit| ScanHit {
            path: hit.path,
            line: hit.line,
            start: hit.start,
            end: hit.end,
            text: hit.text,
        })
        .collect();
    Ok((hits, found.unread, found.truncated))
}
