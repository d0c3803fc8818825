#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

use super::*;

pub(super) const LAYERS: [Layer; 4] = [
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

pub(super) fn decide(available: u32, headings: &[u32], items: &[Item<'_>]) -> Vec<Decision> {
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
