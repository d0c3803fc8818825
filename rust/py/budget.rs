//! `allocate`: the budget for Python.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use super::value::value;
use crate::budget::{Decision, Item, Layer, allocate as allocate_tokens};

pyo3::import_exception!(armarius.errors, ContractError);

/// What one layer may take.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct BudgetLayer {
    /// Share of the budget in basis points (1500 = 15 %).
    pub ratio: u32,
    /// Tokens granted before any ratio is looked at, if the layer has that much to offer.
    pub minimum: u32,
    /// Tokens never exceeded, except by what is pinned.
    pub maximum: u32,
    /// Tokens that the layer's own fence costs once anything stands in it.
    pub overhead: u32,
    /// Layers with a smaller number are served first.
    pub priority: u32,
}

/// One candidate, measured.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct BudgetItem {
    /// Index into the layers.
    pub layer: usize,
    /// Tokens of the full form, separators included.
    pub tokens: u32,
    /// Tokens of the short form, if there is one.
    pub short: Option<u32>,
    /// Enters before anything that is not pinned.
    pub pinned: bool,
    /// May be cut to fewer tokens.
    pub truncatable: bool,
    /// Index into the headings.
    pub group: Option<usize>,
    /// Items of one layer with the same number enter together.
    pub bundle: Option<usize>,
    /// Higher is better; NaN sorts last.
    pub score: f64,
    /// Second sort key.
    pub source: PyBackedStr,
    /// Third sort key.
    pub candidate_id: PyBackedStr,
}

value!(BudgetLayer {
    ratio: u32,
    minimum: u32,
    maximum: u32,
    overhead: u32,
    priority: u32
});
value!(BudgetItem {
    layer: usize,
    tokens: u32,
    short: Option<u32>,
    pinned: bool,
    truncatable: bool,
    group: Option<usize>,
    bundle: Option<usize>,
    score: f64,
    source: PyBackedStr,
    candidate_id: PyBackedStr,
});

/// What becomes of the items, and what the layers take.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct Allocation {
    /// Per item: tokens that it may be cut to, or -1 omitted, -2 short, -3 full.
    pub decisions: Vec<i64>,
    /// Tokens per layer, before what others left went round.
    pub granted: Vec<u32>,
    /// Tokens per layer at the end, overhead and headings included.
    pub used: Vec<u32>,
}

#[pymethods]
impl Allocation {
    fn __repr__(&self) -> String {
        let omitted = self.decisions.iter().filter(|&&d| d == -1).count();
        let (items, used) = (self.decisions.len(), &self.used);
        format!("Allocation({items} items, {omitted} omitted, used={used:?})")
    }
}

/// Decide which items enter.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts lists owned")]
#[pyo3(signature = (available, layers, headings, items, /))]
pub fn allocate(
    py: Python<'_>,
    available: u32,
    layers: Vec<Py<BudgetLayer>>,
    headings: Vec<u32>,
    items: Vec<Py<BudgetItem>>,
) -> PyResult<Allocation> {
    let layers: Vec<Layer> = layers.iter().map(|row| layer(row.get())).collect();
    let allocation = py
        .detach(|| {
            let rows: Vec<Item<'_>> = items.iter().map(|row| item(row.get())).collect();
            allocate_tokens(available, &layers, &headings, &rows)
        })
        .map_err(|error| ContractError::new_err(error.to_string()))?;
    let decisions = allocation
        .decisions
        .iter()
        .map(|&decision| code(decision))
        .collect();
    Ok(Allocation {
        decisions,
        granted: allocation.granted,
        used: allocation.used,
    })
}

fn layer(row: &BudgetLayer) -> Layer {
    Layer {
        ratio: row.ratio,
        min: row.minimum,
        max: row.maximum,
        overhead: row.overhead,
        priority: row.priority,
    }
}

fn item(row: &BudgetItem) -> Item<'_> {
    Item {
        layer: row.layer,
        tokens: row.tokens,
        short: row.short,
        pinned: row.pinned,
        truncatable: row.truncatable,
        group: row.group,
        bundle: row.bundle,
        score: row.score,
        source: &row.source,
        id: &row.candidate_id,
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
