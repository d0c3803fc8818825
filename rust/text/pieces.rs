//! A paragraph that is too long to be one unit, as pieces that can be read.

use crate::interrupt::{Pace, paced};

use super::segment::{ends_sentence, is_grapheme_boundary};

const OPEN: &[char] = &['“', '「', '『', '«'];
const CLOSED: &[char] = &['”', '」', '』', '»'];
/// Code points of the longest user-perceived character that is kept whole.
const REACH: usize = 32;
const CLAUSES: &[char] = &['，', '；', '、', ',', ';', '—'];

/// How well a text may be cut at a place, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// At white space: no word is cut.
    Blank,
    /// Behind a comma or a semicolon.
    Clause,
    /// Behind a sentence of something that is being said.
    Quoted,
    /// Behind a sentence.
    Sentence,
}

/// Spans in code points, ascending, none longer than `limit` (at least 1), white space outside.
///
/// A piece ends behind a sentence where nothing is left unsaid: not behind "Mr.", not inside a quotation, not at a
/// colon. Where there is no such place in the second half of the limit, an earlier one is taken, then the end of a
/// sentence inside a quotation, of a clause, of a word; in that order. Cost: one pass.
pub fn pieces(text: &str, limit: usize) -> Vec<(usize, usize)> {
    let limit = limit.max(1);
    let places = places(text);
    let chars: Vec<char> = paced(text.chars()).collect();
    let mut found = Vec::new();
    let mut start = skip(&chars, 0);
    let mut end = chars.len();
    while end > start && chars[end - 1].is_whitespace() {
        end -= 1;
    }
    let mut pace = Pace::new();
    while end - start > limit {
        pace.step(limit);
        let cut =
            best(&places, start, limit).unwrap_or_else(|| anywhere(&chars[start..], limit) + start);
        let mut right = cut;
        while right > start && chars[right - 1].is_whitespace() {
            right -= 1;
        }
        if right > start {
            found.push((start, right));
        }
        start = skip(&chars, cut).min(end);
    }
    if end > start {
        found.push((start, end));
    }
    found
}

fn skip(chars: &[char], from: usize) -> usize {
    let blank = chars[from..].iter().take_while(|c| c.is_whitespace());
    from + blank.count()
}

/// Every place where `text` may be cut: (code points before it, how well), ascending.
fn places(text: &str) -> Vec<(usize, Kind)> {
    let mut found = Vec::new();
    let (mut depth, mut straight) = (0_usize, false);
    let mut before = None;
    for (count, (at, c)) in paced(text.char_indices()).enumerate() {
        if count > 0
            && let Some(kind) = kind_at(text, at, before, depth > 0 || straight)
        {
            found.push((count, kind));
        }
        match c {
            '\n' | '\r' => (depth, straight) = (0, false),
            '"' => straight = !straight,
            c if OPEN.contains(&c) => depth += 1,
            c if CLOSED.contains(&c) => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = Some(c);
    }
    found
}

fn kind_at(text: &str, at: usize, before: Option<char>, quoted: bool) -> Option<Kind> {
    let before = before?;
    let next = text[at..].chars().next()?;
    if ends_sentence(text, at) {
        return Some(if quoted { Kind::Quoted } else { Kind::Sentence });
    }
    if CLAUSES.contains(&before) && !CLAUSES.contains(&next) {
        return Some(Kind::Clause);
    }
    next.is_whitespace().then_some(Kind::Blank)
}

/// Where to cut what begins at `start`: the best kind of place in reach, of those the last.
fn best(places: &[(usize, Kind)], start: usize, limit: usize) -> Option<usize> {
    let first = places.partition_point(|place| place.0 <= start);
    let after = places[first..].partition_point(|place| place.0 <= start + limit);
    let reach = &places[first..first + after];
    let late = reach.partition_point(|place| place.0 <= start + limit / 2);
    for kind in [Kind::Sentence, Kind::Quoted, Kind::Clause, Kind::Blank] {
        // A quarter of the limit is no crumb, when it is a sentence.
        let least = if kind == Kind::Sentence {
            reach.partition_point(|place| place.0 <= start + limit / 4)
        } else {
            late
        };
        let latest = |places: &[(usize, Kind)]| {
            places
                .iter()
                .rev()
                .find(|place| place.1 == kind)
                .map(|place| place.0)
        };
        if let Some(at) = latest(&reach[late..]).or_else(|| latest(&reach[least..])) {
            return Some(at);
        }
    }
    None
}

/// The last place within `limit` that is not inside a user-perceived character; `limit` when there is none near it.
fn anywhere(chars: &[char], limit: usize) -> usize {
    let from = limit.saturating_sub(REACH);
    let text: String = chars[from..(limit + REACH).min(chars.len())]
        .iter()
        .collect();
    let mut at = chars[from..limit]
        .iter()
        .map(|c| c.len_utf8())
        .sum::<usize>();
    for back in 0..limit - from {
        if is_grapheme_boundary(&text, at) {
            return limit - back;
        }
        at -= chars[limit - back - 1].len_utf8();
    }
    limit
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str, limit: usize) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let spans = pieces(text, limit);
        spans
            .into_iter()
            .map(|(a, b)| chars[a..b].iter().collect())
            .collect()
    }

    #[test]
    fn a_piece_ends_behind_a_sentence_and_not_behind_an_abbreviation() {
        assert_eq!(
            texts(
                "He went to see Mr. Holt. Then he met St. John. It rained.",
                30
            ),
            [
                "He went to see Mr. Holt.",
                "Then he met St. John.",
                "It rained."
            ]
        );
    }

    #[test]
    fn a_piece_ends_outside_a_quotation_where_it_can() {
        assert_eq!(
            texts("他来了。他说：“走吧。快走！”她不动。", 14),
            ["他来了。", "他说：“走吧。快走！”", "她不动。"]
        );
        assert_eq!(
            texts("“一。二。三。四。五。六。”", 8),
            ["“一。二。三。", "四。五。六。”"]
        );
    }

    #[test]
    fn a_text_without_sentences_is_cut_between_words_and_one_without_words_anywhere() {
        assert_eq!(texts("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(texts(&"字".repeat(7), 3), ["字字字", "字字字", "字"]);
    }

    proptest! {
        #[test]
        fn pieces_are_short_and_hold_everything_but_white_space(text in "[a-z.!?,;“”\"「」 \n你好。！，́]{0,200}", limit in 1_usize..40) {
            let found = pieces(&text, limit);
            let chars: Vec<char> = text.chars().collect();
            let mut at = 0;
            for (start, end) in found {
                prop_assert!(at <= start && start < end && end - start <= limit);
                prop_assert!(chars[at..start].iter().all(|c| c.is_whitespace()));
                prop_assert!(!chars[start].is_whitespace() && !chars[end - 1].is_whitespace());
                at = end;
            }
            prop_assert!(chars[at..].iter().all(|c| c.is_whitespace()));
        }
    }
}
