//! What several families of patterns scan alike: line ends, runs of a class, numbers, white space.

use super::classes::{Classes, NUMBER, SPACE};

pub(crate) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// End of the run of characters from `at` on that have any bit of `any` and none of `none`.
#[inline]
pub(crate) fn run(classes: &Classes, text: &[u8], mut at: usize, any: u8, none: u8) -> usize {
    while at < text.len() {
        let (bits, width) = classes.at(text, at);
        if bits & any == 0 || bits & none != 0 {
            break;
        }
        at += width;
    }
    at
}

/// `\p{N}{1,limit}`, given that a number stands at `at`.
#[inline]
pub(crate) fn numbers(classes: &Classes, text: &[u8], mut at: usize, limit: usize) -> usize {
    for _ in 0..limit {
        match text.get(at).map(|_| classes.at(text, at)) {
            Some((bits, width)) if bits & NUMBER != 0 => at += width,
            _ => break,
        }
    }
    at
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`; with `whole_tail`, `\s++$` goes before.
///
/// `ends` says whether the text ends, for the pattern, before the character at that place.
#[inline]
pub(crate) fn white_space(
    classes: &Classes,
    text: &[u8],
    at: usize,
    whole_tail: bool,
    ends: impl Fn(usize) -> bool,
) -> usize {
    let (mut end, mut line_end, mut last) = (at, at, at);
    while end < text.len() {
        let (bits, width) = classes.at(text, end);
        if bits & SPACE == 0 {
            break;
        }
        last = end;
        end += width;
        if is_line_end(text[last]) {
            line_end = end;
        }
    }
    let at_end = ends(end);
    if whole_tail && at_end {
        end
    } else if line_end > at {
        line_end
    } else if at_end || last == at {
        end
    } else {
        last
    }
}
