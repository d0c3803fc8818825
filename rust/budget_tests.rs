#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

use proptest::prelude::*;

use super::*;

const LAYERS: [Layer; 4] = [
    Layer {
        ratio: 1500,
        min: 50,
        max: u32::MAX,
        overhead: 6,
        priority: 0,
    },
    Layer {
        ratio: 1000,
        min: 20,
        max: u32::MAX,
        overhead: 6,
        priority: 2,
    },
    Layer {
        ratio: 2500,
        min: 0,
        max: u32::MAX,
        overhead: 6,
        priority: 3,
    },
    Layer {
        ratio: 5000,
        min: 200,
        max: u32::MAX,
        overhead: 6,
        priority: 1,
    },
];

fn item(layer: usize, tokens: u32, score: f64, id: &str) -> Item<'_> {
    Item {
        layer,
        tokens,
        short: None,
        pinned: false,
        truncatable: false,
        group: None,
        bundle: None,
        score,
        source: "s",
        id,
    }
}

fn decide(available: u32, headings: &[u32], items: &[Item<'_>]) -> Vec<Decision> {
    allocate(available, &LAYERS, headings, items)
        .unwrap()
        .decisions
}

#[test]
fn choice_continues_past_what_does_not_fit() {
    let items = [
        item(2, 50, 3.0, "a"),
        item(2, 500, 2.0, "b"),
        item(2, 40, 1.0, "c"),
    ];
    assert_eq!(
        decide(96, &[], &items),
        [Decision::Full, Decision::Omitted, Decision::Full]
    );
}

#[test]
fn heading_is_charged_once_per_group() {
    let grouped = |id, score| Item {
        group: Some(0),
        ..item(2, 10, score, id)
    };
    let items = [grouped("a", 2.0), grouped("b", 1.0)];
    assert_eq!(
        decide(6 + 5 + 20, &[5], &items),
        [Decision::Full, Decision::Full]
    );
    assert_eq!(
        decide(6 + 5 + 19, &[5], &items),
        [Decision::Full, Decision::Omitted]
    );
    assert_eq!(
        decide(6 + 5 + 9, &[5], &items),
        [Decision::Omitted, Decision::Omitted]
    );
}

#[test]
fn bundle_enters_whole_or_not_at_all() {
    let bundled = |id, score| Item {
        bundle: Some(7),
        ..item(2, 30, score, id)
    };
    let items = [bundled("a", 9.0), item(2, 40, 5.0, "b"), bundled("c", 0.0)];
    assert_eq!(
        decide(60, &[], &items),
        [Decision::Omitted, Decision::Full, Decision::Omitted]
    );
    assert_eq!(
        decide(66, &[], &items),
        [Decision::Full, Decision::Omitted, Decision::Full]
    );
}

#[test]
fn short_form_stands_in_when_the_full_one_does_not_fit() {
    let items = [Item {
        short: Some(10),
        ..item(2, 60, 1.0, "a")
    }];
    assert_eq!(decide(66, &[], &items), [Decision::Full]);
    assert_eq!(decide(65, &[], &items), [Decision::Short]);
    assert_eq!(decide(15, &[], &items), [Decision::Omitted]);
}

#[test]
fn only_the_last_item_is_truncated_and_takes_what_is_left() {
    let cut = |id, score| Item {
        truncatable: true,
        ..item(2, 300, score, id)
    };
    let items = [cut("a", 3.0), cut("b", 2.0), item(2, 20, 1.0, "c")];
    let expected = [
        Decision::Truncated(100 - 6 - 20),
        Decision::Omitted,
        Decision::Full,
    ];
    assert_eq!(decide(100, &[], &items), expected);
}

#[test]
fn pinned_window_is_cut_to_the_room_it_gets() {
    let items = [
        Item {
            pinned: true,
            truncatable: true,
            ..item(3, 5000, 1.0, "w")
        },
        item(2, 100, 1.0, "r"),
    ];
    // retrieved keeps its 25 %, the window takes everything else
    assert_eq!(
        decide(1000, &[], &items),
        [Decision::Truncated(1000 - 106 - 6), Decision::Full]
    );
}

#[test]
fn unused_share_flows_to_the_layers_that_want_it() {
    let items: Vec<String> = (0..50).map(|n| format!("{n:02}")).collect();
    let items: Vec<Item<'_>> = items.iter().map(|id| item(2, 20, 1.0, id)).collect();
    let allocation = allocate(1000, &LAYERS, &[], &items).unwrap();
    assert_eq!(allocation.used, [0, 0, 986, 0]);
}

#[test]
fn maximum_of_a_layer_holds_even_when_there_is_room() {
    let mut layers = LAYERS;
    layers[2].max = 100;
    let items: Vec<String> = (0..50).map(|n| format!("{n:02}")).collect();
    let items: Vec<Item<'_>> = items.iter().map(|id| item(2, 20, 1.0, id)).collect();
    let allocation = allocate(1000, &layers, &[], &items).unwrap();
    assert_eq!(allocation.used, [0, 0, 86, 0]);
}

#[test]
fn ties_break_on_source_then_id() {
    let items = [
        Item {
            source: "b",
            ..item(2, 50, 1.0, "1")
        },
        Item {
            source: "a",
            ..item(2, 50, 1.0, "2")
        },
        Item {
            source: "a",
            ..item(2, 50, 1.0, "1")
        },
        item(2, 50, f64::NAN, "0"),
    ];
    let omitted = Decision::Omitted;
    assert_eq!(
        decide(56, &[], &items),
        [omitted, omitted, Decision::Full, omitted]
    );
}

#[test]
fn eight_thousand_candidates_fill_thirty_two_thousand_tokens() {
    let ids: Vec<String> = (0..8000).map(|n| format!("{n:04}")).collect();
    let items: Vec<Item<'_>> = ids
        .iter()
        .enumerate()
        .map(|(n, id)| item(2, 40 + (n as u32 * 37) % 120, (n % 97) as f64, id))
        .collect();
    let used = allocate(32_000, &LAYERS, &[], &items).unwrap().used[2];
    assert!(used > 31_960 && used <= 32_000, "{used}");
}

#[test]
fn item_of_an_unknown_layer_or_group_is_an_error() {
    assert!(allocate(10, &LAYERS, &[], &[item(4, 1, 0.0, "a")]).is_err());
    assert!(
        allocate(
            10,
            &LAYERS,
            &[],
            &[Item {
                group: Some(0),
                ..item(1, 1, 0.0, "a")
            }]
        )
        .is_err()
    );
}

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
