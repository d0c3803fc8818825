//! Items and bundles as units, in the order in which they are considered.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Decision, Item, Layer};

/// What enters together or not at all.
pub(super) struct Unit {
    pub(super) layer: usize,
    pub(super) members: Vec<usize>,
    pub(super) full: u32,
    pub(super) least: u32,
    pub(super) pinned: bool,
    pub(super) truncatable: bool,
    pub(super) state: Decision,
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
pub(super) fn units(layers: &[Layer], items: &[Item<'_>]) -> Vec<Unit> {
    let mut ranked: Vec<usize> = (0..items.len()).collect();
    ranked.sort_by(|&a, &b| {
        let priority = |item: &Item<'_>| (layers[item.layer].priority, item.layer);
        priority(&items[a])
            .cmp(&priority(&items[b]))
            .then_with(|| by_value(&items[a], &items[b]))
            .then(a.cmp(&b))
    });
    let mut bundles: BTreeMap<(usize, usize), usize> = BTreeMap::new();
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
