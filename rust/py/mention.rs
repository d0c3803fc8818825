//! What the matcher hands to Python: frozen values that compare, hash and print.

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// One occurrence of an alias; the span is in code points, half-open.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct Mention {
    /// Whose alias it is.
    pub entity_id: Py<PyString>,
    /// What was written: `text[start:end]`.
    pub term: Py<PyString>,
    /// First code point.
    pub start: u32,
    /// Code point after the last.
    pub end: u32,
}

/// The first mention of an entity.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct Match {
    /// Which entity.
    pub entity_id: Py<PyString>,
    /// What was written.
    pub matched_term: Py<PyString>,
    /// First code point.
    pub position: u32,
}

/// An alias that stands in the text and is not a mention, with the reason.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct Rejection {
    /// Whose alias it is.
    pub entity_id: Py<PyString>,
    /// What was written: `text[start:end]`.
    pub term: Py<PyString>,
    /// First code point.
    pub start: u32,
    /// Code point after the last.
    pub end: u32,
    /// Stable words: shadowed, inside a word, splits a character.
    pub reason: Py<PyString>,
    /// The longer name that covers it, if one does.
    pub by: Option<Py<PyString>>,
}

/// Equality, hash, print and pickling of a frozen value are those of the tuple of its fields.
macro_rules! value {
    ($class:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        impl $class {
            fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                ($(&self.$field,)+).into_pyobject(py)
            }
        }

        #[pymethods]
        impl $class {
            #[new]
            fn new($($field: $type),+) -> Self {
                Self { $($field),+ }
            }

            fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                self.fields(py)
            }

            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
                PyTuple::new(py, [$(stringify!($field)),+])
            }

            fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
                match other.cast::<Self>() {
                    Ok(other) => self.fields(py)?.eq(other.get().fields(py)?),
                    Err(_) => Ok(false),
                }
            }

            fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
                self.fields(py)?.hash()
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let fields = self.fields(py)?;
                let names = [$(stringify!($field)),+];
                let shown = names.iter().zip(fields.iter());
                let shown = shown.map(|(name, value)| Ok(format!("{name}={}", value.repr()?)));
                Ok(format!("{}({})", stringify!($class), shown.collect::<PyResult<Vec<_>>>()?.join(", ")))
            }
        }
    };
}

value!(Mention { entity_id: Py<PyString>, term: Py<PyString>, start: u32, end: u32 });
value!(Match { entity_id: Py<PyString>, matched_term: Py<PyString>, position: u32 });
value!(Rejection {
    entity_id: Py<PyString>,
    term: Py<PyString>,
    start: u32,
    end: u32,
    reason: Py<PyString>,
    by: Option<Py<PyString>>,
});
