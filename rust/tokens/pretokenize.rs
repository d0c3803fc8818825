//! Pre-tokenization: where a text is cut into pieces before merging, one scanner per regular expression.
//!
//! A piece depends only on the text from its start on, never on what stands before it: scanning may
//! begin at any boundary. The scanners are exact equals of the published patterns ([`Grammar::pattern`]);
//! a property test holds them against a regex engine. All of them run in time linear in the text.

use super::classes::{Classes, HAN, LETTER, LOWER, MARK, NUMBER, SPACE, UPPER};
use super::deepseek;
use super::scanners::{is_line_end, numbers, run, white_space};

/// The family of patterns an encoding splits with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// `OpenAI`'s cl100k, as of tiktoken 0.8: white space at the very end is one piece.
    Cl100k,
    /// The same without that rule: GLM.
    Glm,
    /// One digit a piece: Qwen 2 to 3.
    Qwen,
    /// Marks belong to letters: Qwen 3.5.
    QwenMarks,
    /// Cased words, slash after punctuation: o200k.
    O200k,
    /// o200k without contractions, one digit a piece: Mistral's Tekken.
    Tekken,
    /// Runs of Han apart, no slash: Kimi K2.
    Kimi,
    /// Three splits one after the other: `DeepSeek` V3.
    DeepSeek,
}

/// Cut `text` from `at` on; returns the end of the first piece.
pub(crate) type Scan = fn(&Classes, &[u8], usize) -> usize;

impl Grammar {
    /// The scanner of this grammar.
    pub(crate) fn scan(self) -> Scan {
        match self {
            Self::Cl100k => words::<3, false, true>,
            Self::Glm => words::<3, false, false>,
            Self::Qwen => words::<1, false, false>,
            Self::QwenMarks => words::<1, true, false>,
            Self::O200k => cased::<3, true, true, false>,
            Self::Tekken => cased::<1, false, true, false>,
            Self::Kimi => cased::<3, true, false, true>,
            Self::DeepSeek => deepseek::scan,
        }
    }

    /// Whether a `/` right after punctuation and line ends belongs to the same piece.
    pub(crate) fn takes_slash(self) -> bool {
        matches!(self, Self::O200k | Self::Tekken)
    }
}

/// End of the run of characters from `at` on that have no bit of `none`.
#[inline]
fn run_without(classes: &Classes, text: &[u8], mut at: usize, none: u8) -> usize {
    while at < text.len() {
        let (bits, width) = classes.at(text, at);
        if bits & none != 0 {
            break;
        }
        at += width;
    }
    at
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?` at `at`: its end, or `at`.
#[inline]
fn contraction(text: &[u8], at: usize) -> usize {
    if text.get(at) != Some(&b'\'') {
        return at;
    }
    let letter = |i: usize| text.get(at + i).map_or(0, u8::to_ascii_lowercase);
    match (letter(1), letter(2)) {
        (b's' | b't' | b'm' | b'd', _) => at + 2,
        // The last is the long s, which folds to s.
        (b'r' | b'v', b'e') | (b'l', b'l') | (0xC5, 0xBF) => at + 3,
        _ => at,
    }
}

/// `` ?[^\s…]+[\r\n]*`` (with `/` in the tail for some), or `at` when no punctuation stands there.
#[inline]
fn punctuation(classes: &Classes, text: &[u8], at: usize, not: u8, slash: bool) -> usize {
    let start = at + usize::from(text[at] == b' ');
    let mut end = run_without(classes, text, start, not);
    if end == start {
        return at;
    }
    while end < text.len() && (is_line_end(text[end]) || slash && text[end] == b'/') {
        end += 1;
    }
    end
}

/// Where the letters of a piece of ASCII begin: at `at`, or behind one other character, which is no digit.
#[inline]
fn ascii_letters_from(text: &[u8], at: usize) -> Option<usize> {
    let first = text[at];
    if first.is_ascii_alphabetic() {
        return Some(at);
    }
    let prefix = first < 0x80 && !is_line_end(first) && !first.is_ascii_digit();
    (prefix && text.get(at + 1).is_some_and(u8::is_ascii_alphabetic)).then_some(at + 1)
}

/// End of the run from `at` on of bytes that `belongs` accepts.
#[inline]
fn ascii_run(text: &[u8], mut at: usize, belongs: impl Fn(&u8) -> bool) -> usize {
    while text.get(at).is_some_and(&belongs) {
        at += 1;
    }
    at
}

/// Whether an ASCII run that ends at `at` cannot go on with another letter.
#[inline]
fn ascii_ends(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|b| *b < 0x80)
}

/// cl100k and its kin: contraction, letters with one character before, numbers, punctuation, white space.
fn words<const DIGITS: usize, const MARKS: bool, const WHOLE_TAIL: bool>(
    c: &Classes,
    text: &[u8],
    at: usize,
) -> usize {
    let letters = if MARKS { LETTER | MARK } else { LETTER };
    let first = text[at];
    if first == b'\'' {
        let end = contraction(text, at);
        if end > at {
            return end;
        }
    }
    if let Some(from) = ascii_letters_from(text, at) {
        let end = ascii_run(text, from, u8::is_ascii_alphabetic);
        if ascii_ends(text, end) {
            return end;
        }
    }
    let (bits, width) = c.at(text, at);
    let next = at + width;
    if bits & letters != 0 {
        return run(c, text, next, letters, 0);
    }
    if bits & NUMBER != 0 {
        return numbers(c, text, at, DIGITS);
    }
    if !is_line_end(first) && next < text.len() && c.at(text, next).0 & letters != 0 {
        return run(c, text, next, letters, 0);
    }
    let end = punctuation(c, text, at, SPACE | NUMBER | letters, false);
    if end > at {
        return end;
    }
    white_space(c, text, at, WHOLE_TAIL, |end| end == text.len())
}

/// `[upper]*[lower]+` from `at`: its end, or `None`. The starred part gives back as little as it must.
#[inline]
fn upper_lower(classes: &Classes, text: &[u8], at: usize, not: u8) -> Option<usize> {
    let (mut end, mut given_back) = (at, at);
    while end < text.len() {
        let (bits, width) = classes.at(text, end);
        if bits & UPPER == 0 || bits & not != 0 {
            break;
        }
        end += width;
        if bits & LOWER != 0 {
            given_back = end;
        }
    }
    let lower = run(classes, text, end, LOWER, not);
    if lower > end {
        Some(lower)
    } else {
        Some(given_back).filter(|e| *e > at)
    }
}

/// o200k and its kin: words that begin with capitals, then lower case, with one character before.
fn cased<
    const DIGITS: usize,
    const CONTRACTIONS: bool,
    const SLASH: bool,
    const HAN_APART: bool,
>(
    c: &Classes,
    text: &[u8],
    at: usize,
) -> usize {
    if let Some(from) = ascii_letters_from(text, at) {
        let capitals = ascii_run(text, from, u8::is_ascii_uppercase);
        let end = ascii_run(text, capitals, u8::is_ascii_lowercase);
        if ascii_ends(text, end) {
            return if CONTRACTIONS {
                contraction(text, end)
            } else {
                end
            };
        }
    }
    let not = if HAN_APART { HAN } else { 0 };
    let (bits, width) = c.at(text, at);
    if HAN_APART && bits & HAN != 0 {
        return run(c, text, at, HAN, 0);
    }
    let next = at + width;
    let prefix = bits & (LETTER | NUMBER) == 0 && !is_line_end(text[at]);
    // Most pieces need no look: neither this character nor the next can be part of a word.
    let word = bits & (UPPER | LOWER) != 0
        || prefix && next < text.len() && c.at(text, next).0 & (UPPER | LOWER) != 0;
    if word {
        let after_prefix = if prefix {
            upper_lower(c, text, next, not)
        } else {
            None
        };
        let capitals = |from| Some(run(c, text, from, UPPER, not)).filter(|end| *end > from);
        let end = after_prefix
            .or_else(|| upper_lower(c, text, at, not))
            .or_else(|| if prefix { capitals(next) } else { None })
            .or_else(|| capitals(at));
        if let Some(end) = end {
            return if CONTRACTIONS {
                contraction(text, end)
            } else {
                end
            };
        }
    }
    if bits & NUMBER != 0 {
        return numbers(c, text, at, DIGITS);
    }
    let end = punctuation(c, text, at, SPACE | LETTER | NUMBER, SLASH);
    if end > at {
        return end;
    }
    white_space(c, text, at, false, |end| end == text.len())
}
