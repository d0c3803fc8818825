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

/// What of some candidates does not depend on what they cost, in their order.
#[pyclass(frozen, module = "armarius._core")]
pub struct BudgetItems {
    rows: Vec<Row>,
}

/// Layer as an index into the layers, heading as one into the headings, number of a bundle, whether it enters before what
/// is not pinned, whether it may be cut, score, source, id.
type Row = (
    usize,
    Option<usize>,
    Option<usize>,
    bool,
    bool,
    f64,
    PyBackedStr,
    PyBackedStr,
);

#[pymethods]
impl BudgetItems {
    /// A row for each, see `Row`.
    #[new]
    #[pyo3(signature = (rows, /))]
    fn new(rows: Vec<Row>) -> Self {
        Self { rows }
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }
}

value!(BudgetLayer {
    ratio: u32,
    minimum: u32,
    maximum: u32,
    overhead: u32,
    priority: u32
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

/// Decide which items enter, and as last decisions what becomes of each of `around`.
///
/// `tokens` and `shorts` are what the items cost; those at `settled` enter before what is not pinned, as they are, those
/// at `whole` are not cut, those at `barred` never enter. `around` are what may stand around an item, with its tokens: cut to what there is room for.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts lists owned")]
#[expect(clippy::too_many_arguments, reason = "columns")]
#[pyo3(signature = (available, layers, headings, items, tokens, shorts, settled, whole, around, barred, /))]
pub fn allocate(
    py: Python<'_>,
    available: u32,
    layers: Vec<Py<BudgetLayer>>,
    headings: Vec<u32>,
    items: &BudgetItems,
    tokens: Vec<u32>,
    shorts: Vec<Option<u32>>,
    settled: Vec<usize>,
    whole: Vec<usize>,
    around: Vec<(usize, u32)>,
    barred: Vec<usize>,
) -> PyResult<Allocation> {
    let count = items.rows.len();
    let named = settled
        .iter()
        .chain(&whole)
        .chain(&barred)
        .chain(around.iter().map(|(at, _)| at));
    if let Some(at) = named.max().filter(|&&at| at >= count) {
        return Err(ContractError::new_err(format!(
            "there are {count} items, got the index {at}"
        )));
    }
    if tokens.len() != count || shorts.len() != count {
        let (tokens, shorts) = (tokens.len(), shorts.len());
        return Err(ContractError::new_err(format!(
            "there are {count} items, got the tokens of {tokens} and the short forms of {shorts}"
        )));
    }
    let mut enters = vec![true; count];
    for &at in &barred {
        enters[at] = false;
    }
    let layers: Vec<Layer> = layers.iter().map(|row| layer(row.get())).collect();
    let allocation = py
        .detach(|| {
            let costs = tokens.iter().zip(&shorts);
            let mut rows: Vec<Item<'_>> = items
                .rows
                .iter()
                .zip(costs)
                .map(|(row, (&tokens, &short))| item(row, tokens, short))
                .collect();
            let beside: Vec<Item<'_>> = around
                .iter()
                .map(|&(at, tokens)| Item {
                    truncatable: true,
                    bundle: None,
                    ..item(&items.rows[at], tokens, None)
                })
                .collect();
            for &at in &settled {
                rows[at].pinned = true;
            }
            for &at in settled.iter().chain(&whole) {
                rows[at].truncatable = false;
            }
            let mut places = enters.iter();
            rows.retain(|_| places.next() == Some(&true));
            rows.extend(beside);
            allocate_tokens(available, &layers, &headings, &rows)
        })
        .map_err(|error| ContractError::new_err(error.to_string()))?;
    let mut made = allocation.decisions.into_iter().map(code);
    let mut decide = |&enters: &bool| enters.then(|| made.next()).flatten().unwrap_or(-1);
    let mut decisions: Vec<i64> = enters.iter().map(&mut decide).collect();
    decisions.extend(made);
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

fn item(row: &Row, tokens: u32, short: Option<u32>) -> Item<'_> {
    let (layer, group, bundle, pinned, truncatable, score, source, id) = row;
    Item {
        layer: *layer,
        tokens,
        short,
        pinned: *pinned,
        truncatable: *truncatable,
        group: *group,
        bundle: *bundle,
        score: *score,
        source,
        id,
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
