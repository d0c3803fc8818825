//! Blocks of languages with braces: TypeScript, JavaScript, Rust, Go, Java, C and their kin.
//!
//! Comments, strings and regular expressions are skipped, braces matched. That is enough to find
//! import statements and base classes, and to guess where a definition ends when the index does not
//! say it; such a guess is marked heuristic by whoever uses it.

use std::ops::Range;

/// The text seen as braces.
#[derive(Debug, Default)]
pub struct Braces {
    /// `(open, close)` offsets of every brace pair, by opening offset; close is past the brace.
    pairs: Vec<(usize, usize)>,
    /// Of every pair where its statement begins, and whether a bracket of that statement is open.
    heads: Vec<(usize, bool)>,
    /// Offsets of `;` and of line ends outside round and square brackets.
    stops: Vec<usize>,
    /// Import statements.
    pub imports: Vec<Range<usize>>,
}

const IMPORTING: [&str; 6] = ["import", "use", "using", "#include", "from", "package"];

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || b >= 0x80
}

/// End of a quoted literal; a plain quote ends at its line end.
fn quoted(s: &[u8], at: usize) -> usize {
    let quote = s[at];
    let mut i = at + 1;
    while i < s.len() {
        match s[i] {
            b'\\' => i += 2,
            b'\n' if quote != b'`' => return i,
            c if c == quote => return i + 1,
            _ => i += 1,
        }
    }
    s.len()
}

/// Whether `/` at `at` can begin a regular expression: not after a value.
fn begins_regex(s: &[u8], at: usize) -> bool {
    let before = s[..at].trim_ascii_end();
    let value = [b"return".as_slice(), b"typeof", b"case"];
    before.last().is_none_or(|b| b"(,=:[!&|?{;}\n".contains(b))
        || s[before.len()..at].contains(&b'\n')
        || value.iter().any(|w| before.ends_with(w))
}

/// End of a comment, string or regular expression that begins at `at`, if one does.
fn skip(s: &[u8], at: usize) -> Option<usize> {
    match (s[at], s.get(at + 1)) {
        (b'/', Some(b'/')) => Some(memchr::memchr(b'\n', &s[at..]).map_or(s.len(), |n| at + n)),
        (b'/', Some(b'*')) => {
            Some(memchr::memmem::find(&s[at + 2..], b"*/").map_or(s.len(), |n| at + n + 4))
        }
        (b'/', _) if begins_regex(s, at) => {
            let end = quoted(s, at);
            (s.get(end - 1) == Some(&b'/') && end > at + 1).then_some(end)
        }
        (b'"' | b'`', _) => Some(quoted(s, at)),
        // 'a', '\n' and 'text', but not the lifetime in &'a str
        (b'\'', Some(&c)) => {
            let end = quoted(s, at);
            (c == b'\\' || s.get(end - 1) == Some(&b'\'')).then_some(end)
        }
        _ => None,
    }
}

/// What stands between two braces, as far as it has been read.
struct Level {
    /// Which pair; None outside of all.
    pair: Option<usize>,
    /// Where the statement begins that is being read.
    begins: usize,
    /// Round and square brackets of it that are open.
    round: usize,
}

/// Words that go on with the line before them.
const CONTINUING: [&str; 4] = ["{", "extends", "implements", "where"];

/// Matches the braces of one file.
///
/// Cost: one pass; O(length of the text).
pub fn braces(text: &str) -> Braces {
    let s = text.as_bytes();
    let mut out = Braces::default();
    let mut levels: Vec<Level> = Vec::new();
    let mut here = Level {
        pair: None,
        begins: 0,
        round: 0,
    };
    let (mut round, mut at, mut line_start) = (0usize, 0usize, true);
    while at < s.len() {
        if let Some(end) = skip(s, at) {
            at = end.min(s.len()).max(at + 1);
            line_start = false;
            continue;
        }
        match s[at] {
            b'{' => {
                out.heads.push((here.begins, here.round > 0));
                let inner = Level {
                    pair: Some(out.pairs.len()),
                    begins: at + 1,
                    round: 0,
                };
                levels.push(std::mem::replace(&mut here, inner));
                out.pairs.push((at, s.len()));
            }
            b'}' => {
                if let (Some(i), Some(outer)) = (here.pair, levels.pop()) {
                    out.pairs[i].1 = at + 1;
                    here = outer;
                    if here.round == 0 {
                        here.begins = at + 1;
                    }
                }
            }
            b'(' | b'[' => {
                round += 1;
                here.round += 1;
            }
            b')' | b']' => {
                round = round.saturating_sub(1);
                here.round = here.round.saturating_sub(1);
            }
            b';' => {
                if round == 0 {
                    out.stops.push(at);
                }
                if here.round == 0 {
                    here.begins = at + 1;
                }
            }
            b'\n' => {
                if round == 0 {
                    out.stops.push(at);
                }
                if here.round == 0 && !continues(&text[at..]) {
                    here.begins = at + 1;
                }
                line_start = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            _ if line_start => {
                if let Some(end) = importing(s, at) {
                    out.imports.push(at..end);
                    at = end;
                    line_start = false;
                    continue;
                }
            }
            _ => {}
        }
        line_start = false;
        at += 1;
    }
    out
}

/// End of the import statement that begins at `at`, if one does: its `;`, or the end of the first
/// line on which all brackets are closed. `export … from` imports too.
fn importing(s: &[u8], at: usize) -> Option<usize> {
    let line = &s[at..memchr::memchr(b'\n', &s[at..]).map_or(s.len(), |n| at + n)];
    let starts =
        |w: &str| line.starts_with(w.as_bytes()) && line.get(w.len()).is_none_or(|&b| !is_word(b));
    let exported = ["export {", "export *", "export type {"]
        .iter()
        .any(|w| line.starts_with(w.as_bytes()));
    let visible = line
        .strip_prefix(b"pub ")
        .is_some_and(|l| l.starts_with(b"use "));
    if !(IMPORTING.iter().any(|w| starts(w)) || exported || visible) || line.starts_with(b"import(")
    {
        return None;
    }
    let (mut i, mut depth) = (at, 0usize);
    while i < s.len() {
        match s[i] {
            b'"' | b'`' | b'\'' => {
                i = quoted(s, i);
                continue;
            }
            b'{' | b'(' => depth += 1,
            b'}' | b')' => depth = depth.saturating_sub(1),
            b';' | b'\n' if depth == 0 => break,
            _ => {}
        }
        i += 1;
    }
    let end = i.min(s.len());
    (!exported || memchr::memmem::find(&s[at..end], b"from").is_some()).then_some(end)
}

/// Whether the line after this line end belongs to the header before it; a blank one does not.
fn continues(text: &str) -> bool {
    let next = text[1..].trim_start_matches([' ', '\t', '\r']);
    CONTINUING.iter().any(|word| next.starts_with(word))
}

impl Braces {
    /// `(open, close)` of every pair of braces, by opening; close is past the brace.
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// Of every pair where the statement begins whose body it is: after the last `;`, `}` or line end of its level at which
    /// no bracket was open; and whether one is open, so that the pair is a part of its arguments.
    pub fn heads(&self) -> &[(usize, bool)] {
        &self.heads
    }

    /// Extent of the definition whose name ends at `name_end`: from there to the end of its body, or
    /// to the end of the statement when it has none.
    pub fn body_end(&self, text: &str, name_end: usize) -> usize {
        let stop = self.stops[self.stops.partition_point(|&o| o < name_end)..]
            .iter()
            .copied();
        let opening = self.pairs[self.pairs.partition_point(|p| p.0 < name_end)..]
            .first()
            .copied();
        for stop in stop {
            if let Some((_, close)) = opening.filter(|p| p.0 < stop) {
                return close;
            }
            let hard = text.as_bytes().get(stop) == Some(&b';');
            let next = text[stop..].trim_start();
            if hard || !CONTINUING.iter().any(|word| next.starts_with(word)) {
                return stop;
            }
        }
        opening.map_or(text.len(), |p| p.1)
    }

    /// Last name of each base type in the header after a type's name: `extends A, B implements C {`,
    /// `: public A, B {`.
    pub fn bases(&self, text: &str, name_end: usize) -> Vec<Range<usize>> {
        let Some(&(open, _)) = self
            .pairs
            .get(self.pairs.partition_point(|p| p.0 < name_end))
        else {
            return Vec::new();
        };
        let s = text.as_bytes();
        let (mut out, mut last, mut i) = (Vec::new(), None, name_end);
        let (mut depth, mut inheriting) = (0usize, false);
        while i < open {
            match s[i] {
                b';' | b'=' if depth == 0 => return Vec::new(), // the name of something without a body
                b'<' | b'(' | b'[' => depth += 1,
                b'>' | b')' | b']' => depth = depth.saturating_sub(1),
                b':' if depth == 0 => inheriting = true,
                b',' if depth == 0 => out.extend(last.take()),
                c if is_word(c) => {
                    let start = i;
                    while i < open && is_word(s[i]) {
                        i += 1;
                    }
                    if depth == 0 {
                        match &text[start..i] {
                            "extends" | "implements" => {
                                out.extend(last.take());
                                inheriting = true;
                            }
                            "public" | "private" | "protected" | "virtual" | "final" | "with" => {}
                            _ if inheriting => last = Some(start..i),
                            _ => {}
                        }
                    }
                    continue;
                }
                _ => {}
            }
            i += 1;
        }
        out.extend(last);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn body<'t>(text: &'t str, name: &str) -> &'t str {
        let end = text.find(name).map_or(0, |i| i + name.len());
        &text[end..braces(text).body_end(text, end)]
    }

    #[test]
    fn a_body_ends_at_its_own_brace() {
        let text =
            "function f(a) { if (a) { return '}'; } /* } */ return /}/; }\nfunction g() {}\n";
        assert!(
            body(text, "f").ends_with("return /}/; }"),
            "{}",
            body(text, "f")
        );
        assert_eq!(
            body("interface S { area(): number; x }", "area"),
            "(): number"
        );
        assert_eq!(body("const a = 1;\nfunction b() {}", "a"), " = 1");
    }

    #[test]
    fn bases_follow_extends_implements_and_colons() {
        let row = |text: &str, name: &str| -> Vec<String> {
            let end = text.find(name).map_or(0, |i| i + name.len());
            braces(text)
                .bases(text, end)
                .into_iter()
                .map(|r| text[r].to_string())
                .collect()
        };
        assert_eq!(
            row("class C<T> extends a.B<T> implements D, E<F> { }", "C"),
            ["B", "D", "E"]
        );
        assert_eq!(row("struct C : public B, D { };", "C"), ["B", "D"]);
        assert!(row("class C { x = y }", "C").is_empty());
        assert!(row("type C = A;\nclass D { }", "C").is_empty());
    }

    #[test]
    fn imports_span_their_braces() {
        let text = "import { a,\n  b as c } from \"x\";\nexport { d } from './d'\nexport { e };\nconst f = import('g');\n";
        let found = braces(text).imports;
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(text[found[0].clone()].ends_with("\"x\""));
    }

    proptest! {
        #[test]
        fn any_text_is_scanned(text in "(\\{|\\}|/|\\*|'|\"|`|\n|a|;|import |\\\\|林|\\(){0,60}", at in 0usize..80) {
            let found = braces(&text);
            let at = (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
            prop_assert!(found.body_end(&text, at) <= text.len());
            let _ = found.bases(&text, at);
        }
    }
}
