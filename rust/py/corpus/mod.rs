//! The corpus for Python: conversions and nothing else.

mod found;
mod part;
mod query;
mod scores;
mod whole;

pub use found::{CorpusCoverage, ScoredUnit};
pub use part::CorpusPart;
pub use query::{CorpusGroup, CorpusQuery, CorpusWeights};
pub use scores::CorpusScores;
pub use whole::Corpus;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::corpus::CorpusError;
use crate::corpus::rows::Kind;

impl From<CorpusError> for PyErr {
    fn from(error: CorpusError) -> Self {
        PyValueError::new_err(error.to_string())
    }
}

fn kind_of(name: &str) -> PyResult<Kind> {
    let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        PyValueError::new_err(format!("kind must be one of {names:?}, got {name:?}"))
    })
}
