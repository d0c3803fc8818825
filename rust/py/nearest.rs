//! `SignIndex`: float32 rows in, keys and similarities out.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, TryLockError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::nearest::SignIndex as Signs;

/// Slots from which a search takes so long that others should run meanwhile.
const LONG: usize = 50_000;

/// Nearest vectors by cosine: signs first, then exactly. Read by many threads, written by one at a time.
#[pyclass(frozen, module = "armarius._core")]
pub struct SignIndex(RwLock<Signs>);

impl SignIndex {
    fn read(&self) -> RwLockReadGuard<'_, Signs> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut Signs) -> T + Send) -> T {
        py.detach(|| change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|four| f32::from_le_bytes(*four))
        .collect()
}

#[pymethods]
impl SignIndex {
    #[new]
    #[pyo3(signature = (dimension, /))]
    fn new(dimension: usize) -> Self {
        Self(RwLock::new(Signs::new(dimension.max(1))))
    }

    /// What `to_bytes` gave; None for anything else.
    #[staticmethod]
    #[pyo3(signature = (data, /))]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> Option<Self> {
        py.detach(|| Signs::from_bytes(data))
            .map(|index| Self(RwLock::new(index)))
    }

    #[getter]
    fn dimension(&self) -> usize {
        self.read().dimension()
    }

    fn __len__(&self) -> usize {
        self.read().len()
    }

    /// Add or replace; `rows` are float32, little-endian, one after the other.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "extracted from Python, owned for the detached work"
    )]
    #[pyo3(signature = (keys, rows, /))]
    fn put(&self, py: Python<'_>, keys: Vec<u64>, rows: &[u8]) {
        self.change(py, |index| index.put(&keys, &floats(rows)));
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "extracted from Python, owned for the detached work"
    )]
    #[pyo3(signature = (keys, /))]
    fn remove(&self, py: Python<'_>, keys: Vec<u64>) {
        self.change(py, |index| index.remove(&keys));
    }

    /// Code all vectors by their mean of now.
    fn centre(&self, py: Python<'_>) {
        self.change(py, Signs::centre);
    }

    /// Keys and similarities, best first; `compared` vectors at least are compared exactly.
    #[pyo3(signature = (row, limit, compared, /))]
    fn search(
        &self,
        py: Python<'_>,
        row: &[u8],
        limit: usize,
        compared: usize,
    ) -> (Vec<u64>, Vec<f32>) {
        let question = floats(row);
        let ask = |index: &Signs| index.search(&question, limit, compared);
        let found = match self.0.try_read() {
            Ok(index) if index.len() < LONG => ask(&index),
            Err(TryLockError::Poisoned(index)) => ask(&index.into_inner()),
            // Written at this moment, or long to search. The lock is let go first: nobody waits for the interpreter with it.
            waiting => {
                drop(waiting);
                py.detach(|| ask(&self.read()))
            }
        };
        found
            .into_iter()
            .map(|one| (one.key, one.similarity))
            .unzip()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.read().to_bytes());
        PyBytes::new(py, &bytes)
    }
}
