//! The choice against a plain one that measures the whole prompt after every step.

use std::collections::BTreeSet;

use super::*;
use crate::corpus::score::score;
use crate::corpus::scored::Scored;
use crate::corpus::select::{Asked, Keep, Room, Selection, Stop, select};

fn room(tokens: u32) -> Room {
    Room {
        tokens,
        counter: "tokens".to_owned(),
        join: 2,
        gap: 3,
        floor: 0.0,
        least: 0,
        shown: Vec::new(),
        held: Vec::new(),
        rest: Vec::new(),
        asked: Vec::new(),
    }
}

/// What a set of paragraphs costs when it is written out.
fn written(drafts: &[Draft], corpus: &Corpus, chosen: &BTreeSet<u32>) -> u32 {
    let mut total = 0;
    for (draft, document) in drafts.iter().zip(&corpus.documents) {
        let first = document.first_paragraph;
        let mut last = None;
        let mut units = BTreeSet::new();
        for index in
            (0..draft.paragraphs.len() as u32).filter(|index| chosen.contains(&(first + index)))
        {
            total += draft.tokens[index as usize];
            total += match last {
                None => draft.heading,
                Some(before) if before + 1 == index => 2,
                Some(_) => 3,
            };
            let unit = document.rows.unit_of(index);
            if units.insert(unit) {
                total += draft.units[unit].1 as u32 % 3;
            }
            last = Some(index);
        }
    }
    total
}

fn plain(drafts: &[Draft], corpus: &Corpus, scored: &Scored, tokens: u32) -> BTreeSet<u32> {
    let mut chosen = BTreeSet::new();
    for (number, _) in scored.best_first() {
        chosen.insert(number);
        if written(drafts, corpus, &chosen) > tokens {
            chosen.remove(&number);
        }
    }
    chosen
}

fn numbers(selection: &Selection) -> BTreeSet<u32> {
    selection.chosen.iter().map(|one| one.number).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_choice_is_that_of_a_plain_greedy_one_and_costs_what_it_says(drafts in project(), tokens in 0..400_u32) {
        let corpus = corpus(&drafts);
        let scored = score(&corpus, &query()).unwrap();
        let selection = select(&corpus, &scored, &room(tokens)).unwrap();
        prop_assert_eq!(&numbers(&selection), &plain(&drafts, &corpus, &scored, tokens));
        prop_assert_eq!(selection.tokens, written(&drafts, &corpus, &numbers(&selection)));
        let offered = scored.scores.iter().filter(|score| **score > 0.0).count();
        prop_assert_eq!(selection.left_out as usize, offered - selection.chosen.len());
    }

    #[test]
    fn what_is_shown_or_held_does_not_enter_and_what_is_asked_for_does(
        drafts in project(), tokens in 100..600_u32, keep in 0..3_usize, shown in 0..60_u32,
    ) {
        let corpus = corpus(&drafts);
        let scored = score(&corpus, &query()).unwrap();
        let keep = [Keep::Head, Keep::Tail, Keep::Best][keep];
        let mut room = room(tokens);
        room.shown = vec![("00.md".to_owned(), 10, 10 + shown)];
        let document = &corpus.documents[0];
        if !document.rows.units.is_empty() {
            room.asked = vec![Asked { path: "00.md".to_owned(), unit: None, keep }];
        }
        let selection = select(&corpus, &scored, &room).unwrap();
        let chosen = numbers(&selection);
        prop_assert_eq!(selection.tokens, written(&drafts, &corpus, &chosen));
        prop_assert!(selection.tokens <= tokens);
        let (hidden, free): (Vec<u32>, Vec<u32>) = (0..document.rows.paragraphs.len() as u32)
            .filter(|index| document.rows.paragraphs[*index as usize].role == Role::Body)
            .partition(|index| {
                let paragraph = document.rows.paragraphs[*index as usize];
                paragraph.end > 10 && paragraph.start < 10 + shown
            });
        prop_assert!(hidden.iter().all(|index| !chosen.contains(index)));
        let whole: BTreeSet<u32> = free.iter().copied().collect();
        if room.asked.is_empty() || written(&drafts, &corpus, &whole) <= tokens {
            prop_assert!(room.asked.is_empty() || whole.is_subset(&chosen));
            return Ok(());
        }
        let asked: BTreeSet<u32> = selection.chosen.iter().filter(|one| one.asked).map(|one| one.number).collect();
        let expected: BTreeSet<u32> = match keep {
            Keep::Head => free.iter().copied().take(asked.len()).collect(),
            Keep::Tail => free.iter().rev().copied().take(asked.len()).collect(),
            Keep::Best => return Ok(()),
        };
        prop_assert_eq!(asked, expected);
    }
}

fn chapter(path: &str, kind: Kind, chapter: Option<u32>, texts: &[&str]) -> Draft {
    Draft {
        path: path.to_owned(),
        kind,
        paragraphs: texts
            .iter()
            .map(|text| ((*text).to_owned(), Role::Body, Vec::new()))
            .collect(),
        units: vec![(chapter, texts.len())],
        tokens: vec![10; texts.len()],
        heading: 5,
    }
}

#[test]
fn passages_stand_in_the_order_of_the_story() {
    let drafts = [
        chapter("10.md", Kind::Chapter, Some(2), &["灯塔"]),
        chapter("9.md", Kind::Chapter, Some(1), &["灯塔", "river"]),
        chapter("a.md", Kind::Note, None, &["灯塔"]),
        chapter("z.md", Kind::Setting, None, &["灯塔"]),
    ];
    let corpus = corpus(&drafts);
    let scored = score(&corpus, &query()).unwrap();
    let selection = select(&corpus, &scored, &room(1000)).unwrap();
    let order: Vec<u32> = selection.chosen.iter().map(|one| one.number).collect();
    assert_eq!(order, [4, 1, 2, 0, 3]);
    assert_eq!(
        (selection.stop, selection.line, selection.left_out),
        (Stop::End, 0.0, 0)
    );
}

#[test]
fn it_stops_at_the_floor_and_where_too_little_is_left() {
    let drafts = [chapter(
        "1.md",
        Kind::Chapter,
        Some(1),
        &["灯塔 river", "灯塔", "key", "key", "key"],
    )];
    let corpus = corpus(&drafts);
    let scored = score(&corpus, &query()).unwrap();
    let floor = scored.best() * 0.99;
    let high = select(
        &corpus,
        &scored,
        &Room {
            floor,
            ..room(1000)
        },
    )
    .unwrap();
    assert_eq!(
        (high.chosen.len(), high.stop, high.left_out),
        (1, Stop::Floor, 4)
    );
    assert!((high.line - floor).abs() < f32::EPSILON);
    let tight = select(
        &corpus,
        &scored,
        &Room {
            least: 40,
            ..room(70)
        },
    )
    .unwrap();
    assert_eq!(
        (tight.chosen.len(), tight.stop, tight.tokens),
        (3, Stop::Room, 41)
    );
    assert!(tight.chosen.iter().all(|one| one.score >= tight.line));
    let small = select(&corpus, &scored, &room(14)).unwrap();
    assert_eq!((small.chosen.len(), small.passed_over), (0, 5));
}

#[test]
fn the_rest_of_a_paragraph_that_is_shown_in_part_has_its_own_cost() {
    let drafts = [chapter("1.md", Kind::Chapter, Some(1), &["灯塔 river"])];
    let corpus = corpus(&drafts);
    let scored = score(&corpus, &query()).unwrap();
    let shown = vec![("1.md".to_owned(), 0, 3), ("not saved.md".to_owned(), 0, 9)];
    let touched = select(
        &corpus,
        &scored,
        &Room {
            shown: shown.clone(),
            ..room(100)
        },
    )
    .unwrap();
    assert!(touched.chosen.is_empty());
    let rest = vec![("1.md".to_owned(), 0, 4)];
    let part = select(
        &corpus,
        &scored,
        &Room {
            shown,
            rest,
            ..room(100)
        },
    )
    .unwrap();
    assert_eq!(part.tokens, 10);
    let held = vec![("1.md".to_owned(), 0)];
    assert!(
        select(&corpus, &scored, &Room { held, ..room(100) })
            .unwrap()
            .chosen
            .is_empty()
    );
}

#[test]
fn unknown_paragraphs_and_missing_counts_are_named() {
    let drafts = [chapter("1.md", Kind::Chapter, Some(1), &["灯塔"])];
    let corpus = corpus(&drafts);
    let scored = score(&corpus, &query()).unwrap();
    let counter = "other".to_owned();
    let error = select(&corpus, &scored, &Room { counter, ..room(9) })
        .unwrap_err()
        .to_string();
    assert_eq!(error, "1.md: no token counts of \"other\"");
    let held = vec![("1.md".to_owned(), 4)];
    let error = select(&corpus, &scored, &Room { held, ..room(9) })
        .unwrap_err()
        .to_string();
    assert_eq!(error, "1.md#4: no such paragraph in the corpus");
    let asked = vec![Asked {
        path: "2.md".to_owned(),
        unit: Some(1),
        keep: Keep::Head,
    }];
    let error = select(&corpus, &scored, &Room { asked, ..room(9) })
        .unwrap_err()
        .to_string();
    assert_eq!(error, "2.md unit 1: not in the corpus");
}
