//! What enters a prompt, counted again without the ledger.

use std::collections::BTreeSet;

use super::input::Input;
use crate::budget::{Decision, Item, Layer, allocate};

const HEADINGS: [u32; 6] = [3; 6];
const OVERHEAD: u32 = 6;

/// Layers, a budget, items of eight bytes each.
pub fn allocation(data: &[u8]) {
    let mut input = Input::new(data);
    let available = input.number() as u32;
    let layers: Vec<Layer> = (0..3)
        .map(|_| Layer {
            ratio: input.number() as u32 % 10_001,
            min: u32::from(input.byte()),
            max: input.number() as u32,
            overhead: OVERHEAD,
            priority: u32::from(input.byte() % 4),
        })
        .collect();
    let mut items = Vec::new();
    while !input.is_empty() && items.len() < 40 {
        let layer = input.below(3);
        let flags = input.byte();
        items.push(Item {
            layer,
            tokens: input.number() as u32 % 400,
            short: (flags & 1 != 0).then(|| u32::from(input.byte())),
            pinned: flags & 6 == 6,
            truncatable: flags & 8 != 0,
            group: (flags & 16 != 0).then(|| layer * 2 + input.below(2)),
            bundle: (flags & 32 != 0).then(|| input.below(3)),
            score: if flags & 64 != 0 {
                f64::NAN
            } else {
                f64::from(input.byte())
            },
            source: "s",
            id: "",
        });
    }
    let ids: Vec<String> = (0..items.len())
        .map(|number| format!("{number:02}"))
        .collect();
    for (item, id) in items.iter_mut().zip(&ids) {
        item.id = id;
    }
    let given = allocate(available, &layers, &HEADINGS, &items).expect("layers that there are");
    let cost = recount(&items, &given.decisions);
    assert_eq!(cost, given.used.iter().sum::<u32>());
    assert!(cost <= available, "{cost} of {available}");
    let less = allocate(available / 2, &layers, &HEADINGS, &items).expect("the same layers");
    for (item, (less, more)) in items
        .iter()
        .zip(less.decisions.iter().zip(&given.decisions))
    {
        let lost = *less != Decision::Omitted && *more == Decision::Omitted;
        assert!(
            !(item.pinned && lost),
            "more budget left out what is pinned"
        );
    }
    items.reverse();
    let turned = allocate(available, &layers, &HEADINGS, &items).expect("the same layers");
    let back: Vec<Decision> = turned.decisions.into_iter().rev().collect();
    assert_eq!(back, given.decisions, "the order of the items counts");
}

fn recount(items: &[Item<'_>], decisions: &[Decision]) -> u32 {
    let (mut groups, mut layers, mut total) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (item, decision) in items.iter().zip(decisions) {
        total += match decision {
            Decision::Omitted => continue,
            Decision::Full => item.tokens,
            Decision::Short => item.short.unwrap_or(item.tokens).min(item.tokens),
            Decision::Truncated(tokens) => *tokens,
        };
        layers.insert(item.layer);
        groups.extend(item.group);
    }
    total + HEADINGS[0] * groups.len() as u32 + OVERHEAD * layers.len() as u32
}
