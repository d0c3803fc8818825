//! One function for each path that is counted. Its name is that of the path; it is never inlined, or it could not be told.

use std::error::Error;
use std::hint::black_box;

use armarius::books::keys::{Ends, KeySet};
use armarius::budget::{Item, Layer, allocate};
use armarius::code::scan::python::outline;
use armarius::corpus::corpus::Corpus;
use armarius::corpus::part::Part;
use armarius::corpus::query::{FamilyWeight, Filter, Group, Query, Wanted, Weights};
use armarius::corpus::rows::{Kind, Role, Unit};
use armarius::corpus::score::score;
use armarius::matching::matcher::Matcher;
use armarius::text::{bigrams, lexical};
use armarius::tokens::Counter;
use armarius::truncate::{Boundary, Keep, truncate};

use crate::inputs;

type Answer = (&'static str, usize, usize);

/// Every path: its name, the bytes that it reads, and its answer as a number.
pub fn all() -> Result<Vec<Answer>, Box<dyn Error>> {
    let (novel, english, code) = (inputs::novel(), inputs::english(), inputs::code());
    let mut answers = Vec::new();
    let mut add = |path, bytes, answer| answers.push((path, bytes, answer));

    let (zh, en) = (inputs::chinese_names(3), inputs::english_names(3));
    let (zh, en) = (matcher(&zh)?, matcher(&en)?);
    add("mentions_zh", novel.len(), mentions_zh(&zh, &novel));
    add("mentions_en", english.len(), mentions_en(&en, &english));

    let counter = Counter::for_encoding("o200k_base")?;
    counter.count("a")?;
    add("count_zh", novel.len(), count_zh(&counter, &novel)?);
    add("count_en", english.len(), count_en(&counter, &english)?);
    let other = Counter::for_encoding("cl100k_base")?;
    other.count("a")?;
    add("cut", novel.len(), cut(&other, &novel)?);

    add("index_tokens", novel.len(), index_tokens(&novel));
    add("read_document", novel.len(), read_document(&novel)?);
    let corpus = corpus()?;
    let query = query("灯塔 渡口 老人 信号 雨夜 照片 七点四十分");
    add("rank", novel.len(), rank(&corpus, &query)?);
    add("outline_of_code", code.len(), outline_of_code(&code));

    let (layers, items) = (layers(), items());
    add(
        "allocate_items",
        items.len(),
        allocate_items(&layers, &items)?,
    );
    let keys = KeySet::new(
        inputs::english_names(7)
            .into_iter()
            .map(|key| (key.into_boxed_str(), Ends::Word))
            .collect(),
    )?;
    add("lore_keys", english.len(), lore_keys(&keys, &english));
    add("embed", novel.len(), embed(&inputs::CHAPTERS));
    Ok(answers)
}

#[inline(never)]
fn mentions_zh(matcher: &Matcher, text: &str) -> usize {
    matcher.find_all(black_box(text)).len()
}

#[inline(never)]
fn mentions_en(matcher: &Matcher, text: &str) -> usize {
    black_box(matcher).find_packed(1, text).len() / 16
}

#[inline(never)]
fn count_zh(counter: &Counter, text: &str) -> Result<usize, Box<dyn Error>> {
    Ok(counter.count(black_box(text))?)
}

#[inline(never)]
fn count_en(counter: &Counter, text: &str) -> Result<usize, Box<dyn Error>> {
    let tokens = black_box(counter).count(text)?;
    Ok(tokens)
}

#[inline(never)]
fn cut(counter: &Counter, text: &str) -> Result<usize, Box<dyn Error>> {
    Ok(truncate(counter, text, 500, Keep::Tail, Boundary::Sentence)?.start)
}

#[inline(never)]
fn index_tokens(text: &str) -> usize {
    bigrams::index_tokens(text).len()
}

#[inline(never)]
fn read_document(text: &str) -> Result<usize, Box<dyn Error>> {
    Ok(part("chapter.md", text)?.rows.paragraphs.len())
}

#[inline(never)]
fn rank(corpus: &Corpus, query: &Query) -> Result<usize, Box<dyn Error>> {
    Ok(score(corpus, query)?.frequencies.len())
}

#[inline(never)]
fn outline_of_code(text: &str) -> usize {
    outline(text).blocks.len()
}

#[inline(never)]
fn allocate_items(layers: &[Layer], items: &[Item<'_>]) -> Result<usize, Box<dyn Error>> {
    let allocation = allocate(4_000, layers, &[], items).map_err(|error| error.to_string())?;
    Ok(allocation.used.iter().sum::<u32>() as usize)
}

#[inline(never)]
fn lore_keys(keys: &KeySet, text: &str) -> usize {
    keys.found(text).len()
}

#[inline(never)]
fn embed(texts: &[&str]) -> usize {
    lexical::embed(texts, 256).len()
}

fn matcher(names: &[String]) -> Result<Matcher, Box<dyn Error>> {
    let entities = names.iter().map(|name| (name.as_str(), [name.as_str()]));
    Ok(Matcher::new(entities)?)
}

/// A document of which every line is a paragraph.
fn part(path: &str, text: &str) -> Result<Part, Box<dyn Error>> {
    let (mut spans, mut at) = (Vec::new(), 0);
    for line in text.lines() {
        let length = u32::try_from(line.chars().count())?;
        if length > 0 {
            spans.push((at, at + length, Role::Body));
        }
        at += length + 1;
    }
    let unit = Unit {
        label: String::new(),
        chapter: None,
        first: 0,
    };
    Ok(Part::new(path, Kind::Chapter, text, &spans, vec![unit])?)
}

fn corpus() -> Result<Corpus, Box<dyn Error>> {
    let parts = inputs::CHAPTERS.iter().enumerate();
    let parts: Result<Vec<Part>, _> = parts
        .map(|(number, text)| part(&format!("{number}.md"), text))
        .collect();
    Ok(Corpus::new(parts?)?)
}

fn query(words: &str) -> Query {
    let group = |word: &str| Group {
        family: 0,
        weight: 1.0,
        any: vec![(Wanted::text(word), 1.0)],
    };
    Query {
        groups: words.split(' ').map(group).collect(),
        concepts: Vec::new(),
        near: 0.3,
        share: 0.6,
        weights: Weights {
            families: vec![FamilyWeight {
                name: "main".to_owned(),
                weight: 1.0,
                b: [0.75; 4],
            }],
            k1: [1.2; 4],
            paragraph: 1.0,
            near: 0.3,
            window: 0.75,
            unit: 0.5,
            line: 0.5,
            asked: 6.0,
            c: 0.2,
            d: 0.2,
            heading: 0.0,
        },
        chapters: Vec::new(),
        paragraphs: Vec::new(),
        units: Vec::new(),
        lines: Vec::new(),
        filter: Filter::default(),
        look_into: None,
    }
}

fn layers() -> Vec<Layer> {
    let shares = [(1_500, 500), (1_000, 200), (2_500, 0), (5_000, 2_000)];
    let layer = |(priority, (ratio, min)): (u32, (u32, u32))| Layer {
        ratio,
        min,
        max: u32::MAX,
        overhead: 12,
        priority,
    };
    (0..).zip(shares).map(layer).collect()
}

/// A thousand candidates, most of them too many for the budget.
fn items() -> Vec<Item<'static>> {
    let item = |number: u32| Item {
        layer: number as usize % 4,
        tokens: 20 + number * 37 % 91,
        short: (number.is_multiple_of(5)).then_some(12),
        pinned: number.is_multiple_of(97),
        truncatable: number.is_multiple_of(3),
        group: None,
        bundle: None,
        score: f64::from(number * 7_919 % 1_009),
        source: "rag:passage",
        id: "",
    };
    (0..1_000).map(item).collect()
}
