//! Text to the tokens of the full-text index, and query terms back to where they stand in a text.
//!
//! A *unit* is one character of an unspaced script (Han, Kana, Hangul, Thai …) or one word of any other. Runs of
//! characters are indexed as their bigrams and a final single character, so a phrase of bigrams finds every substring of
//! two characters or more and a prefix query finds single ones: no dictionary, no unknown words. Units are compared
//! after compatibility normalisation (NFKC) and lower-casing; spans always point into the text as it was given.

use std::fmt::Write;

use crate::interrupt::paced;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// A piece of folded text and where it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unit {
    /// Byte range in `FoldedUnits::text`.
    from: u32,
    to: u32,
    /// Code points in the original text, half-open.
    start: u32,
    end: u32,
    /// One character of an unspaced script, as opposed to a word.
    single: bool,
    /// Nothing stands between this unit and the one before it.
    glued: bool,
}

/// Folded text cut into units.
struct FoldedUnits {
    text: String,
    units: Vec<Unit>,
}

impl FoldedUnits {
    fn unit(&self, unit: Unit) -> &str {
        &self.text[unit.from as usize..unit.to as usize]
    }
}

/// Scripts that are written without spaces between words, and Hangul, whose particles cling to names.
fn is_unspaced(c: char) -> bool {
    matches!(c as u32,
        0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0x3035 | 0x3038..=0x303B
        | 0x3041..=0x3096 | 0x309D..=0x309F | 0x30A1..=0x30FA | 0x30FC..=0x30FF | 0x3105..=0x312F
        | 0x31A0..=0x31BF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF
        | 0x1100..=0x11FF | 0xAC00..=0xD7FF | 0x0E01..=0x0EDF | 0x1000..=0x109F | 0x1780..=0x17DD
        | 0x1B000..=0x1B16F | 0x20000..=0x3FFFD)
}

/// Continues the character before it: combining marks, and the vowel and final letters of a Hangul syllable.
fn continues(c: char) -> bool {
    c > '\u{2FF}'
        && (canonical_combining_class(c) != 0
            || matches!(c as u32, 0x1160..=0x11FF | 0xFE00..=0xFE0F | 0xFF9E..=0xFF9F))
}

fn fold(text: &str) -> FoldedUnits {
    let mut folded = FoldedUnits {
        text: String::with_capacity(text.len()),
        units: Vec::new(),
    };
    let mut position = 0u32;
    let mut last_end = u32::MAX;
    let mut chars = paced(text.char_indices()).peekable();
    while let Some((at, c)) = chars.next() {
        let start = position;
        position += 1;
        let mut to = at + c.len_utf8();
        while let Some(&(next_at, next)) = chars.peek() {
            if !continues(next) {
                break;
            }
            to = next_at + next.len_utf8();
            position += 1;
            chars.next();
        }
        let chunk = &text[at..to];
        if c.is_ascii() && chunk.len() == 1 {
            if c.is_ascii_alphanumeric() {
                push(
                    &mut folded,
                    c.to_ascii_lowercase(),
                    start,
                    position,
                    &mut last_end,
                );
            }
            continue;
        }
        for normal in chunk.nfkc().flat_map(char::to_lowercase) {
            if normal.is_alphanumeric()
                || is_unspaced(normal)
                || continues(normal) && last_end >= start
            {
                push(&mut folded, normal, start, position, &mut last_end);
            }
        }
    }
    folded
}

fn push(folded: &mut FoldedUnits, c: char, start: u32, end: u32, last_end: &mut u32) {
    let single = is_unspaced(c);
    let glued = *last_end == start || (*last_end == end && !folded.units.is_empty());
    let from = folded.text.len() as u32;
    folded.text.push(c);
    let to = folded.text.len() as u32;
    *last_end = end;
    if let Some(word) = folded.units.last_mut()
        && glued
        && !single
        && !word.single
    {
        word.to = to;
        word.end = end;
        return;
    }
    folded.units.push(Unit {
        from,
        to,
        start,
        end,
        single,
        glued,
    });
}

/// The character that makes a bigram with unit `i`.
fn paired(folded: &FoldedUnits, i: usize) -> Option<Unit> {
    let next = folded.units.get(i + 1).copied()?;
    (folded.units[i].single && next.single && next.glued).then_some(next)
}

/// The tokens of `text` for a full-text index whose tokenizer splits at spaces.
pub fn index_tokens(text: &str) -> String {
    let folded = fold(text);
    let mut out = String::with_capacity(folded.text.len() * 3);
    for (i, &unit) in paced(folded.units.iter().enumerate()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(folded.unit(unit));
        if let Some(next) = paired(&folded, i) {
            out.push_str(folded.unit(next));
        }
    }
    out
}

/// A term as an FTS5 expression: a quoted phrase, with `*` after it when it ends in a lone character; "" when the term
/// holds nothing that is indexed.
pub fn phrase(term: &str) -> String {
    let folded = fold(term);
    let mut out = String::new();
    let mut prefix = false;
    let mut after_pair = false;
    for (i, &unit) in paced(folded.units.iter().enumerate()) {
        let pair = paired(&folded, i);
        let last = i + 1 == folded.units.len();
        if last && unit.single && after_pair {
            break; // its bigram with the character before it says everything
        }
        out.push_str(if out.is_empty() { "\"" } else { " " });
        out.push_str(folded.unit(unit));
        if let Some(next) = pair {
            out.push_str(folded.unit(next));
        }
        after_pair = pair.is_some();
        prefix = last && unit.single;
    }
    if !out.is_empty() {
        out.push('"');
        if prefix {
            out.push('*');
        }
    }
    out
}

/// The distinct grams of a text, in order of first occurrence: bigrams of character runs, words, lone characters.
pub fn grams(text: &str) -> Vec<String> {
    let folded = fold(text);
    let mut seen = rustc_hash::FxHashSet::default();
    let mut out = Vec::new();
    let mut after_pair = false;
    for (i, &unit) in paced(folded.units.iter().enumerate()) {
        let pair = paired(&folded, i);
        let mut gram = folded.unit(unit).to_owned();
        if let Some(next) = pair {
            let _ = write!(gram, "{}", folded.unit(next));
        } else if unit.single && after_pair {
            after_pair = false;
            continue;
        }
        after_pair = pair.is_some();
        if seen.insert(gram.clone()) {
            out.push(gram);
        }
    }
    out
}

/// Where the terms stand in `text`: code-point spans, sorted, overlaps merged.
///
/// Characters of a term that touch must touch in the text; words of a term must follow each other.
pub fn find_terms(text: &str, terms: &[String]) -> Vec<(u32, u32)> {
    let haystack = fold(text);
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for term in terms {
        let needle = fold(term);
        let Some(count) = needle.units.len().checked_sub(1).map(|n| n + 1) else {
            continue;
        };
        for window in paced(haystack.units.windows(count)) {
            let same = window
                .iter()
                .zip(&needle.units)
                .enumerate()
                .all(|(i, (found, wanted))| {
                    (i == 0 || !wanted.glued || found.glued)
                        && haystack.unit(*found) == needle.unit(*wanted)
                });
            if same {
                spans.push((window[0].start, window[count - 1].end));
            }
        }
    }
    spans.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (start, end) in spans {
        match merged.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_shared_with_python_hold() {
        let rows: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/cases/grams.json"))
                .expect("the case file is JSON");
        for row in rows["tokens"].as_array().expect("a list") {
            assert_eq!(
                index_tokens(row[0].as_str().expect("text")),
                row[1].as_str().expect("tokens"),
                "{row}"
            );
        }
        for row in rows["phrases"].as_array().expect("a list") {
            assert_eq!(
                phrase(row[0].as_str().expect("term")),
                row[1].as_str().expect("phrase"),
                "{row}"
            );
        }
        for row in rows["spans"].as_array().expect("a list") {
            let terms: Vec<String> = serde_json::from_value(row[1].clone()).expect("terms");
            let spans: Vec<(u32, u32)> = serde_json::from_value(row[2].clone()).expect("spans");
            assert_eq!(
                find_terms(row[0].as_str().expect("text"), &terms),
                spans,
                "{row}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_han_substring_is_found_exactly_where_it_stands(text in "[林黛玉宝钗a，。 ]{0,40}", from in 0usize..40, len in 1usize..6) {
            let chars: Vec<char> = text.chars().collect();
            let from = from.min(chars.len());
            let to = (from + len).min(chars.len());
            let term: String = chars[from..to].iter().collect();
            let spans = find_terms(&text, std::slice::from_ref(&term));
            if !term.is_empty() && term.chars().all(is_unspaced) {
                let covered = spans.iter().any(|&(start, end)| start as usize <= from && to <= end as usize);
                prop_assert!(covered);
                for (start, end) in spans {
                    let found: String = chars[start as usize..end as usize].iter().collect();
                    prop_assert!(found.contains(&term));
                }
            }
        }

        #[test]
        fn any_text_folds_without_panic_and_spans_stay_inside(text in "\\PC{0,60}", term in "\\PC{0,6}") {
            let length = text.chars().count() as u32;
            for (start, end) in find_terms(&text, &[term]) {
                prop_assert!(start < end && end <= length);
            }
            let tokens = index_tokens(&text);
            let clean = !tokens.contains('"') && !tokens.contains("  ");
            prop_assert!(clean);
        }
    }
}
