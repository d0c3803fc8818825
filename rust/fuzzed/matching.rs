//! Names found in a text: held against a search of every place, where folding changes nothing but case.

use std::collections::BTreeSet;

use super::input::Input;
use crate::matching::matcher::{Hit, Matcher};
use crate::matching::readings::Kind;
use crate::text::normalize::fold;

/// Names, a line each, then the text.
pub fn matcher(data: &[u8]) {
    let mut input = Input::new(data);
    let (flags, count) = (input.byte(), 1 + input.below(6));
    let names: Vec<String> = (0..count).map(|_| input.line(40)).collect();
    let text = input.text(400);
    let ids: Vec<String> = (0..count)
        .map(|number| format!("e{}", number / 2))
        .collect();
    let kind = if flags & 1 == 0 {
        Kind::Person
    } else {
        Kind::Other
    };
    let each = ids.iter().zip(&names);
    let entities = each.map(|(id, name)| (id.as_str(), kind, [name.as_str()]));
    let last = [(ids[0].as_str(), names[count - 1].as_str())];
    let short = if flags & 2 == 0 { &[][..] } else { &last };
    let blank = |name: &String| fold(name.trim()).text.trim().is_empty();
    let Ok(matcher) = Matcher::with_short_names(entities, short) else {
        assert!(names.iter().any(blank), "refused: {names:?}");
        return;
    };
    assert!(!names.iter().any(blank), "taken: {names:?}");
    let kept = matcher.find_all(&text);
    assert_eq!(kept, matcher.find_all(&text));
    assert!(kept.windows(2).all(|pair| pair[0].end <= pair[1].start));
    let all = matcher.find_overlapping(&text);
    let rejected = matcher.explain(&text);
    for hit in kept
        .iter()
        .chain(&all)
        .chain(rejected.iter().map(|one| &one.hit))
    {
        let written = &text[hit.start..hit.end];
        assert_eq!(fold(written).text, fold(matcher.alias(hit.alias)).text);
    }
    assert!(kept.iter().all(|hit| all.contains(hit)), "{kept:?} {all:?}");
    let mut known = BTreeSet::new();
    let first: Vec<(u32, Hit)> = kept
        .iter()
        .flat_map(|hit| {
            matcher
                .entities_of(hit.alias)
                .iter()
                .map(|one| (*one, *hit))
        })
        .filter(|(entity, _)| known.insert(*entity))
        .collect();
    assert_eq!(matcher.detect(&text), first);
    packed_is_the_same(&matcher, &text, &kept);
    let told: BTreeSet<Hit> = rejected.iter().map(|one| one.hit).collect();
    assert!(
        kept.iter().all(|hit| !told.contains(hit)),
        "kept and rejected"
    );
    if text.chars().all(folds_to_itself_but_for_case) {
        let either: BTreeSet<Hit> = kept.iter().copied().chain(told).collect();
        assert_eq!(either, everywhere(&matcher, &text));
    }
}

/// ASCII, and Han characters that nothing combines with.
fn folds_to_itself_but_for_case(c: char) -> bool {
    c.is_ascii() || ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// Every place where an alias stands, tried one after the other.
fn everywhere(matcher: &Matcher, text: &str) -> BTreeSet<Hit> {
    let lower = text.to_ascii_lowercase();
    let mut found = BTreeSet::new();
    for (alias, shown) in matcher.aliases().enumerate() {
        let folded = fold(shown).text.into_owned();
        for (start, _) in lower.char_indices() {
            if lower[start..].starts_with(&folded) {
                found.insert(Hit {
                    start,
                    end: start + folded.len(),
                    alias: alias as u32,
                });
            }
        }
    }
    found
}

fn packed_is_the_same(matcher: &Matcher, text: &str, hits: &[Hit]) {
    let packed = matcher.find_packed(7, text);
    let points = |byte: usize| text[..byte].chars().count() as u32;
    let rows = hits.iter().flat_map(|hit| {
        let (start, end) = (points(hit.start), points(hit.end));
        matcher
            .entities_of(hit.alias)
            .iter()
            .map(move |entity| [7, *entity, start, end])
    });
    let expected: Vec<u8> = rows.flatten().flat_map(u32::to_le_bytes).collect();
    assert_eq!(packed, expected);
}
