//! Files read for Python, many at once.

use std::io::{Error, ErrorKind};
use std::path::PathBuf;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::files::open::{Unread, read_many_below};

pyo3::import_exception!(armarius.io, Refused);
pyo3::import_exception!(armarius.io, TooLarge);

/// The bytes of each file below `root`, or the error that says why not; `limit` in bytes.
#[pyfunction]
#[pyo3(signature = (root, paths, limit, /))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "extracted from Python, owned for the detached work"
)]
pub fn read_files(
    py: Python<'_>,
    root: PathBuf,
    paths: Vec<PathBuf>,
    limit: u64,
) -> PyResult<Bound<'_, PyList>> {
    let found = py.detach(|| read_many_below(&root, &paths, limit));
    let answers = PyList::empty(py);
    for (path, one) in paths.iter().zip(found) {
        let name = path
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        match one {
            Ok(data) => answers.append(PyBytes::new(py, &data))?,
            Err(Unread::TooLarge(size)) => {
                answers.append(TooLarge::new_err((name, limit, size)).value(py))?;
            }
            Err(Unread::Failed(error)) => answers.append(failure(&error, name).value(py))?,
        }
    }
    Ok(answers)
}

/// As `armarius.files` raises it.
fn failure(error: &Error, name: String) -> PyErr {
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::NotADirectory, _) => Refused::new_err(("not a folder", name)),
        (_, None) => Refused::new_err((error.to_string(), name)),
        (ErrorKind::NotFound, _) => PyOSError::new_err((2, "No such file or directory", name)),
        (_, Some(code)) => {
            let told = error.to_string();
            let what = told.split(" (os error").next().unwrap_or(&told).to_owned();
            PyOSError::new_err((code, what, name))
        }
    }
}
