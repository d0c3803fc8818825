//! `TokenCounter` for Python: conversions and nothing else.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use rayon::prelude::*;

use super::signals::{detached, in_pieces};
use crate::threads::spread;
use crate::tokens::{Counter, TokensError, encoding_names, knows_model};

pyo3::import_exception!(armarius.errors, CounterError);

/// Texts above this many bytes are counted without the GIL (about a tenth of a millisecond).
pub(super) const DETACH_ABOVE: usize = 16 * 1024;

impl From<TokensError> for PyErr {
    fn from(error: TokensError) -> Self {
        CounterError::new_err(error.to_string())
    }
}

/// Text in, number of tokens out.
#[pyclass(frozen, module = "armarius._core")]
pub struct TokenCounter {
    pub(super) counter: Counter,
}

// Arguments are extracted by value: that is how PyO3 hands over a list.
#[allow(clippy::needless_pass_by_value)]
#[pymethods]
impl TokenCounter {
    /// The counter for a model; never fails for want of a tokenizer, says so instead.
    #[staticmethod]
    #[pyo3(signature = (model, /))]
    fn for_model(py: Python<'_>, model: &str) -> PyResult<Self> {
        let counter = py.detach(|| Counter::for_model(model))?;
        Ok(Self { counter })
    }

    /// The counter of an embedded encoding.
    #[staticmethod]
    #[pyo3(signature = (encoding, /))]
    fn for_encoding(py: Python<'_>, encoding: &str) -> PyResult<Self> {
        let counter = py.detach(|| Counter::for_encoding(encoding))?;
        Ok(Self { counter })
    }

    /// The counter of a Hugging Face `tokenizer.json`.
    #[staticmethod]
    #[pyo3(signature = (path, /))]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let counter = py.detach(|| Counter::from_file(&path))?;
        Ok(Self { counter })
    }

    /// The CJK-aware estimate.
    #[staticmethod]
    fn estimate() -> Self {
        Self {
            counter: Counter::estimate("estimate: asked for".to_owned()),
        }
    }

    /// Whether a model's family is known, with or without a tokenizer.
    #[staticmethod]
    #[pyo3(signature = (model, /))]
    fn knows(model: &str) -> bool {
        knows_model(model)
    }

    /// Names of the embedded encodings.
    #[staticmethod]
    fn encodings() -> Vec<&'static str> {
        encoding_names()
    }

    #[getter]
    fn name(&self) -> &str {
        self.counter.name()
    }

    #[getter]
    fn encoding(&self) -> Option<&'static str> {
        self.counter.encoding()
    }

    #[getter]
    fn exact(&self) -> bool {
        self.counter.exact()
    }

    #[getter]
    fn note(&self) -> &str {
        self.counter.note()
    }

    #[getter]
    fn additive(&self) -> bool {
        self.counter.additive()
    }

    /// Number of tokens.
    #[pyo3(signature = (text, /))]
    fn count(&self, py: Python<'_>, text: &str) -> PyResult<usize> {
        if text.len() < DETACH_ABOVE {
            return Ok(self.counter.count(text)?);
        }
        Ok(detached(py, || self.counter.count(text))??)
    }

    /// `count` of each text, in one crossing and in parallel.
    #[pyo3(signature = (texts, /))]
    fn count_batch(&self, py: Python<'_>, texts: Vec<PyBackedStr>) -> PyResult<Vec<usize>> {
        let size: usize = texts.iter().map(|text| text.len()).sum();
        if size < DETACH_ABOVE {
            return texts
                .iter()
                .map(|text| Ok(self.counter.count(text)?))
                .collect();
        }
        in_pieces(py, &texts, 1 << 19, |_, piece| {
            let one = |text: &PyBackedStr| self.counter.count(text);
            if let [text] = piece {
                return one(text).map(|count| vec![count]);
            }
            spread(|| {
                piece
                    .par_iter()
                    .with_min_len(16)
                    .map(one)
                    .collect::<Result<_, _>>()
            })
        })
    }

    /// A number the model's own count cannot exceed.
    #[pyo3(signature = (text, /))]
    fn upper_bound(&self, py: Python<'_>, text: &str) -> PyResult<usize> {
        Ok(detached(py, || self.counter.upper_bound(text))??)
    }

    /// Whether the text may follow a blank line without changing either side's count.
    #[pyo3(signature = (text, /))]
    fn starts_safely(&self, text: &str) -> bool {
        self.counter.starts_safely(text)
    }
}
