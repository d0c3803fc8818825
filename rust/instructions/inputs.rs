//! What the paths read: the shipped novel and code, English prose, and names made of their words.

use std::collections::BTreeSet;

/// The chapters of the shipped novel, ten thousand bytes.
pub const CHAPTERS: [&str; 7] = [
    include_str!("../../examples/novel/chapters/ch001.md"),
    include_str!("../../examples/novel/chapters/ch002.md"),
    include_str!("../../examples/novel/chapters/ch003.md"),
    include_str!("../../examples/novel/chapters/ch004.md"),
    include_str!("../../examples/novel/chapters/ch005.md"),
    include_str!("../../examples/novel/chapters/ch006.md"),
    include_str!("../../examples/novel/chapters/ch007.md"),
];

/// English prose, fourteen thousand bytes: a copy of its own, since a changed word changes every count.
const PROSE: &str = include_str!("prose.md");

const CODE: [&str; 4] = [
    include_str!("../../examples/code-project/lantern/__init__.py"),
    include_str!("../../examples/code-project/lantern/__main__.py"),
    include_str!("../../examples/code-project/lantern/festival.py"),
    include_str!("../../examples/code-project/lantern/lights.py"),
];

pub fn novel() -> String {
    CHAPTERS.join("\n\n")
}

pub fn english() -> String {
    PROSE.to_owned()
}

pub fn code() -> String {
    CODE.join("\n\n").repeat(8)
}

/// Every `step`-th pair of neighbouring characters of the novel, and as many that do not stand in it.
pub fn chinese_names(step: usize) -> Vec<String> {
    let novel = novel();
    let letters: Vec<char> = novel
        .chars()
        .filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c))
        .collect();
    let pairs = letters.windows(2).step_by(step);
    let strange = letters.iter().zip(letters.iter().rev()).step_by(step);
    let names: BTreeSet<String> = pairs
        .map(String::from_iter)
        .chain(strange.map(|(a, b)| String::from_iter([a, b])))
        .collect();
    names.into_iter().collect()
}

/// Every `step`-th word of the prose with a capital, by itself and with the one five further on.
pub fn english_names(step: usize) -> Vec<String> {
    let prose = english();
    let words: Vec<&str> = prose
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| word.len() > 3)
        .collect();
    let alone = words.iter().step_by(step).map(|word| capital(word));
    let strange = words.windows(5).step_by(step);
    let names: BTreeSet<String> = alone
        .chain(strange.map(|five| format!("{} {}", capital(five[0]), capital(five[4]))))
        .collect();
    names.into_iter().collect()
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}
