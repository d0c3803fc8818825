//! What was counted of names, for Python: tables are dicts, their keys a str or a tuple of as many as they have parts.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use super::signals::detached;
use crate::names::sum::Sum;
use crate::names::{Counted, Key, PARTS, packed};

/// Which rows held counts; places of characters and their times, little-endian u32; the tables.
type Added<'py> = (
    Vec<bool>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Vec<Bound<'py, PyDict>>,
);
type Row = ([Vec<u8>; PARTS], u32);

/// Counts of one document as bytes: places of characters (u32, ascending), their times (u32), tables.
#[pyfunction]
#[pyo3(signature = (places, times, tables, parts, /))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts lists owned")]
pub fn pack_name_counts<'py>(
    py: Python<'py>,
    places: &[u8],
    times: &[u8],
    tables: Vec<Bound<'py, PyDict>>,
    parts: Vec<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    check(&parts)?;
    let rows = tables
        .iter()
        .zip(&parts)
        .map(|(table, &parts)| read_table(table, parts))
        .collect::<PyResult<Vec<_>>>()?;
    let counted = Counted {
        characters: numbers(places).zip(numbers(times)).collect(),
        tables: rows.iter().map(|rows| sorted(rows)).collect(),
    };
    Ok(PyBytes::new(py, &packed::to_bytes(&counted, &parts)))
}

/// The sum of packed counts with characters below `places`; what holds none adds nothing.
#[pyfunction]
#[pyo3(signature = (rows, places, parts, /))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts lists owned")]
pub fn add_name_counts(
    py: Python<'_>,
    rows: Vec<PyBackedBytes>,
    places: u32,
    parts: Vec<usize>,
) -> PyResult<Added<'_>> {
    check(&parts)?;
    let (sound, sum) = detached(py, || {
        let mut sum = Sum::new(places, parts.len());
        let sound = rows.iter().map(|bytes| sum.add(bytes, &parts)).collect();
        (sound, sum)
    })?;
    let (mut places, mut times) = (Vec::new(), Vec::new());
    for (place, count) in sum.occurring() {
        places.extend_from_slice(&place.to_le_bytes());
        times.extend_from_slice(&count.to_le_bytes());
    }
    let names = sum
        .names
        .iter()
        .map(|name| text_of(py, name))
        .collect::<PyResult<Vec<_>>>()?;
    let tables = sum
        .tables
        .iter()
        .zip(&parts)
        .map(|(table, &parts)| written(py, table.rows(), parts, &names))
        .collect::<PyResult<Vec<_>>>()?;
    let (places, times) = (PyBytes::new(py, &places), PyBytes::new(py, &times));
    Ok((sound, places, times, tables))
}

fn check(parts: &[usize]) -> PyResult<()> {
    if parts.iter().any(|parts| !(1..=PARTS).contains(parts)) {
        return Err(PyValueError::new_err(format!(
            "a key has one to {PARTS} parts"
        )));
    }
    Ok(())
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let (fours, _) = bytes.as_chunks::<4>();
    fours.iter().map(|four| u32::from_le_bytes(*four))
}

fn read_table(table: &Bound<'_, PyDict>, parts: usize) -> PyResult<Vec<Row>> {
    let mut rows = Vec::with_capacity(table.len());
    for (key, times) in table.iter() {
        let mut names: [Vec<u8>; PARTS] = Default::default();
        if parts == 1 {
            names[0] = bytes_of(key.cast()?)?;
        } else {
            let key = key.cast::<PyTuple>()?;
            for (name, part) in names.iter_mut().zip(key.iter()).take(parts) {
                *name = bytes_of(part.cast()?)?;
            }
        }
        rows.push((names, times.extract()?));
    }
    Ok(rows)
}

fn sorted(rows: &[Row]) -> Vec<(Key<'_>, u32)> {
    let mut rows: Vec<_> = rows
        .iter()
        .map(|(names, times)| (names.each_ref().map(Vec::as_slice), *times))
        .collect();
    rows.sort_unstable();
    rows
}

fn written<'py>(
    py: Python<'py>,
    rows: &[([u32; PARTS], u32)],
    parts: usize,
    names: &[Bound<'py, PyString>],
) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let name = |number: u32| &names[number as usize];
    for &([one, two, three], times) in rows {
        match parts {
            1 => table.set_item(name(one), times)?,
            2 => table.set_item((name(one), name(two)), times)?,
            _ => table.set_item((name(one), name(two), name(three)), times)?,
        }
    }
    Ok(table)
}

/// UTF-8; lone surrogates, which ids of a host may have, as Python encodes them when it is told to let them pass.
fn bytes_of(name: &Bound<'_, PyString>) -> PyResult<Vec<u8>> {
    if let Ok(text) = name.to_str() {
        return Ok(text.as_bytes().to_vec());
    }
    name.call_method1("encode", ("utf-8", "surrogatepass"))?
        .extract()
}

fn text_of<'py>(py: Python<'py>, name: &[u8]) -> PyResult<Bound<'py, PyString>> {
    if let Ok(text) = std::str::from_utf8(name) {
        return Ok(PyString::new(py, text));
    }
    let bytes = PyBytes::new(py, name);
    PyString::from_encoded_object(&bytes, Some(c"utf-8"), Some(c"surrogatepass"))
}
