//! Frozen values for Python that compare, hash and print.

/// Equality, hash, print and pickling of a frozen value are those of the tuple of its fields.
macro_rules! value {
    ($class:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        impl $class {
            fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
                ($(&self.$field,)+).into_pyobject(py)
            }
        }

        #[pymethods]
        impl $class {
            #[new]
            #[allow(clippy::too_many_arguments, reason = "one per field")]
            fn new($($field: $type),+) -> Self {
                Self { $($field),+ }
            }

            fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
                self.fields(py)
            }

            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, pyo3::types::PyTuple>> {
                pyo3::types::PyTuple::new(py, [$(stringify!($field)),+])
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

pub(super) use value;
