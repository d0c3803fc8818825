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

use std::cmp::Ordering;

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

struct Unit {
    layer: usize,
    members: Vec<usize>,
    full: u32,
    least: u32,
    pinned: bool,
    truncatable: bool,
    state: Decision,
}

struct Ledger<'a> {
    items: &'a [Item<'a>],
    layers: &'a [Layer],
    headings: &'a [u32],
    opened: Vec<bool>,
    stamps: Vec<usize>,
    stamp: usize,
    layer_open: Vec<bool>,
    used: Vec<u32>,
    left: u32,
}

impl Ledger<'_> {
    /// Headings and overhead that `unit` would open.
    fn opening(&mut self, unit: &Unit) -> u32 {
        self.stamp += 1;
        let mut cost = if self.layer_open[unit.layer] {
            0
        } else {
            self.layers[unit.layer].overhead
        };
        for &member in &unit.members {
            if let Some(group) = self.items[member].group
                && !self.opened[group]
                && self.stamps[group] != self.stamp
            {
                self.stamps[group] = self.stamp;
                cost = cost.saturating_add(self.headings[group]);
            }
        }
        cost
    }

    fn enter(&mut self, unit: &mut Unit, state: Decision, cost: u32) {
        unit.state = state;
        self.layer_open[unit.layer] = true;
        for &member in &unit.members {
            if let Some(group) = self.items[member].group {
                self.opened[group] = true;
            }
        }
        self.charge(unit.layer, cost);
    }

    fn charge(&mut self, layer: usize, cost: u32) {
        self.used[layer] = self.used[layer].saturating_add(cost);
        self.left = self.left.saturating_sub(cost);
    }

    /// What `layer` may still spend under `limit`.
    fn room(&self, layer: usize, limit: u32) -> u32 {
        limit.saturating_sub(self.used[layer]).min(self.left)
    }
}

/// Decide which items enter a prompt of at most `available` tokens.
pub fn allocate(
    available: u32,
    layers: &[Layer],
    headings: &[u32],
    items: &[Item<'_>],
) -> Result<Allocation, AllocateError> {
    check(layers, headings, items)?;
    let mut units = units(layers, items);
    let mut order: Vec<usize> = (0..layers.len()).collect();
    order.sort_by_key(|&layer| (layers[layer].priority, layer));
    let mut ledger = Ledger {
        items,
        layers,
        headings,
        opened: vec![false; headings.len()],
        stamps: vec![0; headings.len()],
        stamp: 0,
        layer_open: vec![false; layers.len()],
        used: vec![0; layers.len()],
        left: available,
    };
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

fn by_value(a: &Item<'_>, b: &Item<'_>) -> Ordering {
    let key = |item: &Item<'_>| {
        if item.score.is_nan() {
            f64::NEG_INFINITY
        } else {
            item.score + 0.0
        }
    };
    key(b)
        .total_cmp(&key(a))
        .then_with(|| a.source.cmp(b.source))
        .then_with(|| a.id.cmp(b.id))
}

/// Items to units, ordered by layer priority and value.
fn units(layers: &[Layer], items: &[Item<'_>]) -> Vec<Unit> {
    let mut ranked: Vec<usize> = (0..items.len()).collect();
    ranked.sort_by(|&a, &b| {
        let priority = |item: &Item<'_>| (layers[item.layer].priority, item.layer);
        priority(&items[a])
            .cmp(&priority(&items[b]))
            .then_with(|| by_value(&items[a], &items[b]))
            .then(a.cmp(&b))
    });
    let mut bundles: std::collections::BTreeMap<(usize, usize), usize> =
        std::collections::BTreeMap::new();
    let mut units: Vec<Unit> = Vec::with_capacity(items.len());
    for index in ranked {
        let item = &items[index];
        let least = item
            .short
            .map_or(item.tokens, |short| short.min(item.tokens));
        if let Some(bundle) = item.bundle
            && let Some(&at) = bundles.get(&(item.layer, bundle))
        {
            let unit = &mut units[at];
            unit.members.push(index);
            unit.full = unit.full.saturating_add(item.tokens);
            unit.least = unit.least.saturating_add(least);
            unit.pinned |= item.pinned;
            unit.truncatable = false;
            continue;
        }
        if let Some(bundle) = item.bundle {
            bundles.insert((item.layer, bundle), units.len());
        }
        units.push(Unit {
            layer: item.layer,
            members: vec![index],
            full: item.tokens,
            least,
            pinned: item.pinned,
            truncatable: item.truncatable,
            state: Decision::Omitted,
        });
    }
    units
}

/// Step 1. What cannot be cut goes before what can, so that a long cuttable unit starves nothing.
fn enter_pinned(ledger: &mut Ledger<'_>, units: &mut [Unit]) {
    for cuttable in [false, true] {
        for unit in units
            .iter_mut()
            .filter(|unit| unit.pinned && unit.truncatable == cuttable)
        {
            let least = if cuttable {
                unit.least.min(FLOOR_TOKENS)
            } else {
                unit.least
            };
            let cost = least.saturating_add(ledger.opening(unit));
            if cost > ledger.left {
                return;
            }
            let state = if least == unit.full {
                Decision::Full
            } else if least == unit.least {
                Decision::Short
            } else {
                Decision::Truncated(least)
            };
            ledger.enter(unit, state, cost);
        }
    }
}

/// Step 2. Tokens per layer, what is pinned included.
fn grant(available: u32, ledger: &Ledger<'_>, units: &[Unit], order: &[usize]) -> Vec<u32> {
    let layers = ledger.layers;
    let mut want = vec![0_u32; layers.len()];
    let mut charged = vec![false; ledger.headings.len()];
    for unit in units {
        want[unit.layer] = want[unit.layer].saturating_add(unit.full);
        for &member in &unit.members {
            if let Some(group) = ledger.items[member].group
                && !std::mem::replace(&mut charged[group], true)
            {
                want[unit.layer] = want[unit.layer].saturating_add(ledger.headings[group]);
            }
        }
    }
    for (layer, want) in want.iter_mut().enumerate().filter(|(_, want)| **want > 0) {
        *want = want
            .saturating_add(layers[layer].overhead)
            .min(layers[layer].max);
    }
    let mut granted = ledger.used.clone();
    let mut left = ledger.left;
    let raise = |granted: &mut [u32], left: &mut u32, layer: usize, to: u32| {
        let more = to
            .min(want[layer])
            .saturating_sub(granted[layer])
            .min(*left);
        granted[layer] += more;
        *left -= more;
    };
    for &layer in order {
        raise(&mut granted, &mut left, layer, layers[layer].min);
    }
    for &layer in order {
        raise(
            &mut granted,
            &mut left,
            layer,
            share(available, layers[layer].ratio, 10_000),
        );
    }
    loop {
        let wanting: Vec<usize> = order
            .iter()
            .copied()
            .filter(|&layer| granted[layer] < want[layer])
            .collect();
        let ratios: u64 = wanting
            .iter()
            .map(|&layer| u64::from(layers[layer].ratio))
            .sum();
        if left == 0 || wanting.is_empty() {
            return granted;
        }
        let (before, pool) = (left, left);
        for &layer in &wanting {
            let more = if ratios == 0 {
                pool
            } else {
                share(pool, layers[layer].ratio, ratios)
            };
            let to = granted[layer].saturating_add(more);
            raise(&mut granted, &mut left, layer, to);
        }
        if left == before {
            // Shares below one token: the rest goes to the first that wants it.
            let to = granted[wanting[0]].saturating_add(left);
            raise(&mut granted, &mut left, wanting[0], to);
        }
    }
}

fn share(of: u32, ratio: u32, whole: u64) -> u32 {
    u32::try_from(u64::from(of) * u64::from(ratio) / whole.max(1)).unwrap_or(u32::MAX)
}

/// Step 3, within `limit` tokens for the layer.
fn fill(ledger: &mut Ledger<'_>, units: &mut [Unit], layer: usize, limit: u32) {
    let first = units
        .iter()
        .position(|unit| unit.layer == layer)
        .unwrap_or(units.len());
    let count = units[first..]
        .iter()
        .take_while(|unit| unit.layer == layer)
        .count();
    let units = &mut units[first..first + count];
    let mut cut: Vec<usize> = Vec::new();
    for (index, unit) in units.iter_mut().enumerate().filter(|(_, unit)| unit.pinned) {
        match unit.state {
            Decision::Short => {
                let more = unit.full - unit.least;
                if more <= ledger.room(layer, limit) {
                    unit.state = Decision::Full;
                    ledger.charge(layer, more);
                }
            }
            Decision::Truncated(_) => cut.push(index),
            Decision::Omitted | Decision::Full => {}
        }
    }
    // The smallest first: all but the largest have a chance to stay whole.
    cut.sort_by_key(|&index| units[index].full);
    for index in cut {
        let unit = &mut units[index];
        if let Decision::Truncated(has) = unit.state {
            let more = (unit.full - has).min(ledger.room(layer, limit));
            unit.state = if has + more == unit.full {
                Decision::Full
            } else {
                Decision::Truncated(has + more)
            };
            ledger.charge(layer, more);
        }
    }
    for unit in units
        .iter_mut()
        .filter(|unit| !unit.pinned && unit.state == Decision::Omitted)
    {
        let room = ledger.room(layer, limit);
        if room == 0 {
            break;
        }
        if unit.least > room {
            continue;
        }
        let opening = ledger.opening(unit);
        for (tokens, state) in [(unit.full, Decision::Full), (unit.least, Decision::Short)] {
            if tokens.saturating_add(opening) <= room {
                ledger.enter(unit, state, tokens + opening);
                break;
            }
        }
    }
}

/// Step 4: the best unit left out that may be cut takes what is left, if that is worth its place.
fn truncate_best(ledger: &mut Ledger<'_>, units: &mut [Unit], layer: usize, limit: u32) {
    for unit in units
        .iter_mut()
        .filter(|unit| unit.layer == layer && unit.state == Decision::Omitted)
    {
        if !unit.truncatable || unit.pinned {
            continue;
        }
        let room = ledger.room(layer, limit);
        let opening = ledger.opening(unit);
        let Some(tokens) = room.checked_sub(opening) else {
            return;
        };
        if tokens < FLOOR_TOKENS {
            return;
        }
        if tokens < unit.full {
            ledger.enter(unit, Decision::Truncated(tokens), room);
        }
        return;
    }
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
