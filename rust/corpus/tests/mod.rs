//! Projects made up at random, and the tests that need more than one file of the room.

#![allow(clippy::unwrap_used)]

mod bytes;
mod changes;
mod found;
mod oracle;
mod stretches;

use proptest::prelude::*;

use super::corpus::Corpus;
use super::part::Part;
use super::query::{FamilyWeight, Filter, Group, Query, Wanted, Weights};
use super::rows::{Kind, Role, Unit};
use super::table::LEVELS;

/// Text, role, entities with how often.
type DraftParagraph = (String, Role, Vec<(&'static str, u32)>);

/// A document before it is a part: paragraphs of words, units by how many paragraphs they have.
#[derive(Debug, Clone)]
pub struct Draft {
    pub path: String,
    pub kind: Kind,
    pub paragraphs: Vec<DraftParagraph>,
    pub units: Vec<(Option<u32>, usize)>,
}

const WORDS: [&str; 12] = [
    "灯塔",
    "渡口",
    "雨",
    "老渡口",
    "灯",
    "lamp",
    "lamps",
    "river",
    "The",
    "，",
    "雨夜",
    "key",
];
const IDS: [&str; 4] = ["lin", "bai", "su", "zhou"];

fn paragraph() -> impl Strategy<Value = DraftParagraph> {
    let words = proptest::collection::vec((0..WORDS.len(), any::<bool>()), 0..14);
    let role =
        prop_oneof![8 => Just(Role::Body), 1 => Just(Role::Heading), 1 => Just(Role::FrontMatter)];
    let entities = proptest::collection::vec((0..IDS.len(), 1..4_u32), 0..3);
    (words, role, entities).prop_map(|(words, role, entities)| {
        let mut text = String::new();
        for (word, space) in words {
            text += WORDS[word];
            text += if space { " " } else { "" };
        }
        (
            text,
            role,
            entities
                .into_iter()
                .map(|(id, count)| (IDS[id], count))
                .collect(),
        )
    })
}

pub fn draft(name: usize) -> impl Strategy<Value = Draft> {
    let kind = prop_oneof![
        4 => Just(Kind::Chapter), 1 => Just(Kind::Setting), 1 => Just(Kind::Outline), 1 => Just(Kind::Note)
    ];
    let units = proptest::collection::vec((proptest::option::of(0..5_u32), 1..5_usize), 0..4);
    let paragraphs = proptest::collection::vec(paragraph(), 16);
    (kind, units, paragraphs).prop_map(move |(kind, units, mut paragraphs)| {
        let count = units.iter().map(|unit| unit.1).sum();
        paragraphs.truncate(count);
        Draft {
            path: format!("{name:02}.md"),
            kind,
            paragraphs,
            units,
        }
    })
}

pub fn project() -> impl Strategy<Value = Vec<Draft>> {
    proptest::collection::vec(any::<bool>(), 1..7)
        .prop_flat_map(|documents| (0..documents.len()).map(draft).collect::<Vec<_>>())
}

impl Draft {
    pub fn part(&self) -> Part {
        let (mut text, mut spans, mut at) = (String::new(), Vec::new(), 0);
        let mut entities = Vec::new();
        for (index, (words, role, named)) in (0..).zip(&self.paragraphs) {
            let length = words.chars().count() as u32;
            spans.push((at, at + length, *role));
            at += length + 1;
            text += words;
            text += "\n";
            entities.extend(named.iter().map(|&(id, count)| (index, id, count)));
        }
        let mut first = 0;
        let mut units = Vec::new();
        for (number, &(chapter, count)) in self.units.iter().enumerate() {
            units.push(Unit {
                label: format!("{number}"),
                chapter,
                first,
            });
            first += count as u32;
        }
        let part = Part::new(&self.path, self.kind, &text, &spans, units).unwrap();
        part.with_entities(&entities).unwrap()
    }
}

pub fn corpus(drafts: &[Draft]) -> Corpus {
    Corpus::new(drafts.iter().map(Draft::part).collect()).unwrap()
}

pub fn weights() -> Weights {
    let family = |name: &str, weight, b| FamilyWeight {
        name: name.to_owned(),
        weight,
        b,
    };
    Weights {
        families: vec![
            family("main", 1.0, [0.75; LEVELS]),
            family("entity", 0.7, [0.3, 0.75, 0.75, 0.3]),
            family("synonym", 0.6, [0.75; LEVELS]),
        ],
        k1: [2.0, 1.2, 1.2, 1.2],
        paragraph: 1.0,
        near: 0.3,
        window: 0.75,
        unit: 0.5,
        line: 0.5,
        asked: 6.0,
        c: 0.2,
        d: 0.2,
        heading: 0.0,
    }
}

pub fn query() -> Query {
    let group = |family, any: &[(Wanted, f32)]| Group {
        family,
        weight: 1.0,
        any: any.to_vec(),
    };
    let text = |word: &str, factor| (Wanted::text(word), factor);
    Query {
        groups: vec![
            group(0, &[text("灯塔", 1.0)]),
            group(0, &[text("river", 1.0)]),
            group(0, &[text("雨", 1.0)]),
            group(1, &[(Wanted::Entity("lin".to_owned()), 1.0)]),
            group(1, &[(Wanted::Entity("nobody".to_owned()), 1.0)]),
            group(
                2,
                &[text("老渡口", 1.0), text("lamp", 0.5), text("雨夜", 0.25)],
            ),
        ],
        concepts: Vec::new(),
        near: 0.3,
        share: 0.6,
        weights: weights(),
        chapters: vec![2],
        paragraphs: Vec::new(),
        units: Vec::new(),
        lines: Vec::new(),
        filter: Filter::default(),
        look_into: None,
    }
}
