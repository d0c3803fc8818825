//! One token budget over several layers of candidates: who gets in, in which form.
//!
//! Semantics, in this order:
//! 1. *Pinned* units enter first, in their smallest form, by layer priority and then by value, and
//!    stop at the first that does not fit. What enters therefore only grows with the budget.
//! 2. Every layer is granted its minimum, then its ratio, each by layer priority; what is left is
//!    shared by ratio among the layers that still want some, until nothing changes.
//! 3. Inside its grant a layer widens its pinned units to their full form, then takes the others,
//!    best value first (`-score, source, id`), continuing past what does not fit; a short form
//!    stands in for a full one.
//! 4. What the layers left over goes round again in the same order until a round adds nothing; at
//!    last the best unit left out that may be truncated takes the rest.
//!
//! A unit is one item, or all items of a bundle: they enter together or not at all. A group's
//! heading is charged once, with the first of its items; so is a layer's own overhead.
//! All arithmetic is in integers. Cost: one sort, then a few linear passes.

mod choice;
mod grant;
mod ledger;
mod units;

use choice::{enter_pinned, fill, truncate_best};
use grant::grant;
use ledger::Ledger;

/// The least a truncated item is given; below it a fragment says too little to be worth its place.
pub const FLOOR_TOKENS: u32 = 48;

/// What one layer may take.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Share of the budget in basis points (1500 = 15 %).
    pub ratio: u32,
    /// Tokens granted before any ratio is looked at, if the layer has that much to offer.
    pub min: u32,
    /// Tokens never exceeded, except by pinned units.
    pub max: u32,
    /// Tokens that the layer's own fence costs once anything stands in it.
    pub overhead: u32,
    /// Layers with a smaller number are served first.
    pub priority: u32,
}

/// One candidate, measured.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
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
    /// Index into the group heading costs.
    pub group: Option<usize>,
    /// Items of one layer with the same bundle number enter together.
    pub bundle: Option<usize>,
    /// Higher is better; NaN sorts last.
    pub score: f64,
    /// Second sort key.
    pub source: &'a str,
    /// Third sort key.
    pub id: &'a str,
}

/// What becomes of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Left out for want of budget.
    Omitted,
    /// Enters as it is.
    Full,
    /// Enters in its short form.
    Short,
    /// Enters cut to at most this many tokens, separators included.
    Truncated(u32),
}

/// The answer: one decision per item, and what each layer was granted and uses.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// In the order of the items given.
    pub decisions: Vec<Decision>,
    /// Tokens per layer after step 2.
    pub granted: Vec<u32>,
    /// Tokens per layer at the end, overhead and headings included.
    pub used: Vec<u32>,
}

/// Why no allocation can be made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocateError {
    /// An item names a layer that does not exist.
    #[error("item {item} names layer {layer}, there are {layers}")]
    NoSuchLayer {
        /// Index of the item.
        item: usize,
        /// The layer it names.
        layer: usize,
        /// How many there are.
        layers: usize,
    },
    /// An item names a group without a heading cost.
    #[error("item {item} names group {group}, there are {groups}")]
    NoSuchGroup {
        /// Index of the item.
        item: usize,
        /// The group it names.
        group: usize,
        /// How many there are.
        groups: usize,
    },
}

/// Decide which items enter a prompt of at most `available` tokens.
pub fn allocate(
    available: u32,
    layers: &[Layer],
    headings: &[u32],
    items: &[Item<'_>],
) -> Result<Allocation, AllocateError> {
    check(layers, headings, items)?;
    let mut units = units::units(layers, items);
    let mut order: Vec<usize> = (0..layers.len()).collect();
    order.sort_by_key(|&layer| (layers[layer].priority, layer));
    let mut ledger = Ledger::new(items, layers, headings, available);
    enter_pinned(&mut ledger, &mut units);
    let granted = grant(available, &ledger, &units, &order);
    for &layer in &order {
        fill(&mut ledger, &mut units, layer, granted[layer]);
    }
    // A round can open a group and so make room for a cheaper sibling; it ends when one adds nothing.
    loop {
        let before = ledger.left;
        for &layer in &order {
            fill(&mut ledger, &mut units, layer, layers[layer].max);
        }
        if ledger.left == before {
            break;
        }
    }
    for &layer in &order {
        truncate_best(&mut ledger, &mut units, layer, layers[layer].max);
    }
    let mut decisions = vec![Decision::Omitted; items.len()];
    for unit in &units {
        for &member in &unit.members {
            decisions[member] = match unit.state {
                // A bundle in its short form keeps whole the members that have none.
                Decision::Short if items[member].short.is_none() => Decision::Full,
                state => state,
            };
        }
    }
    Ok(Allocation {
        decisions,
        granted,
        used: ledger.used,
    })
}

fn check(layers: &[Layer], headings: &[u32], items: &[Item<'_>]) -> Result<(), AllocateError> {
    for (index, item) in items.iter().enumerate() {
        if item.layer >= layers.len() {
            return Err(AllocateError::NoSuchLayer {
                item: index,
                layer: item.layer,
                layers: layers.len(),
            });
        }
        if let Some(group) = item.group
            && group >= headings.len()
        {
            return Err(AllocateError::NoSuchGroup {
                item: index,
                group,
                groups: headings.len(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
