//! The pre-tokenizer of `DeepSeek` V3: three splits one after the other, each inside the parts of the last.
//!
//! First numbers by three, then runs of Han and kana, then in what lies between: punctuation glued to an
//! ASCII word, words with marks, punctuation, white space. For the last pattern the text ends where an
//! earlier split begins. What no pattern matches (joiners, controls, private use) stays one piece up to
//! the next match.

use super::classes::{Classes, LETTER, MARK, NUMBER, SPACE, SYMBOL, decode};
use super::scanners::{is_line_end, numbers, white_space};

const WORD: u8 = LETTER | MARK;

/// `[一-龥\u3040-\u309F\u30A0-\u30FF]`, the second split.
#[inline]
fn is_cjk(text: &[u8], at: usize) -> bool {
    text[at] >= 0xE3 && matches!(decode(text, at).0, 0x4E00..=0x9FA5 | 0x3040..=0x30FF)
}

/// Whether the last pattern sees the end of its text here.
fn ends(classes: &Classes, text: &[u8], at: usize) -> bool {
    at == text.len() || classes.at(text, at).0 & NUMBER != 0 || is_cjk(text, at)
}

/// Whether a word of the last pattern can go on here.
#[inline]
fn in_word(classes: &Classes, text: &[u8], at: usize) -> bool {
    at < text.len() && classes.at(text, at).0 & WORD != 0 && !is_cjk(text, at)
}

fn word(classes: &Classes, text: &[u8], mut at: usize) -> usize {
    while in_word(classes, text, at) {
        at += decode(text, at).1;
    }
    at
}

/// End of the piece that starts at `at`.
pub(super) fn scan(classes: &Classes, text: &[u8], at: usize) -> usize {
    let (bits, width) = classes.at(text, at);
    if bits & NUMBER != 0 {
        return numbers(classes, text, at, 3);
    }
    if is_cjk(text, at) {
        let mut end = at;
        while end < text.len() && is_cjk(text, end) {
            end += 3;
        }
        return end;
    }
    let (first, next) = (text[at], at + width);
    if first.is_ascii_punctuation() {
        let letters = text[next..]
            .iter()
            .take_while(|b| b.is_ascii_alphabetic())
            .count();
        if letters > 0 {
            return next + letters;
        }
    }
    if bits & WORD != 0 || bits & SYMBOL == 0 && !is_line_end(first) && in_word(classes, text, next)
    {
        return word(classes, text, next);
    }
    let start = if first == b' ' { next } else { at };
    let mut end = start;
    while end < text.len() && classes.at(text, end).0 & SYMBOL != 0 && !is_cjk(text, end) {
        end += decode(text, end).1;
    }
    if end > start {
        while end < text.len() && is_line_end(text[end]) {
            end += 1;
        }
        return end;
    }
    if bits & SPACE != 0 {
        return white_space(classes, text, at, false, |end| ends(classes, text, end));
    }
    let mut gap = next;
    while gap < text.len()
        && classes.at(text, gap).0 & (WORD | SYMBOL | SPACE) == 0
        && !ends(classes, text, gap)
    {
        let after = gap + decode(text, gap).1;
        if in_word(classes, text, after) {
            break;
        }
        gap = after;
    }
    gap
}
