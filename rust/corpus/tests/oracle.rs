//! The score against a plain one: strings, hash maps, every text looked at, double precision.

use std::collections::HashMap;

use super::*;
use crate::corpus::fuse::fuse;
use crate::corpus::query::Concept;
use crate::corpus::score::score;
use crate::text::analyzer::term_strings;

type Count = HashMap<String, f64>;

/// What is counted of a text, and its length in terms.
#[derive(Clone, Default)]
struct Counted {
    terms: Count,
    length: f64,
}

fn counted(text: &str, entities: &[(&str, u32)]) -> Counted {
    let mut one = Counted::default();
    for term in term_strings(text) {
        *one.terms.entry(term).or_default() += 1.0;
        one.length += 1.0;
    }
    for c in text
        .chars()
        .filter(|c| u32::from(*c) >= 0x4e00 && *c != '，')
    {
        *one.terms.entry(c.to_string()).or_default() += 1.0;
    }
    for (id, count) in entities {
        *one.terms.entry(format!("@{id}")).or_default() += f64::from(*count);
    }
    one
}

/// Frequency of a group in a paragraph: the wordings' sum, each the least of what it consists of.
fn frequency(paragraph: &Counted, group: &[(&[&str], f64)]) -> f64 {
    let of = |word: &&str| paragraph.terms.get(*word).copied().unwrap_or(0.0);
    group
        .iter()
        .map(|(words, factor)| factor * words.iter().map(of).fold(f64::MAX, f64::min))
        .sum()
}

fn bm25(frequencies: &[f64], lengths: &[f64], k1: f64, b: f64) -> Vec<f64> {
    let n = lengths.len() as f64;
    let held = frequencies.iter().filter(|f| **f > 0.0).count() as f64;
    let mean = (lengths.iter().sum::<f64>() / n).max(1e-9);
    let idf = (1.0 + (n - held + 0.5) / (held + 0.5)).ln();
    let one = |(f, length): (&f64, &f64)| {
        if *f > 0.0 {
            idf * f * (k1 + 1.0) / (f + k1 * (1.0 - b + b * length / mean))
        } else {
            0.0
        }
    };
    frequencies.iter().zip(lengths).map(one).collect()
}

fn over_best(values: &mut [f64]) {
    let best = values.iter().copied().fold(0.0, f64::max);
    if best > 0.0 {
        for value in values {
            *value /= best;
        }
    }
}

/// The groups of `query()` by what they consist of, with the family's weight and b by level.
type PlainGroup = (f64, [f64; 4], Vec<(&'static [&'static str], f64)>);

fn groups() -> Vec<PlainGroup> {
    let (main, entity) = ([0.75; 4], [0.3, 0.75, 0.75, 0.3]);
    vec![
        (1.0, main, vec![(&["灯塔"], 1.0)]),
        (1.0, main, vec![(&["river"], 1.0)]),
        (1.0, main, vec![(&["雨"], 1.0)]),
        (0.7, entity, vec![(&["@lin"], 1.0)]),
        (
            0.6,
            main,
            vec![
                (&["老渡", "渡口"], 1.0),
                (&["lamp"], 0.5),
                (&["雨夜"], 0.25),
            ],
        ),
    ]
}

/// Sums over texts that are ranges of paragraphs.
fn level(
    paragraphs: &[Counted],
    ranges: &[std::ops::Range<usize>],
    at: usize,
    k1: f64,
) -> Vec<f64> {
    let lengths: Vec<f64> = ranges
        .iter()
        .map(|r| paragraphs[r.clone()].iter().map(|p| p.length).sum())
        .collect();
    let mut sums = vec![0.0; ranges.len()];
    for (weight, b, group) in groups() {
        let per: Vec<f64> = paragraphs.iter().map(|p| frequency(p, &group)).collect();
        let frequencies: Vec<f64> = ranges.iter().map(|r| per[r.clone()].iter().sum()).collect();
        for (sum, value) in sums.iter_mut().zip(bm25(&frequencies, &lengths, k1, b[at])) {
            *sum += weight * value;
        }
    }
    sums
}

fn plain(drafts: &[Draft], corpus: &Corpus) -> Vec<f64> {
    let texts = drafts.iter().flat_map(|draft| &draft.paragraphs);
    let paragraphs: Vec<Counted> = texts.map(|(text, _, named)| counted(text, named)).collect();
    let roles: Vec<Role> = drafts
        .iter()
        .flat_map(|d| d.paragraphs.iter().map(|p| p.1))
        .collect();
    let (mut units, mut at) = (Vec::new(), 0);
    for draft in drafts {
        for &(chapter, count) in &draft.units {
            units.push((draft.kind, chapter, at..at + count));
            at += count;
        }
    }
    let unit_of = |p: usize| units.iter().position(|unit| unit.2.contains(&p)).unwrap();
    let holding = corpus
        .documents
        .iter()
        .flat_map(|one| one.rows.windows.holding.iter().enumerate());
    let mut windows: Vec<std::ops::Range<usize>> = (0..at).map(|p| p..p + 1).collect();
    for (held, (_, &(before, after))) in holding.enumerate() {
        for window in &mut windows[held - usize::from(before)..=held + usize::from(after)] {
            *window = window.start.min(held)..window.end.max(held + 1);
        }
    }
    let singles: Vec<_> = (0..at).map(|p| p..p + 1).collect();
    let wholes: Vec<_> = units.iter().map(|unit| unit.2.clone()).collect();
    let is_line = |unit: &&(Kind, Option<u32>, std::ops::Range<usize>)| {
        unit.0 == Kind::Outline && unit.1.is_some() && roles[unit.2.clone()].contains(&Role::Body)
    };
    let lines: Vec<_> = units.iter().filter(is_line).collect();
    let line_ranges: Vec<_> = lines.iter().map(|unit| unit.2.clone()).collect();
    let mut own = level(&paragraphs, &singles, 0, 2.0);
    let mut window = level(&paragraphs, &windows, 1, 1.2);
    let mut whole = level(&paragraphs, &wholes, 2, 1.2);
    let said = level(&paragraphs, &line_ranges, 3, 1.2);
    let mut told = vec![0.0_f64; units.len()];
    for (line, value) in lines.iter().zip(said) {
        for (unit, held) in units.iter().zip(&mut told) {
            if unit.0 == Kind::Chapter && unit.1 == line.1 {
                *held = held.max(value);
            }
        }
    }
    for values in [&mut own, &mut window, &mut whole, &mut told] {
        over_best(values);
    }
    (0..at)
        .map(|p| {
            let unit = unit_of(p);
            let near: f64 = [(1, 1.0), (2, 0.5)]
                .iter()
                .map(|&(distance, weight)| {
                    let here = |q: usize| {
                        if units[unit].2.contains(&q) {
                            own[q]
                        } else {
                            0.0
                        }
                    };
                    weight / 3.0 * (p.checked_sub(distance).map_or(0.0, here) + here(p + distance))
                })
                .sum();
            let asked = f64::from(u8::from(
                units[unit].0 == Kind::Chapter && units[unit].1 == Some(2),
            ));
            let one = own[p] + 0.3 * near + 0.75 * window[p] + 0.2;
            let document = 0.5 * whole[unit] + 0.5 * told[unit] + 6.0 * asked + 0.2;
            if roles[p] == Role::Body {
                one * document
            } else {
                0.0
            }
        })
        .collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-4 * (1.0 + a.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// With and without many texts that say nothing: common groups and rare ones are counted in different ways.
    #[test]
    fn scores_are_those_of_a_plain_reading_of_every_text(mut drafts in project(), filler in prop_oneof![Just(0), Just(30)]) {
        drafts.extend((0..filler).map(|number| Draft { path: format!("filler{number}.md"), ..silent() }));
        drafts.sort_by(|a, b| a.path.cmp(&b.path));
        let corpus = corpus(&drafts);
        let found = score(&corpus, &query()).unwrap();
        let wanted = plain(&drafts, &corpus);
        prop_assert_eq!(found.scores.len(), wanted.len());
        for (number, score) in found.each() {
            let wanted = wanted[number as usize];
            prop_assert!(close(wanted, f64::from(score)), "{number}: {wanted} {score}");
        }
        let mut sorted: Vec<(u32, f32)> = found.each().filter(|one| one.1 > 0.0).collect();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        prop_assert_eq!(found.best_first(usize::MAX, 0.0), sorted.clone());
        let floor = sorted.get(sorted.len() / 2).map_or(0.0, |one| one.1);
        sorted.retain(|one| one.1 > floor);
        for limit in [0, 1, 3] {
            prop_assert_eq!(&found.best_first(limit, floor)[..], &sorted[..limit.min(sorted.len())]);
        }
    }

    #[test]
    fn looking_into_all_units_is_looking_into_as_many_as_there_are(drafts in project()) {
        let corpus = corpus(&drafts);
        let all = score(&corpus, &query()).unwrap();
        let some = Query { look_into: Some(all.scores.len()), ..query() };
        prop_assert_eq!(score(&corpus, &some).unwrap().scores, all.scores);
        let one = score(&corpus, &Query { look_into: Some(1), ..query() }).unwrap();
        let first = all.units.first().map(|unit| corpus.table.units[unit.unit as usize]);
        let best = all.units.iter().map(|unit| corpus.table.units[unit.unit as usize].paragraphs).max();
        prop_assert!(one.scores.len() as u32 <= best.unwrap_or(0));
        prop_assert_eq!(one.scores.is_empty(), first.is_none());
    }
}

fn silent() -> Draft {
    Draft {
        kind: Kind::Note,
        paragraphs: vec![("key".to_owned(), Role::Body, Vec::new()); 16],
        units: vec![(None, 16)],
        ..one_chapter()
    }
}

fn one_chapter() -> Draft {
    let paragraph = |text: &str| (text.to_owned(), Role::Body, Vec::new());
    Draft {
        path: "00.md".to_owned(),
        kind: Kind::Chapter,
        paragraphs: ["灯塔", "river", "灯塔 river", "渡口"]
            .map(paragraph)
            .into(),
        units: vec![(Some(1), 4)],
    }
}

#[test]
fn coverage_is_what_the_best_window_holds_and_names_what_occurs_nowhere() {
    let corpus = corpus(&[one_chapter()]);
    let concept = |word: &str, group| Concept {
        word: Wanted::text(word),
        weight: 1.0,
        group,
    };
    let mut query = query();
    // the factor of the river is too low to count as near, that of the crossing is not
    let any = vec![(Wanted::text("渡口"), 0.5), (Wanted::text("river"), 0.25)];
    let near = Group {
        family: 2,
        weight: 1.0,
        any,
    };
    query.groups = vec![
        near.clone(),
        Group {
            any: near.any[1..].to_vec(),
            ..near
        },
    ];
    query.concepts = vec![
        concept("灯塔", None),
        concept("钟楼", Some(0)),
        concept("clock", Some(1)),
    ];
    let found = score(&corpus, &query).unwrap().coverage;
    // four windows, each the whole chapter: what is everywhere says ln(1 + .5 / 4.5), what is nowhere ln(1 + 4.5 / .5)
    let (everywhere, nowhere) = ((1.0 + 0.5 / 4.5_f32).ln(), 10.0_f32.ln());
    assert_eq!(found.missing, [1, 2]);
    assert!((found.total - everywhere - 2.0 * nowhere).abs() < 1e-5);
    assert!((found.lost - 2.0 * nowhere).abs() < 1e-5);
    assert!((found.best - everywhere - 0.6 * nowhere).abs() < 1e-2);
}

#[test]
fn weights_that_are_no_weights_are_refused_by_name() {
    let corpus = corpus(&[one_chapter()]);
    let mut negative = query();
    negative.weights.window = -1.0;
    let mut endless = query();
    endless.weights.families[0].weight = f32::NAN;
    let mut outside = query();
    outside.groups[0].family = 3;
    for (query, said) in [
        (negative, "window"),
        (endless, "main"),
        (outside, "family 3 of 3"),
    ] {
        let error = score(&corpus, &query).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_filter_leaves_out_what_is_later_or_of_another_kind() {
    let mut drafts = vec![one_chapter(), one_chapter(), one_chapter()];
    (drafts[1].path, drafts[1].units) = ("01.md".to_owned(), vec![(Some(7), 4)]);
    (drafts[2].path, drafts[2].kind, drafts[2].units) =
        ("02.md".to_owned(), Kind::Setting, vec![(None, 4)]);
    let corpus = corpus(&drafts);
    let paths = |filter: Filter| -> Vec<u32> {
        let found = score(&corpus, &Query { filter, ..query() }).unwrap();
        found
            .each()
            .map(|one| one.0)
            .filter(|number| number % 4 == 0)
            .collect()
    };
    let open = Filter::default;
    assert_eq!(paths(open()), [0, 4, 8]);
    assert_eq!(
        paths(Filter {
            as_of: Some(3),
            ..open()
        }),
        [0, 8]
    );
    assert_eq!(
        paths(Filter {
            as_of: Some(3),
            besides: vec![7],
            ..open()
        }),
        [0, 4, 8]
    );
    assert_eq!(
        paths(Filter {
            without: vec![7],
            ..open()
        }),
        [0, 8]
    );
    assert_eq!(
        paths(Filter {
            chapters: (Some(2), None),
            ..open()
        }),
        [4]
    );
    assert_eq!(
        paths(Filter {
            kinds: vec![Kind::Setting, Kind::Note],
            ..open()
        }),
        [8]
    );
}

#[test]
fn other_wordings_add_their_mean_and_their_greatest() {
    let mut drafts = vec![one_chapter(), one_chapter()];
    (drafts[1].path, drafts[1].units) = ("01.md".to_owned(), vec![(Some(7), 4)]);
    let corpus = corpus(&drafts);
    let ask = |word: &str, as_of| {
        let mut query = query();
        query.groups = vec![Group {
            family: 0,
            weight: 1.0,
            any: vec![(Wanted::text(word), 1.0)],
        }];
        query.filter.as_of = as_of;
        score(&corpus, &query).unwrap()
    };
    let (own, first, second) = (ask("灯塔", Some(1)), ask("river", None), ask("渡口", None));
    let fused = fuse(&corpus, &own, &[&first, &second], 0.6, 0.4);
    assert_eq!(fused.runs, [(0, 8)]);
    for (number, score) in fused.each() {
        let over = |found: &super::super::scored::Scored| {
            found.score_of(number).unwrap_or(0.0) / found.best
        };
        let (a, b) = (over(&first), over(&second));
        let wanted = over(&own) + 0.6 * (a + b) / 2.0 + 0.4 * a.max(b);
        assert!((score - wanted).abs() < 1e-5);
    }
    assert_eq!(fuse(&corpus, &own, &[], 0.6, 0.4).scores, own.scores);
}
