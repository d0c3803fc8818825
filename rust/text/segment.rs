//! Where a text may be cut: graphemes, sentences of both scripts, paragraphs.
//!
//! Every question is answered from the surroundings of one position, so that a cut in a long text costs
//! no more than one in a short text. Positions are byte offsets on character boundaries.

use unicode_segmentation::GraphemeCursor;

/// Marks that end a sentence wherever they stand.
const MARKS: &[char] = &[
    '。', '！', '？', '｡', '．', '…', '‥', '⁇', '⁈', '⁉', '؟', '।',
];
/// Marks that end a sentence when white space, a CJK character or nothing follows.
const SPACED_MARKS: &[char] = &['.', '!', '?'];
/// What may stand between the mark and the end of the sentence.
const CLOSERS: &[char] = &[
    '」', '』', '”', '’', '"', '\'', ')', '）', ']', '】', '》', '〉', '＂', '»',
];
/// Words after which a full stop does not end a sentence, in lower case, without the stop.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "vs", "etc", "e.g", "i.e", "cf", "al", "no",
    "fig", "vol", "pp", "ch", "sec", "inc", "ltd", "co", "corp", "dept", "approx", "est", "gen",
    "col", "capt", "lt", "sgt", "rev", "hon", "mt", "ave", "jan", "feb", "mar", "apr", "jun",
    "jul", "aug", "sep", "sept", "oct", "nov", "dec",
];
/// How many closers, blanks or letters are looked at before a question is given up.
const REACH: usize = 24;

/// The character boundary at or before `at`.
pub fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The character boundary at or after `at`.
pub fn ceil(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Whether no user-perceived character spans `at`.
pub fn is_grapheme_boundary(text: &str, at: usize) -> bool {
    GraphemeCursor::new(at, text.len(), true)
        .is_boundary(text, 0)
        .unwrap_or(true)
}

/// Whether a paragraph ends at `at`: a line end or the end of the text follows, and no line end stands before.
pub fn ends_paragraph(text: &str, at: usize) -> bool {
    let line_end = |c: char| matches!(c, '\n' | '\r');
    let follows = text[at..].chars().next().is_none_or(line_end);
    follows && text[..at].chars().next_back().is_some_and(|c| !line_end(c))
}

/// Whether a paragraph starts at `at`: the start of the text or a line end stands before, and none follows.
pub fn starts_paragraph(text: &str, at: usize) -> bool {
    let line_end = |c: char| matches!(c, '\n' | '\r');
    let before = text[..at].chars().next_back().is_none_or(line_end);
    before && text[at..].chars().next().is_some_and(|c| !line_end(c))
}

/// Whether a sentence ends at `at`, behind its mark and what closes it; a line end ends one too.
pub fn ends_sentence(text: &str, at: usize) -> bool {
    if ends_paragraph(text, at) {
        return true;
    }
    let next = text[at..].chars().next();
    if at == 0
        || next.is_some_and(|c| {
            MARKS.contains(&c) || SPACED_MARKS.contains(&c) || CLOSERS.contains(&c)
        })
    {
        return false;
    }
    let mut before = text[..at]
        .char_indices()
        .rev()
        .take(REACH)
        .skip_while(|(_, c)| CLOSERS.contains(c));
    match before.next() {
        Some((_, c)) if MARKS.contains(&c) => true,
        Some((mark, c)) if SPACED_MARKS.contains(&c) => {
            let parts = next.is_none_or(|c| c.is_whitespace() || is_wide(c));
            parts && (c != '.' || stops(&text[..mark], &text[at..]))
        }
        _ => false,
    }
}

/// Whether a sentence starts at `at`: behind the end of another and the blanks that follow it.
pub fn starts_sentence(text: &str, at: usize) -> bool {
    if text[at..].chars().next().is_none_or(char::is_whitespace) {
        return false;
    }
    let blank = text[..at]
        .chars()
        .rev()
        .take(REACH)
        .take_while(|c| c.is_whitespace());
    let end = at - blank.map(char::len_utf8).sum::<usize>();
    end == 0 || ends_sentence(text, end)
}

fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x2E80..=0x9FFF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFF00..=0xFFEF | 0x2_0000..=0x3_FFFF
        | 0x2018..=0x201D | 0x2014)
}

/// Whether a full stop behind `before` and in front of `after` ends a sentence.
fn stops(before: &str, after: &str) -> bool {
    let following = after.chars().take(REACH).find(|c| !c.is_whitespace());
    if following.is_some_and(char::is_lowercase) {
        return false;
    }
    let in_word = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '\'' | '’');
    let letters = before.chars().rev().take(REACH).take_while(in_word);
    let word: String = letters
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect::<String>()
        .to_lowercase();
    let initial = word
        .rsplit('.')
        .next()
        .is_some_and(|w| w.chars().count() == 1 && w.chars().all(char::is_alphabetic));
    // "J. Smith", "U.S. Army": an initial, unless a wide character shows that Chinese goes on.
    !(ABBREVIATIONS.contains(&word.as_str())
        || initial && !following.is_none_or(is_wide) && word != "i")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<&str> {
        let mut parts = Vec::new();
        let mut from = 0;
        for (at, _) in text.char_indices().chain([(text.len(), ' ')]).skip(1) {
            if ends_sentence(text, at) {
                parts.push(text[from..at].trim_start());
                from = at;
            }
        }
        parts
    }

    #[derive(serde::Deserialize)]
    struct Case {
        text: String,
        sentences: Vec<String>,
    }

    #[test]
    fn sentences_are_those_of_the_rows() {
        let rows: Vec<Case> =
            serde_json::from_str(include_str!("../../tests/cases/sentences.json")).expect("rows");
        for row in rows {
            assert_eq!(sentences(&row.text), row.sentences, "{}", row.text);
        }
    }

    #[test]
    fn a_sentence_starts_where_the_blanks_after_the_last_one_end() {
        let text = "One. Two.\n\n三。四";
        let starts: Vec<_> = text
            .char_indices()
            .filter(|(at, _)| starts_sentence(text, *at))
            .collect();
        assert_eq!(starts, [(0, 'O'), (5, 'T'), (11, '三'), (17, '四')]);
        let paragraphs: Vec<_> = text
            .char_indices()
            .filter(|(at, _)| starts_paragraph(text, *at))
            .collect();
        assert_eq!(paragraphs, [(0, 'O'), (11, '三')]);
    }
}
