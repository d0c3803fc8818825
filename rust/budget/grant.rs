//! Step 2: how many tokens each layer may count on.

use super::ledger::Ledger;
use super::units::Unit;

/// Tokens per layer, what is pinned included.
pub(super) fn grant(
    available: u32,
    ledger: &Ledger<'_>,
    units: &[Unit],
    order: &[usize],
) -> Vec<u32> {
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
