//! Steps 1, 3 and 4: which units enter, in which form.

use super::ledger::Ledger;
use super::units::Unit;
use super::{Decision, FLOOR_TOKENS};

/// Step 1. What cannot be cut goes before what can, so that a long cuttable unit starves nothing.
pub(super) fn enter_pinned(ledger: &mut Ledger<'_>, units: &mut [Unit]) {
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

/// Step 3, within `limit` tokens for the layer.
pub(super) fn fill(ledger: &mut Ledger<'_>, units: &mut [Unit], layer: usize, limit: u32) {
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
pub(super) fn truncate_best(ledger: &mut Ledger<'_>, units: &mut [Unit], layer: usize, limit: u32) {
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
