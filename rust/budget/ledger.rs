//! What has been spent, per layer and in all, and what a unit would open.

use super::units::Unit;
use super::{Decision, Item, Layer};

/// The tokens of one allocation.
pub(super) struct Ledger<'a> {
    pub(super) items: &'a [Item<'a>],
    pub(super) layers: &'a [Layer],
    pub(super) headings: &'a [u32],
    pub(super) opened: Vec<bool>,
    pub(super) stamps: Vec<usize>,
    pub(super) stamp: usize,
    pub(super) layer_open: Vec<bool>,
    pub(super) used: Vec<u32>,
    pub(super) left: u32,
}

impl<'a> Ledger<'a> {
    /// Nothing entered, `available` tokens left.
    pub(super) fn new(
        items: &'a [Item<'a>],
        layers: &'a [Layer],
        headings: &'a [u32],
        available: u32,
    ) -> Self {
        Self {
            items,
            layers,
            headings,
            opened: vec![false; headings.len()],
            stamps: vec![0; headings.len()],
            stamp: 0,
            layer_open: vec![false; layers.len()],
            used: vec![0; layers.len()],
            left: available,
        }
    }
}

impl Ledger<'_> {
    /// Headings and overhead that `unit` would open.
    pub(super) fn opening(&mut self, unit: &Unit) -> u32 {
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

    pub(super) fn enter(&mut self, unit: &mut Unit, state: Decision, cost: u32) {
        unit.state = state;
        self.layer_open[unit.layer] = true;
        for &member in &unit.members {
            if let Some(group) = self.items[member].group {
                self.opened[group] = true;
            }
        }
        self.charge(unit.layer, cost);
    }

    pub(super) fn charge(&mut self, layer: usize, cost: u32) {
        self.used[layer] = self.used[layer].saturating_add(cost);
        self.left = self.left.saturating_sub(cost);
    }

    /// What `layer` may still spend under `limit`.
    pub(super) fn room(&self, layer: usize, limit: u32) -> u32 {
        limit.saturating_sub(self.used[layer]).min(self.left)
    }
}
