//! Plain search against one over strings.

use std::collections::HashMap;

use proptest::prelude::*;

use super::super::query::Filter;
use super::super::stretch::{STRETCH, stretches};
use super::{corpus, project};
use crate::text::analyzer::term_strings;

const WORDS: [&str; 4] = ["灯塔", "river", "老渡", "渡口"];

proptest! {
    #[test]
    fn the_best_stretches_are_those_of_a_plain_bm25_over_chunks(mut drafts in project()) {
        let mut plain: Vec<(String, u32, u32, Vec<String>)> = Vec::new();
        for draft in &mut drafts {
            let mut extent = STRETCH;
            for (at, (text, ..)) in (0..).zip(&mut draft.paragraphs) {
                *text = format!("{text} ").repeat(9);
                if extent >= STRETCH {
                    extent = 0;
                    plain.push((draft.path.clone(), at, at, Vec::new()));
                }
                extent += text.chars().count() as u32;
                let stretch = plain.last_mut().unwrap();
                stretch.2 = at + 1;
                stretch.3.extend(term_strings(text));
            }
        }
        let count = |stretch: &Vec<String>, word: &str| stretch.iter().filter(|one| *one == word).count() as f64;
        let all = plain.len() as f64;
        let mean = plain.iter().map(|one| one.3.len() as f64).sum::<f64>() / all;
        let mut expected = HashMap::new();
        for (path, first, end, words) in &plain {
            let mut sum = 0.0;
            for word in WORDS {
                let held = plain.iter().filter(|one| count(&one.3, word) > 0.0).count() as f64;
                let frequency = count(words, word);
                let length = 1.2 * (0.25 + 0.75 * words.len() as f64 / mean);
                sum += (1.0 + (all - held + 0.5) / (held + 0.5)).ln() * frequency * 2.2 / (frequency + length).max(1e-9);
            }
            if sum > 0.0 {
                expected.insert((path.clone(), *first, *end), sum);
            }
        }
        let corpus = corpus(&drafts);
        let found = stretches(&corpus, "灯塔 river 老渡口", &Filter::default(), usize::MAX);
        prop_assert_eq!(found.len(), expected.len());
        for pair in found.windows(2) {
            prop_assert!(pair[0].score >= pair[1].score);
        }
        for one in &found {
            let path = corpus.documents[one.document].rows.path.clone();
            let score = expected.get(&(path, one.first, one.end)).copied();
            prop_assert!(score.is_some_and(|score| (score - f64::from(one.score)).abs() < 0.01 * score));
        }
        let best = stretches(&corpus, "灯塔 river 老渡口", &Filter::default(), 2);
        prop_assert_eq!(&best[..], &found[..found.len().min(2)]);
    }

    #[test]
    fn what_the_filter_leaves_out_counts_in_no_stretch(drafts in project(), last in 0..4_u32) {
        let corpus = corpus(&drafts);
        let filter = Filter { as_of: Some(last), ..Filter::default() };
        for one in stretches(&corpus, "灯塔 river", &filter, usize::MAX) {
            let document = &corpus.documents[one.document];
            let passes = |at: u32| {
                let unit = &document.rows.units[document.rows.unit_of(at)];
                filter.passes(document.rows.kind, unit.chapter)
            };
            prop_assert!((one.first..one.end).any(passes));
        }
    }
}
