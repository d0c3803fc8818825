//! `allocate`: the budget for Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::budget::{Decision, Item, Layer, allocate as allocate_tokens};

type LayerRow = (u32, u32, u32, u32, u32);
type ItemRow = (
    usize,
    u32,
    Option<u32>,
    bool,
    bool,
    Option<usize>,
    Option<usize>,
    f64,
    PyBackedStr,
    PyBackedStr,
);

/// Decide which items enter; returns (decision per item, granted per layer, used per layer).
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts lists owned")]
#[pyo3(signature = (available, layers, headings, items, /))]
pub fn allocate(
    py: Python<'_>,
    available: u32,
    layers: Vec<LayerRow>,
    headings: Vec<u32>,
    items: Vec<ItemRow>,
) -> PyResult<(Vec<i64>, Vec<u32>, Vec<u32>)> {
    let layers: Vec<Layer> = layers
        .iter()
        .map(|&(ratio, min, max, overhead, priority)| Layer {
            ratio,
            min,
            max,
            overhead,
            priority,
        })
        .collect();
    let allocation = py
        .detach(|| {
            let rows: Vec<Item<'_>> = items.iter().map(item).collect();
            allocate_tokens(available, &layers, &headings, &rows)
        })
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let decisions = allocation
        .decisions
        .iter()
        .map(|&decision| code(decision))
        .collect();
    Ok((decisions, allocation.granted, allocation.used))
}

fn item(row: &ItemRow) -> Item<'_> {
    Item {
        layer: row.0,
        tokens: row.1,
        short: row.2,
        pinned: row.3,
        truncatable: row.4,
        group: row.5,
        bundle: row.6,
        score: row.7,
        source: &row.8,
        id: &row.9,
    }
}

/// Tokens granted to a truncated item, or a negative code: -1 omitted, -2 short, -3 full.
fn code(decision: Decision) -> i64 {
    match decision {
        Decision::Truncated(tokens) => i64::from(tokens),
        Decision::Omitted => -1,
        Decision::Short => -2,
        Decision::Full => -3,
    }
}
