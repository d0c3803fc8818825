//! `KeySet` and `KeyPattern`: the keys of lorebooks for Python.

use pyo3::prelude::*;

use super::signals::detached;
use crate::books::keys;
use crate::books::patterns::{Answer, Flags, Pattern};

pyo3::import_exception!(armarius.errors, ContractError);

/// Many plain keys; which of them stand in a text.
#[pyclass(frozen, module = "armarius._core")]
pub struct KeySet(keys::KeySet);

#[pymethods]
impl KeySet {
    #[new]
    #[pyo3(signature = (keys, ends, /))]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts lists owned")]
    fn new(py: Python<'_>, keys: Vec<String>, ends: Vec<u8>) -> PyResult<Self> {
        if keys.len() != ends.len() {
            return Err(ContractError::new_err("keys and ends differ in length"));
        }
        let rules: Option<Vec<_>> = ends
            .iter()
            .map(|&number| keys::Ends::from_number(number))
            .collect();
        let rules = rules.ok_or_else(|| ContractError::new_err("no such rule for ends"))?;
        let pairs = keys
            .into_iter()
            .map(String::into_boxed_str)
            .zip(rules)
            .collect();
        py.detach(|| keys::KeySet::new(pairs))
            .map(Self)
            .map_err(|error| ContractError::new_err(error.to_string()))
    }

    /// Pairs of key index and byte offset of its last occurrence, by index.
    #[pyo3(signature = (text, /))]
    fn found(&self, py: Python<'_>, text: &str) -> PyResult<Vec<(usize, usize)>> {
        let found = detached(py, || self.0.found(text))?;
        Ok(found.into_iter().map(|one| (one.key, one.last)).collect())
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// One regular expression that always ends.
#[pyclass(frozen, module = "armarius._core")]
pub struct KeyPattern(Pattern);

#[pymethods]
impl KeyPattern {
    #[new]
    #[pyo3(signature = (pattern, /, *, ignore_case = false, multi_line = false, dot_all = false))]
    fn new(pattern: &str, ignore_case: bool, multi_line: bool, dot_all: bool) -> PyResult<Self> {
        let flags = Flags {
            ignore_case,
            multi_line,
            dot_all,
        };
        Pattern::new(pattern, flags)
            .map(Self)
            .map_err(ContractError::new_err)
    }

    /// Byte offset of the first match, -1 when there is none, -2 when the limit of steps was reached.
    #[pyo3(signature = (text, /))]
    fn search(&self, py: Python<'_>, text: &str) -> isize {
        match py.detach(|| self.0.search(text)) {
            Answer::At(at) => at.cast_signed(),
            Answer::Nowhere => -1,
            Answer::GaveUp => -2,
        }
    }

    /// Whether it runs in time linear in the text.
    #[getter]
    fn linear(&self) -> bool {
        matches!(self.0, Pattern::Linear(_))
    }
}
