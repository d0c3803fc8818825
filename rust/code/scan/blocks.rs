//! Named blocks of languages with braces: functions, methods and classes, for splitting files.
//!
//! Read from the header before each brace, not from a grammar: what looks like a definition in
//! TypeScript, Rust, Go, Java, C# and their kin is one, down to the members of classes.

use std::ops::Range;

use crate::code::scan::braces::{Braces, braces};

/// A definition with a body in braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Class-like: its members are blocks of their own.
    pub container: bool,
    /// The name.
    pub name: Range<usize>,
    /// From the first word of the header to past the closing brace.
    pub extent: Range<usize>,
}

const CONTAINERS: [&str; 11] = [
    "class",
    "interface",
    "enum",
    "struct",
    "trait",
    "impl",
    "namespace",
    "module",
    "record",
    "object",
    "mod",
];
const FUNCTIONS: [&str; 4] = ["function", "fn", "func", "fun"];
const CONTROL: [&str; 14] = [
    "if", "for", "while", "switch", "catch", "do", "else", "try", "match", "loop", "return",
    "finally", "with", "await",
];

fn words(text: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#');
        let start = at + text[at..].find(is_word)?;
        let end = text[start..]
            .find(|c| !is_word(c))
            .map_or(text.len(), |n| start + n);
        at = end;
        Some(from + start..from + end)
    })
}

/// The definition that a header describes, if it is one: whether it has members, and its name.
fn named(text: &str, header: Range<usize>) -> Option<(bool, Range<usize>)> {
    let found: Vec<Range<usize>> = words(&text[header.clone()], header.start).collect();
    let first = &text[found.first()?.clone()];
    if CONTROL.contains(&first) {
        return None;
    }
    if first == "type" && found.len() > 1 {
        let has_members = |r: &Range<usize>| matches!(&text[r.clone()], "struct" | "interface");
        return Some((found.iter().any(has_members), found[1].clone()));
    }
    let bracket = text[header.clone()]
        .find('(')
        .map_or(header.end, |n| header.start + n);
    let before_bracket = found
        .iter()
        .enumerate()
        .take_while(|(_, r)| r.start < bracket);
    for (i, range) in before_bracket {
        let keyword = &text[range.clone()];
        let container = CONTAINERS.contains(&keyword) && introduces(text, range);
        if (container || FUNCTIONS.contains(&keyword))
            && let Some(name) = introduced(text, &found, i, header.end, container)
        {
            return Some((container, name));
        }
    }
    let last_before = |end: usize| {
        let name = found.iter().rfind(|r| r.end <= end)?;
        text[name.end..end].trim().is_empty().then(|| name.clone())
    };
    let value = text[header.start..bracket]
        .find('=')
        .map(|n| header.start + n);
    let value = value.or_else(|| {
        text[header.clone()]
            .find(':')
            .map(|n| header.start + n)
            .filter(|n| *n < bracket)
    });
    if let Some(sign) = value.filter(|n| !text[*n..].starts_with("==")) {
        let rest = &text[sign + 1..header.end];
        // `name: Type = …`
        let sign = text[header.start..sign]
            .find(':')
            .map_or(sign, |n| header.start + n);
        if rest.contains("=>") || rest.contains("function") {
            return last_before(sign).map(|name| (false, name));
        }
        if bracket == header.end {
            // name = {: an object, whose functions are its members
            return rest
                .trim()
                .is_empty()
                .then(|| last_before(sign))
                .flatten()
                .map(|name| (true, name));
        }
    }
    // name(…) {: a method, or a function of the C family; name<T>(…) too
    let called = without_type_arguments(&text[header.start..bracket]);
    let name = last_before(header.start + called)?;
    (bracket < header.end && !CONTROL.contains(&&text[name.clone()])).then_some((false, name))
}

/// Whether a word that can begin a definition does so here: a name follows it, and it is no member of something.
fn introduces(text: &str, word: &Range<usize>) -> bool {
    let after = text[word.end..].trim_start_matches([' ', '\t', '<']);
    let apart = text[word.end..].starts_with([' ', '\t', '\n', '\r', '<']);
    apart
        && after.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
        && !text[..word.start].ends_with('.')
}

/// The name that the word at `i` introduces.
fn introduced(
    text: &str,
    found: &[Range<usize>],
    i: usize,
    end: usize,
    container: bool,
) -> Option<Range<usize>> {
    let range = &found[i];
    // `impl Trait for Type`: the type is what has the members
    let after = (&text[range.clone()] == "impl")
        .then(|| found.iter().position(|r| &text[r.clone()] == "for"))
        .flatten();
    let name = after.map_or(i + 1, |at| at + 1);
    // `func (s *Server) Run(…)`: the receiver comes first; `function (a) {` has no name
    let receiver = text[range.end..end].trim_start().starts_with('(');
    if receiver && &text[range.clone()] != "func" {
        return None;
    }
    let closed = if receiver {
        text[range.end..end].find(')').map(|n| range.end + n)
    } else {
        None
    };
    let name = found
        .iter()
        .skip(name)
        .find(|n| closed.is_none_or(|c| n.start > c))?;
    let named = container
        || text[name.end..end]
            .trim_start()
            .starts_with(['(', '<', '[']);
    named.then(|| name.clone())
}

/// How much of a header is left when the `<…>` at its end is taken off.
fn without_type_arguments(header: &str) -> usize {
    let trimmed = header.trim_end();
    if !trimmed.ends_with('>') {
        return header.len();
    }
    let mut depth = 0;
    for (at, c) in trimmed.char_indices().rev() {
        match c {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    header.len()
}

/// A function longer than this (bytes) is read like a class: what is defined in it stands for itself.
pub const LARGE: usize = 8000;

/// Definitions with bodies, outermost first: those of the file, those in a class, an object or a large function, and those
/// in what is handed over as an argument (`describe("…", () => {…})`, a module wrapped in a function).
///
/// Cost: one pass for the braces, and one over the headers.
pub fn blocks(text: &str) -> Vec<Named> {
    let found: Braces = braces(text);
    let mut out: Vec<Named> = Vec::new();
    let mut skip_until = 0;
    for (&(open, close), &(start, argument)) in found.pairs().iter().zip(found.heads()) {
        if open < skip_until {
            continue;
        }
        if argument {
            // a callback is looked through; an object among the arguments, or of a parameter, only when it is large
            let before = text[start..open].trim_end();
            let callback = before.ends_with("=>") || before.ends_with(')');
            if !callback && close - open <= LARGE {
                skip_until = close;
            }
            continue;
        }
        if open - start > LONGEST_HEADER {
            skip_until = close;
            continue;
        }
        let blank = text[start..open].len() - text[start..open].trim_start().len();
        let start = start + blank;
        match named(text, start..open) {
            Some((container, name)) => {
                if !container && close - start <= LARGE {
                    skip_until = close;
                }
                out.push(Named {
                    container,
                    name,
                    extent: start..close,
                });
            }
            None => skip_until = close,
        }
    }
    out
}

/// Bytes; what is longer is no header, and is not read again for each of its braces.
const LONGEST_HEADER: usize = 4000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn row(text: &str, expected: &[&str]) {
        let found = blocks(text);
        let names: Vec<&str> = found.iter().map(|b| &text[b.name.clone()]).collect();
        assert_eq!(names, expected, "{text}");
    }

    #[test]
    fn definitions_are_found_in_several_languages() {
        row(
            "export class A extends B {\n  private f(x: {a: 1}): string { if (x) { y(); } }\n  get g() { }\n}\n",
            &["A", "f", "g"],
        );
        row(
            "export async function f<T>(a: T) {\n  return () => { };\n}\nconst h = (x) => { };\n",
            &["f", "h"],
        );
        row(
            "impl Display for Point {\n    fn fmt(&self) -> R { match x { _ => {} } }\n}\npub fn go() { }\n",
            &["Point", "fmt", "go"],
        );
        row(
            "func (s *Server) Run(a int) error {\n}\ntype X struct {\n}\n",
            &["Run", "X"],
        );
        row(
            "public class Foo {\n  public int bar(int x) {\n  }\n}\n",
            &["Foo", "bar"],
        );
        row("if (a) { b() }\nwhile (c) { }\n", &[]);
    }

    #[test]
    fn javascript_is_read_as_it_is_written() {
        row(
            "app.use = function use(fn) { }\nexports.get = function (a) { };\nmodule.exports = { go() { }, run: function () { } };\n",
            &["use", "get", "exports", "go", "run"],
        );
        row(
            "function Button({ a, b = {} }) { return a }\nconst f = async ({ x }) => { };\n",
            &["Button", "f"],
        );
        row(
            "(function (root) {\n  function inner() { }\n  if (root) { y() }\n})(this);\nfunction outer() { function no() { } }\n",
            &["inner", "outer"],
        );
        row(
            "methods.forEach(function (m) {\n  app[m] = function (p) { };\n});\ntype T = { a: 1 };\nclass A { map<T>(f: (x: T) => T): T { } }\n",
            &["T", "A", "map"],
        );
        row("record.name = 1;\nmodule.x = y({ a: 1 });\n", &[]);
    }

    /// Rows that Python runs too, as paragraphs: `tests/documents/test_definition_rows.py`.
    #[test]
    fn rows_of_definitions() {
        let text = include_str!("../../../tests/cases/definitions.json");
        let rows: serde_json::Value = serde_json::from_str(text).expect("rows");
        for one in rows["rows"].as_array().expect("rows") {
            let source = one["text"].as_str().expect("text");
            let names: Vec<&str> = if one["suffix"] == ".py" {
                let found = crate::code::scan::python::outline(source).blocks;
                found.into_iter().map(|b| &source[b.name]).collect()
            } else {
                blocks(source)
                    .into_iter()
                    .map(|b| &source[b.name])
                    .collect()
            };
            assert_eq!(serde_json::json!(names), one["names"], "{}", one["claim"]);
        }
    }

    #[test]
    fn what_a_large_function_defines_stands_for_itself() {
        let long = format!(
            "function make() {{\n{}  function inner() {{ }}\n}}\n",
            "  step();\n".repeat(1000)
        );
        row(&long, &["make", "inner"]);
    }

    proptest! {
        #[test]
        fn any_text_has_blocks_inside_it(text in "(class|fn|\\{|\\}|\\(|\\)|=>|=| |\n|a|林|;|\"|'|/){0,60}") {
            for block in blocks(&text) {
                prop_assert!(text.get(block.extent.clone()).is_some());
                prop_assert!(text.get(block.name.clone()).is_some());
            }
        }
    }
}
