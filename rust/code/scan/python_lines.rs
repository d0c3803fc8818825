//! Lines of Python: where strings, comments and brackets end, what a header says.

use std::ops::Range;

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

/// End of the string literal whose quote is at `at`.
fn skip_string(s: &[u8], at: usize) -> usize {
    let quote = s[at];
    let triple = s.get(at + 1) == Some(&quote) && s.get(at + 2) == Some(&quote);
    let mut i = if triple { at + 3 } else { at + 1 };
    while i < s.len() {
        match s[i] {
            // in a raw string too, a backslash keeps the quote after it from ending the string
            b'\\' => i += 2,
            b'\n' if !triple => return i,
            c if c == quote => {
                if !triple {
                    return i + 1;
                }
                if s.get(i + 1) == Some(&quote) && s.get(i + 2) == Some(&quote) {
                    return i + 3;
                }
                i += 1;
            }
            _ => i += 1,
        }
    }
    s.len()
}

/// End of the string or comment that begins at `at`.
fn skip_text(s: &[u8], at: usize) -> Option<usize> {
    match s[at] {
        b'"' | b'\'' => Some(skip_string(s, at)),
        b'#' => Some(memchr::memchr(b'\n', &s[at..]).map_or(s.len(), |n| at + n)),
        _ => None,
    }
}

/// End of the logical line that starts at `at`: the offset of its newline.
pub(super) fn logical_end(s: &[u8], at: usize) -> usize {
    let (mut i, mut depth) = (at, 0usize);
    while i < s.len() {
        if let Some(next) = skip_text(s, i) {
            i = next;
            continue;
        }
        match s[i] {
            b'(' | b'[' | b'{' => {
                depth += 1;
                i += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                i += 1;
            }
            b'\\' => i += if s.get(i + 1) == Some(&b'\r') { 3 } else { 2 },
            b'\n' if depth == 0 || begins_statement(&s[i + 1..]) => return i,
            _ => i += 1,
        }
    }
    s.len()
}

/// Whether a line begins with a word that no expression has: the bracket before it was never closed.
fn begins_statement(rest: &[u8]) -> bool {
    let line = &rest[skip_blank(rest, 0)..];
    let words: [&[u8]; 4] = [b"def ", b"class ", b"async def ", b"import "];
    words.iter().any(|w| line.starts_with(w))
}

pub(super) fn word_at(s: &[u8], at: usize) -> Range<usize> {
    let mut end = at;
    while end < s.len() && is_word(s[end]) {
        end += 1;
    }
    at..end
}

pub(super) fn skip_blank(s: &[u8], mut at: usize) -> usize {
    while at < s.len() && matches!(s[at], b' ' | b'\t' | b'\x0c') {
        at += 1;
    }
    at
}

/// Last name of each positional base in `class Name(...)`, from the opening bracket on; and where
/// the colon of the header stands.
pub(super) fn class_header(s: &[u8], name_end: usize, end: usize) -> (Vec<Range<usize>>, usize) {
    let mut bases = Vec::new();
    let (mut i, mut depth) = (name_end, 0usize);
    let (mut last, mut keyword, mut in_bases): (Option<Range<usize>>, bool, bool) =
        (None, false, false);
    while i < end {
        if let Some(next) = skip_text(s, i) {
            i = next;
            continue;
        }
        match s[i] {
            b'(' if depth == 0 => {
                depth = 1;
                in_bases = true;
                last = None;
            }
            b'(' | b'[' | b'{' => {
                if s[i] == b'(' && depth == 1 && in_bases {
                    last = None; // a call that makes the base: it is called, not inherited
                }
                depth += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && in_bases {
                    bases.extend(last.take().filter(|_| !keyword));
                    in_bases = false;
                }
            }
            b',' if depth == 1 && in_bases => {
                bases.extend(last.take().filter(|_| !keyword));
                keyword = false;
            }
            b'=' | b'*' if depth == 1 => keyword = true,
            b':' if depth == 0 => return (bases, i + 1),
            c if is_word(c) => {
                let word = word_at(s, i);
                i = word.end;
                if depth == 1 && in_bases {
                    last = Some(word);
                }
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    (bases, end)
}

/// Where the colon of a `def` header stands.
pub(super) fn header_end(s: &[u8], from: usize, end: usize) -> usize {
    let (mut i, mut depth) = (from, 0usize);
    while i < end {
        if let Some(next) = skip_text(s, i) {
            i = next;
            continue;
        }
        match s[i] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return i + 1,
            _ => {}
        }
        i += 1;
    }
    end
}
