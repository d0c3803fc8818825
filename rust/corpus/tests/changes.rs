//! A corpus that was changed document by document against one from scratch.

use super::*;
use crate::corpus::score::score;
use crate::corpus::scored::Scored;

#[derive(Debug, Clone)]
enum Change {
    Put(Draft),
    Remove(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (0..6_usize).prop_flat_map(draft).prop_map(Change::Put),
        1 => (0..6_usize).prop_map(Change::Remove),
    ]
}

fn found(corpus: &Corpus) -> Scored {
    let mut query = query();
    query.look_into = Some(20);
    score(corpus, &query).unwrap()
}

fn same(changed: &Corpus, scratch: &Corpus) {
    assert_eq!(found(changed), found(scratch));
    assert_eq!(changed.table.totals, scratch.table.totals);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_changed_corpus_scores_bit_for_bit_as_one_from_scratch(
        start in project(), changes in proptest::collection::vec(proptest::collection::vec(change(), 1..3), 1..6), fold in 0..6_usize,
    ) {
        let mut drafts: std::collections::BTreeMap<String, Draft> =
            start.iter().map(|draft| (draft.path.clone(), draft.clone())).collect();
        let mut changed = corpus(&start);
        for (step, batch) in changes.into_iter().enumerate() {
            let (mut puts, mut removed) = (std::collections::BTreeMap::new(), Vec::new());
            for change in batch {
                match change {
                    Change::Put(draft) => { puts.insert(draft.path.clone(), draft); }
                    Change::Remove(number) => removed.push(format!("{number:02}.md")),
                }
            }
            for path in &removed {
                drafts.remove(path);
            }
            let parts = puts.values().map(Draft::part).collect();
            drafts.extend(puts);
            changed = changed.with(parts, &removed).unwrap();
            if step == fold {
                changed = changed.folded().unwrap();
            }
            let all: Vec<Draft> = drafts.values().cloned().collect();
            same(&changed, &corpus(&all));
        }
    }

    #[test]
    fn the_order_in_which_parts_are_given_does_not_matter(drafts in project()) {
        let mut parts: Vec<Part> = drafts.iter().map(Draft::part).collect();
        parts.reverse();
        same(&Corpus::new(parts).unwrap(), &corpus(&drafts));
    }
}

#[test]
fn many_changes_fold_the_small_segment_into_the_large_one() {
    let long = |path: String, word: &str| {
        let text: String = (0..30_000)
            .map(|i| char::from_u32(0x4e00 + (i * 7 + word.len() as u32 * 131) % 20_000).unwrap())
            .collect();
        let text = format!("{word}{text}");
        let end = text.chars().count() as u32;
        let unit = Unit {
            label: String::new(),
            chapter: Some(1),
            first: 0,
        };
        Part::new(
            &path,
            Kind::Chapter,
            &text,
            &[(0, end, Role::Body)],
            vec![unit],
        )
        .unwrap()
    };
    let mut corpus =
        Corpus::new((0..4).map(|i| long(format!("{i}.md"), "灯塔")).collect()).unwrap();
    let before = corpus.resident_bytes();
    for round in 0..40 {
        let word = if round % 2 == 0 { "river" } else { "lamp" };
        corpus = corpus
            .with(vec![long(format!("{}.md", round % 4), word)], &[])
            .unwrap();
    }
    assert!(
        corpus.resident_bytes() < 3 * before,
        "{} {before}",
        corpus.resident_bytes()
    );
    assert_eq!(found(&corpus).frequencies[..2], [0, 2]);
}

#[test]
fn a_path_given_twice_is_refused() {
    let part = Part::new("a.md", Kind::Note, "", &[], Vec::new()).unwrap();
    let error = Corpus::new(vec![part.clone(), part]).unwrap_err();
    assert_eq!(error.to_string(), "a.md: given twice");
}
