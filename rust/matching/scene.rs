//! Who is named in the text around a cursor, for whoever asks that and not where: how often, whether near it, whether
//! speaking; and whom nothing but a longer name holds.
//!
//! What somebody weighs for it is not decided here (`fetchers/scene.py`, which answers the same of what any other matcher
//! found). Rows that both run: `tests/cases/scene.json`.

use crate::matching::boundary::Reason;
use crate::matching::matcher::{Hit, Matcher};
use rustc_hash::{FxHashMap, FxHashSet};
use std::iter::once;

/// Code points before and behind a name in which a word of speech is looked for.
const BESIDE: usize = 24;

/// What tells that somebody speaks.
#[derive(Debug, Clone, Default)]
pub struct Speech {
    /// Characters behind a name, at once or after one other.
    pub han: FxHashSet<char>,
    /// Words before a name or behind it.
    pub latin: FxHashSet<String>,
}

/// An entity that is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// Which.
    pub entity: u32,
    /// Its first mention.
    pub first: Hit,
    /// How many there are.
    pub count: u32,
    /// Whether one of them is near.
    pub near: bool,
    /// Whether one of them speaks.
    pub speaks: bool,
}

/// An entity that is not named; its alias stands inside a longer name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hidden {
    /// Which.
    pub entity: u32,
    /// Where it stands last.
    pub hit: Hit,
    /// The longer one.
    pub by: Option<Hit>,
}

impl Matcher {
    /// Who is named in `text`, by their first mentions, and who is hidden, by their last occurrences.
    ///
    /// `near` are the first and the last code point that a mention near the cursor touches. Cost: that of `explain`.
    pub fn scene(
        &self,
        text: &str,
        near: (i64, i64),
        speech: &Speech,
    ) -> (Vec<Named>, Vec<Hidden>) {
        let candidates = self.candidates(text);
        let hits = candidates
            .iter()
            .filter(|hit| self.rejection(text, hit).is_none());
        let named = self.named(text, hits.copied(), near, speech);
        let known: FxHashSet<u32> = named.iter().map(|one| one.entity).collect();
        let mut hidden: FxHashMap<u32, usize> = FxHashMap::default();
        let mut found: Vec<Hidden> = Vec::new();
        for one in self.explained(text, candidates) {
            if one.reason != Reason::Shadowed {
                continue;
            }
            for &entity in self.entities_of(one.hit.alias) {
                if known.contains(&entity) {
                    continue;
                }
                let last = Hidden {
                    entity,
                    hit: one.hit,
                    by: one.by,
                };
                if let Some(&at) = hidden.get(&entity) {
                    found[at] = last;
                } else {
                    hidden.insert(entity, found.len());
                    found.push(last);
                }
            }
        }
        (named, found)
    }

    fn named(
        &self,
        text: &str,
        hits: impl Iterator<Item = Hit>,
        near: (i64, i64),
        speech: &Speech,
    ) -> Vec<Named> {
        let latin = text.bytes().any(|byte| byte.is_ascii_alphabetic());
        let (from, to) = (byte_at(text, near.0), byte_at(text, near.1));
        let mut places: FxHashMap<u32, usize> = FxHashMap::default();
        let mut found: Vec<Named> = Vec::new();
        for hit in hits {
            let beside = near.1 >= 0 && hit.start <= to && hit.end >= from;
            let mut said = None;
            for &entity in self.entities_of(hit.alias) {
                let at = *places.entry(entity).or_insert_with(|| {
                    found.push(Named {
                        entity,
                        first: hit,
                        count: 0,
                        near: false,
                        speaks: false,
                    });
                    found.len() - 1
                });
                let one = &mut found[at];
                one.count += 1;
                one.near |= beside;
                if !one.speaks {
                    one.speaks = *said.get_or_insert_with(|| speech.is_of(text, hit, latin));
                }
            }
        }
        found
    }
}

impl Speech {
    /// Whether a name stands beside a word of speech; `latin` when the text has letters of that script.
    fn is_of(&self, text: &str, hit: Hit, latin: bool) -> bool {
        let (before, behind) = (&text[..hit.start], &text[hit.end..]);
        if behind.chars().take(2).any(|next| self.han.contains(&next)) {
            return true;
        }
        let letter = |c: char| c.is_ascii_alphabetic();
        let close = before.chars().rev().take(2).any(letter) || behind.chars().take(2).any(letter);
        latin && close && (self.begins(behind) || self.ends(before))
    }

    /// Whether the first word behind a name is one of speech.
    fn begins(&self, behind: &str) -> bool {
        let end = behind
            .char_indices()
            .nth(BESIDE)
            .map_or(behind.len(), |(at, _)| at);
        let rest = behind[..end].trim_start_matches(|c| !is_word(c));
        let word = rest.find(|c| !is_word(c)).map_or(rest, |at| &rest[..at]);
        self.latin.contains(word)
    }

    /// Whether the last word before a name is one of speech.
    fn ends(&self, before: &str) -> bool {
        let first = before
            .char_indices()
            .rev()
            .nth(BESIDE - 1)
            .map_or(0, |(at, _)| at);
        let rest = before[first..].trim_end_matches(|c| !is_word(c));
        let begin = rest.rfind(|c| !is_word(c)).map_or(0, |at| {
            at + rest[at..].chars().next().map_or(0, char::len_utf8)
        });
        self.latin.contains(&rest[begin..])
    }
}

/// What Python's `\w` is: letters, numbers, the low line; neither marks nor letters in circles.
fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    let circled = matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f149}' | '\u{1f150}'..='\u{1f169}' | '\u{1f170}'..='\u{1f189}');
    c.is_alphanumeric() && !circled && !unicode_normalization::char::is_combining_mark(c)
}

/// The byte that a code point begins at; of one past the end the end, of others behind it the greatest number.
fn byte_at(text: &str, code_point: i64) -> usize {
    let Ok(number) = usize::try_from(code_point) else {
        return 0;
    };
    let mut starts = text.char_indices().map(|(at, _)| at);
    starts
        .by_ref()
        .chain(once(text.len()))
        .nth(number)
        .unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Speech, byte_at, is_word};
    use crate::matching::matcher::Matcher;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Row {
        says: String,
        entities: Vec<(String, Vec<String>)>,
        text: String,
        near: (i64, i64),
        named: Vec<(String, u32, bool, bool, usize)>,
        hidden: Vec<(String, String, String)>,
    }

    #[derive(Deserialize)]
    struct Cases {
        han: String,
        latin: Vec<String>,
        rows: Vec<Row>,
    }

    #[test]
    fn rows_that_python_runs_too() {
        let all: Cases =
            serde_json::from_str(include_str!("../../tests/cases/scene.json")).expect("rows");
        let speech = Speech {
            han: all.han.chars().collect(),
            latin: all.latin.into_iter().collect(),
        };
        for row in all.rows {
            let entities = row
                .entities
                .iter()
                .map(|(id, names)| (id.as_str(), names.iter().map(String::as_str)));
            let matcher = Matcher::new(entities).expect("a matcher");
            let (named, hidden) = matcher.scene(&row.text, row.near, &speech);
            let id = |entity: u32| matcher.ids()[entity as usize].clone();
            let named: Vec<_> = named
                .iter()
                .map(|one| {
                    let start = row.text[..one.first.start].chars().count();
                    (id(one.entity), one.count, one.near, one.speaks, start)
                })
                .collect();
            assert_eq!(named, row.named, "{}", row.says);
            let hidden: Vec<_> = hidden
                .iter()
                .map(|one| {
                    let by = one.by.expect("a longer name");
                    let written = |start, end| row.text[start..end].to_owned();
                    (
                        id(one.entity),
                        written(one.hit.start, one.hit.end),
                        written(by.start, by.end),
                    )
                })
                .collect();
            assert_eq!(hidden, row.hidden, "{}", row.says);
        }
    }

    #[test]
    fn a_code_point_behind_the_end_is_far() {
        assert_eq!(byte_at("林a", -3), 0);
        assert_eq!(byte_at("林a", 1), 3);
        assert_eq!(byte_at("林a", 2), 4);
        assert_eq!(byte_at("林a", 3), usize::MAX);
    }

    #[test]
    fn a_mark_ends_a_word_and_a_number_does_not() {
        assert!(is_word('林') && is_word('½') && is_word('_') && is_word('é'));
        assert!(!is_word('\u{301}') && !is_word('Ⓐ') && !is_word('—') && !is_word('’'));
    }
}
