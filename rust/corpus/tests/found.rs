//! What was found, told in parts: the best, ranks, units by their own words.

use proptest::prelude::*;

use super::super::query::Filter;
use super::super::rows::Kind;
use super::super::score::score;
use super::{corpus, project, query};

proptest! {
    #[test]
    fn a_rank_is_the_sum_of_the_best_three_scores_of_its_paragraphs(drafts in project(), room in 0..30_usize, kind in 0..5_usize) {
        let corpus = corpus(&drafts);
        let mut query = query();
        query.look_into = (room < 20).then_some(room);
        query.filter = Filter { kinds: if kind < 4 { vec![Kind::ALL[kind]] } else { Vec::new() }, ..Filter::default() };
        let found = score(&corpus, &query).unwrap();
        let greatest = found.each().fold(0.0_f32, |best, one| best.max(one.1));
        prop_assert_eq!(found.best.to_bits(), greatest.to_bits());
        for one in &found.units {
            let unit = &corpus.table.units[one.unit as usize];
            let numbers = unit.first..unit.first + unit.paragraphs;
            let mut scores: Vec<f32> = numbers.map(|number| found.score_of(number).unwrap_or(0.0)).collect();
            scores.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(one.rank.to_bits(), scores.iter().take(3).sum::<f32>().to_bits());
        }
    }

    #[test]
    fn units_by_their_own_words_are_those_of_the_best_that_are_wanted(drafts in project(), most in 0..12_usize, odd in any::<bool>()) {
        let corpus = corpus(&drafts);
        let found = score(&corpus, &query()).unwrap();
        let wanted = |unit: u32| unit % 2 == u32::from(odd);
        let ranked = found.best_units().take_while(|one| one.rank > 0.0).take(most);
        let mut expected: Vec<(u32, f32)> = ranked
            .filter(|one| one.own > 0.0 && wanted(one.unit))
            .map(|one| (one.unit, one.own))
            .collect();
        expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        prop_assert_eq!(found.by_own(most, wanted), expected);
    }
}
