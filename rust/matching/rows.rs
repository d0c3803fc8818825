//! The rows of `tests/cases/matcher.json`, which Python runs too, and properties of the search.

use crate::matching::boundary;
use crate::matching::matcher::{Hit, Matcher};
use crate::text::offsets::CodePoints;
use proptest::prelude::*;
use serde_json::Value;

fn rows(kind: &str) -> Vec<Value> {
    let cases: Value =
        serde_json::from_str(include_str!("../../tests/cases/matcher.json")).expect("valid JSON");
    cases[kind].as_array().expect("a list of rows").clone()
}

fn build(entities: &Value) -> Result<Matcher, crate::matching::matcher::MatcherError> {
    let entities = entities.as_object().expect("id -> names");
    let named = entities.iter().map(|(id, names)| {
        let names = names.as_array().expect("names").iter();
        (
            id.as_str(),
            names.map(|name| name.as_str().expect("a name")),
        )
    });
    Matcher::new(named)
}

fn mentions(matcher: &Matcher, text: &str) -> Value {
    let mut cursor = CodePoints::new(text);
    let mut found = Vec::new();
    for hit in matcher.find_all(text) {
        let (start, end) = cursor.span(hit.start, hit.end);
        for entity in matcher.entities_of(hit.alias) {
            found.push(serde_json::json!([
                matcher.ids()[*entity as usize],
                text[hit.start..hit.end],
                start,
                end
            ]));
        }
    }
    Value::Array(found)
}

#[test]
fn every_row_is_answered_as_written() {
    for row in rows("rows") {
        let matcher = build(&row["entities"]).expect("a matcher");
        let text = row["text"].as_str().expect("a text");
        assert_eq!(
            mentions(&matcher, text),
            row["mentions"],
            "{}",
            row["claim"]
        );
    }
}

#[test]
fn blank_names_are_refused_with_the_entity_named() {
    for row in rows("blank") {
        let error = build(&row["entities"]).expect_err("a refusal");
        assert_eq!(
            error.to_string(),
            row["error"].as_str().expect("a message"),
            "{}",
            row["claim"]
        );
    }
}

/// Leftmost-longest by trying every alias at every position; for text and aliases that need no folding or boundary.
fn naive(aliases: &[String], text: &str) -> Vec<(usize, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let here = aliases
            .iter()
            .filter(|alias| text[at..].starts_with(alias.as_str()));
        match here.map(String::len).max() {
            Some(length) => {
                found.push((at, at + length));
                at += length;
            }
            None => at += text[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// The same for text that needs no folding, a mention being what the boundaries allow.
fn naive_in_words(aliases: &[String], text: &str) -> Vec<(usize, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let here = aliases.iter().map(|alias| alias.trim()).filter(|alias| {
            text[at..].starts_with(alias)
                && boundary::left(text, at).is_none()
                && boundary::right(text, at + alias.len()).is_none()
        });
        let longest = here.map(str::len).max();
        found.extend(longest.map(|length| (at, at + length)));
        at += longest.unwrap_or_else(|| text[at..].chars().next().map_or(1, char::len_utf8));
    }
    found
}

fn spans(hits: &[Hit]) -> Vec<(usize, usize)> {
    hits.iter().map(|hit| (hit.start, hit.end)).collect()
}

proptest! {
    #[test]
    fn han_text_is_searched_leftmost_longest(
        aliases in prop::collection::vec("[宝玉黛甄𠮷]{1,4}", 1..12),
        text in "[宝玉黛甄𠮷，。x ]{0,60}",
    ) {
        let matcher = Matcher::new([("a", aliases.iter().map(String::as_str))]).expect("a matcher");
        prop_assert_eq!(spans(&matcher.find_all(&text)), naive(&aliases, &text));
    }

    #[test]
    fn words_are_searched_leftmost_longest_between_their_boundaries(
        aliases in prop::collection::vec("[ab]{1,2}|[ab_]{6,10}|[ab1é宝 '-]{1,6}", 1..16),
        text in "([ab1_]|[ab_]{6,10}|[ab]{1,2}[ '-]|[é宝玉]){0,40}",
    ) {
        let visible = aliases.iter().filter(|alias| !alias.trim().is_empty());
        let visible: Vec<String> = visible.cloned().collect();
        let matcher = Matcher::new([("a", visible.iter().map(String::as_str))]).expect("a matcher");
        prop_assert_eq!(spans(&matcher.find_all(&text)), naive_in_words(&visible, &text));
    }

    #[test]
    fn what_is_kept_and_what_is_explained_make_up_all_occurrences(
        aliases in prop::collection::vec("[宝玉abß 민수]{1,3}", 1..8),
        text in "[宝玉abAß 민수는]{0,40}",
    ) {
        let visible: Vec<_> = aliases.iter().filter(|alias| !alias.trim().is_empty()).collect();
        let matcher = Matcher::new([("a", visible.iter().map(|alias| alias.as_str()))]).expect("a matcher");
        let kept = matcher.find_all(&text);
        prop_assert!(kept.windows(2).all(|pair| pair[0].end <= pair[1].start));
        let explained = matcher.explain(&text);
        prop_assert!(explained.iter().all(|rejected| !kept.contains(&rejected.hit)));
        for hit in matcher.find_overlapping(&text) {
            prop_assert!(kept.contains(&hit) || explained.iter().any(|rejected| rejected.hit == hit));
        }
    }

    #[test]
    fn no_text_makes_the_search_fail(aliases in prop::collection::vec("\\PC{1,3}", 0..8), text in "\\PC{0,80}") {
        let visible = aliases.iter().map(String::as_str).filter(|alias| Matcher::new([("a", [*alias])]).is_ok());
        let matcher = Matcher::new([("a", visible)]).expect("a matcher");
        for hit in matcher.find_all(&text) {
            prop_assert!(text.is_char_boundary(hit.start) && text.is_char_boundary(hit.end) && hit.start < hit.end);
        }
    }
}
