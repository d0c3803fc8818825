//! Scopes of Python source: where functions and classes begin and end, what they inherit, what is
//! imported.
//!
//! A line scanner instead of a parser: Python's blocks are its indentation, so strings, brackets and
//! continuation lines are all that must be understood. It reads any text, also one that does not
//! parse. Checked against Python's own `ast` on whole packages.

use std::ops::Range;

use crate::code::scan::python_lines::{class_header, header_end, logical_end, skip_blank, word_at};

/// What a scope is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// A function or method.
    Function,
    /// A class, interface, enum.
    Class,
    /// A definition with an extent that is neither: a constant with an initialiser, a module.
    Other,
}

/// One scope, in byte offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Function or class.
    pub kind: ScopeKind,
    /// The name token.
    pub name: Range<usize>,
    /// From the first decorator to the end of the last line of the body.
    pub extent: Range<usize>,
    /// End of the header line(s).
    pub header_end: usize,
    /// Last name of each positional base class.
    pub bases: Vec<Range<usize>>,
}

/// What the scanner found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Scopes in order of `extent.start`, properly nested.
    pub blocks: Vec<Block>,
    /// Import statements.
    pub imports: Vec<Range<usize>>,
    /// Names assigned in the module, outside of functions and classes.
    pub assigned: Vec<Range<usize>>,
}

struct Open {
    index: usize,
    indent: usize,
}

/// The outline of one Python file.
///
/// Cost: one pass; O(length of the text).
pub fn outline(text: &str) -> Outline {
    let s = text.as_bytes();
    let mut out = Outline::default();
    let mut open: Vec<Open> = Vec::new();
    let mut decorated: Option<Decorators> = None;
    let mut last_code_end = 0;
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    while at < s.len() {
        let line = at;
        let first = skip_blank(s, line);
        match s.get(first) {
            None => break,
            Some(b'\n') => {
                at = first + 1;
                continue;
            }
            Some(b'\r') if s.get(first + 1) == Some(&b'\n') => {
                at = first + 2;
                continue;
            }
            Some(b'#') => {
                at = memchr::memchr(b'\n', &s[first..]).map_or(s.len(), |n| first + n + 1);
                continue;
            }
            _ => {}
        }
        let end = logical_end(s, first);
        let indent = indentation(&s[line..first]);
        while open.last().is_some_and(|o| o.indent >= indent) {
            if let Some(closed) = open.pop() {
                out.blocks[closed.index].extent.end = last_code_end;
            }
        }
        statement(s, first, end, indent, &mut decorated, &mut open, &mut out);
        last_code_end = end;
        at = end + 1;
    }
    for closed in open {
        out.blocks[closed.index].extent.end = last_code_end;
    }
    out
}

/// Where the decorators above a statement begin, and in which column.
struct Decorators {
    first: usize,
    indent: usize,
}

/// Columns of leading white space, a tab reaching to the next multiple of eight.
fn indentation(blank: &[u8]) -> usize {
    blank.iter().fold(0, |n, b| match b {
        b'\t' => (n / 8 + 1) * 8,
        b'\x0c' => 0,
        _ => n + 1,
    })
}

fn statement(
    s: &[u8],
    first: usize,
    end: usize,
    indent: usize,
    decorated: &mut Option<Decorators>,
    open: &mut Vec<Open>,
    out: &mut Outline,
) {
    if s[first] == b'@' {
        if decorated.as_ref().is_none_or(|one| one.indent != indent) {
            *decorated = Some(Decorators { first, indent });
        }
        return;
    }
    // Those of another column are no decorators of this statement, whatever Python would say of the text.
    let above = decorated.take().filter(|one| one.indent == indent);
    let start = above.map_or(first, |one| one.first);
    let mut word = word_at(s, first);
    if &s[word.clone()] == b"async" {
        word = word_at(s, skip_blank(s, word.end));
    }
    let kind = match &s[word.clone()] {
        b"def" => ScopeKind::Function,
        b"class" => ScopeKind::Class,
        b"import" | b"from" => {
            out.imports.push(first..end);
            return;
        }
        _ => {
            if open.is_empty() {
                assigned(s, first, end, out);
            }
            return;
        }
    };
    let name = word_at(s, skip_blank(s, word.end));
    if name.is_empty() || word.end == name.start {
        return;
    }
    let (bases, header_end) = if kind == ScopeKind::Class {
        class_header(s, name.end, end)
    } else {
        (Vec::new(), header_end(s, name.end, end))
    };
    open.push(Open {
        index: out.blocks.len(),
        indent,
    });
    out.blocks.push(Block {
        kind,
        name,
        extent: start..end,
        header_end,
        bases,
    });
}

/// `NAME = ...` and `NAME: type = ...`.
fn assigned(s: &[u8], first: usize, end: usize, out: &mut Outline) {
    let name = word_at(s, first);
    let next = skip_blank(s, name.end);
    let assigns = match s.get(next) {
        Some(b'=') => s.get(next + 1) != Some(&b'='),
        Some(b':') => true,
        _ => false,
    };
    if assigns && next < end && !name.is_empty() && !s[name.start].is_ascii_digit() {
        out.assigned.push(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(text: &str) -> Vec<(&str, &str)> {
        outline(text)
            .blocks
            .iter()
            .map(|b| (&text[b.name.clone()], &text[b.extent.clone()]))
            .collect()
    }

    fn names_of(text: &str) -> Vec<&str> {
        names(text).into_iter().map(|(_, extent)| extent).collect()
    }

    #[test]
    fn a_block_ends_where_its_indentation_ends() {
        let text = "@deco\ndef f(a,\n  b):\n    x = '''\ndef no(): pass\n'''\n\n    return x  # end\n\n# c\ny = f()\n";
        let blocks = names(text);
        assert_eq!(blocks.len(), 1);
        assert_eq!(blocks[0].0, "f");
        assert!(
            blocks[0].1.starts_with("@deco") && blocks[0].1.ends_with("return x  # end"),
            "{blocks:?}"
        );
    }

    #[test]
    fn a_decorator_in_another_column_belongs_to_nothing() {
        let blocks = names_of("class A:\n    x = 1\n    @deco\nclass B:\n    pass\n");
        assert_eq!(
            blocks,
            ["class A:\n    x = 1\n    @deco", "class B:\n    pass"]
        );
    }

    #[test]
    fn bases_are_the_last_names_of_positional_arguments() {
        let text = "class A(t.Generic[V], mod.Base, make(x), metaclass=Meta,\n  *more): pass\n";
        let bases = outline(text).blocks[0]
            .bases
            .iter()
            .map(|b| &text[b.clone()])
            .collect::<Vec<_>>();
        assert_eq!(bases, ["Generic", "Base"]);
    }

    #[test]
    fn a_bracket_that_is_never_closed_ends_at_the_next_definition() {
        let text = "def f():\n    g(1,\n\ndef h(a,\n  b): pass\n";
        let found: Vec<&str> = names(text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(found, ["f", "h"]);
    }

    #[test]
    fn imports_span_their_brackets() {
        let text = "from a import (\n  b,\n  c)\nX: int = 1\nif X == 1:\n    import d\n";
        let out = outline(text);
        assert_eq!(
            out.imports
                .iter()
                .map(|r| text[r.clone()].lines().count())
                .collect::<Vec<_>>(),
            [3, 1]
        );
        assert_eq!(
            out.assigned
                .iter()
                .map(|r| &text[r.clone()])
                .collect::<Vec<_>>(),
            ["X"]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_scanned_and_blocks_nest(text in "(class|def| |\n|a|\\(|\\)|:|\"|'|#|@|\\\\|林|\t){0,60}") {
            let out = outline(&text);
            for (i, b) in out.blocks.iter().enumerate() {
                prop_assert!(text.get(b.extent.clone()).is_some());
                prop_assert!(text.get(b.name.clone()).is_some());
                for later in &out.blocks[i + 1..] {
                    prop_assert!(later.extent.start >= b.extent.end || later.extent.end <= b.extent.end);
                }
            }
        }
    }
}
