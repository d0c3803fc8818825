#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

use proptest::prelude::*;

use super::tests::{LAYERS, decide};
use super::*;

#[derive(Clone, Debug)]
struct Row {
    layer: usize,
    tokens: u32,
    short: Option<u32>,
    pinned: bool,
    truncatable: bool,
    group: Option<usize>,
    bundle: Option<usize>,
    score: i8,
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (
        0..4_usize,
        0..200_u32,
        proptest::option::of(0..50_u32),
        proptest::bool::weighted(0.2),
        any::<bool>(),
        proptest::option::of(0..3_usize),
        proptest::option::of(0..3_usize),
        -3..3_i8,
    )
        .prop_map(
            |(layer, tokens, short, pinned, truncatable, group, bundle, score)| Row {
                layer,
                tokens,
                short,
                pinned,
                truncatable,
                group: group.map(|group| group * 4 + layer),
                bundle,
                score,
            },
        );
    proptest::collection::vec(row, 0..30)
}

fn items<'a>(rows: &[Row], ids: &'a [String]) -> Vec<Item<'a>> {
    rows.iter()
        .zip(ids)
        .map(|(row, id)| Item {
            layer: row.layer,
            tokens: row.tokens,
            short: row.short,
            pinned: row.pinned,
            truncatable: row.truncatable,
            group: row.group,
            bundle: row.bundle,
            score: f64::from(row.score),
            source: "s",
            id,
        })
        .collect()
}

const HEADINGS: [u32; 12] = [3; 12];

/// What a rendering of `decisions` costs, counted without the ledger.
fn recount(items: &[Item<'_>], decisions: &[Decision]) -> u32 {
    let mut groups = std::collections::BTreeSet::new();
    let mut layers = std::collections::BTreeSet::new();
    let mut total = 0;
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
    total + 3 * groups.len() as u32 + 6 * layers.len() as u32
}

proptest! {
    #[test]
    fn what_enters_never_costs_more_than_is_available(rows in rows(), available in 0..2000_u32) {
        let ids: Vec<String> = (0..rows.len()).map(|n| n.to_string()).collect();
        let items = items(&rows, &ids);
        let allocation = allocate(available, &LAYERS, &HEADINGS, &items).unwrap();
        let cost = recount(&items, &allocation.decisions);
        prop_assert_eq!(cost, allocation.used.iter().sum::<u32>());
        prop_assert!(cost <= available);
    }

    #[test]
    fn more_budget_never_removes_a_pinned_item(rows in rows(), available in 0..1000_u32, more in 0..1000_u32) {
        let ids: Vec<String> = (0..rows.len()).map(|n| n.to_string()).collect();
        let items = items(&rows, &ids);
        let less = decide(available, &HEADINGS, &items);
        let more = decide(available + more, &HEADINGS, &items);
        for index in 0..items.len() {
            if items[index].pinned && less[index] != Decision::Omitted {
                prop_assert!(more[index] != Decision::Omitted);
            }
        }
    }

    #[test]
    fn order_of_the_items_changes_nothing(rows in rows(), available in 0..1000_u32, turn in 0..30_usize) {
        let ids: Vec<String> = (0..rows.len()).map(|n| n.to_string()).collect();
        let mut items = items(&rows, &ids);
        let first = decide(available, &HEADINGS, &items);
        if !items.is_empty() {
            let turn = turn % items.len();
            items.rotate_left(turn);
            let mut second = decide(available, &HEADINGS, &items);
            second.rotate_right(turn);
            prop_assert_eq!(first, second);
        }
    }
}
