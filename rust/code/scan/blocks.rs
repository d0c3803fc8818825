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

/// The definition that a header describes, if it is one.
fn named(text: &str, header: Range<usize>) -> Option<(bool, Range<usize>)> {
    let found: Vec<Range<usize>> = words(&text[header.clone()], header.start).collect();
    let first = &text[found.first()?.clone()];
    if CONTROL.contains(&first) {
        return None;
    }
    if first == "type" && found.len() > 1 {
        let has_members = |r: &Range<usize>| matches!(&text[r.clone()], "struct" | "interface");
        return found
            .iter()
            .any(has_members)
            .then(|| (true, found[1].clone()));
    }
    let bracket = text[header.clone()]
        .find('(')
        .map_or(header.end, |n| header.start + n);
    for (i, range) in found
        .iter()
        .enumerate()
        .take_while(|(_, r)| r.start < bracket)
    {
        let keyword = &text[range.clone()];
        let container = CONTAINERS.contains(&keyword);
        if container || FUNCTIONS.contains(&keyword) {
            // `impl Trait for Type`: the type is what has the members
            let after = if keyword == "impl" {
                found.iter().position(|r| &text[r.clone()] == "for")
            } else {
                None
            };
            let name = after.map_or(i + 1, |at| at + 1);
            // `func (s *Server) Run(…)`: the receiver comes first
            let receiver = text[range.end..header.end].trim_start().starts_with('(');
            let closed = if receiver {
                text[range.end..header.end].find(')').map(|n| range.end + n)
            } else {
                None
            };
            let name = found
                .iter()
                .skip(name)
                .find(|n| closed.is_none_or(|c| n.start > c))?;
            return Some((container, name.clone()));
        }
    }
    let value = text[header.clone()]
        .find('=')
        .filter(|n| header.start + n < bracket);
    if let Some(equals) = value.map(|n| header.start + n) {
        let arrow = text[equals..header.end].contains("=>")
            || text[equals..header.end].contains("function");
        let name = found
            .iter()
            .rfind(|r| r.end <= equals && text[r.end..equals].trim().is_empty())?;
        return arrow.then(|| (false, name.clone()));
    }
    // name(…) {: a method, or a function of the C family
    let name = found.iter().rfind(|r| r.end <= bracket)?;
    let called = bracket < header.end && text[name.end..bracket].trim().is_empty();
    (called && !CONTROL.contains(&&text[name.clone()])).then(|| (false, name.clone()))
}

/// Definitions with bodies, outermost first: those of the file, and those directly in a class.
///
/// Cost: one pass for the braces, and one over the headers.
pub fn blocks(text: &str) -> Vec<Named> {
    let found: Braces = braces(text);
    let mut out: Vec<Named> = Vec::new();
    let mut skip_until = 0;
    let mut around: Option<(usize, usize)> = None;
    for &(open, close) in found.pairs() {
        if open < skip_until {
            continue;
        }
        let inside = around.map_or(0, |(from, to)| if open < to { from + 1 } else { 0 });
        let start = found.statement_start(text, open).max(inside);
        let blank = text[start..open].len() - text[start..open].trim_start().len();
        let start = start + blank;
        match named(text, start..open) {
            Some((container, name)) => {
                if container {
                    around = Some((open, close));
                } else {
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
