//! Which definition encloses a position: the scopes of one document.
//!
//! Python's come from its text, those of other languages from the extents in the index; without
//! either they are guessed from braces, or from what is defined next, and marked inexact.

use std::ops::Range;

use crate::code::index::symbol_id::Suffix;
use crate::code::scan::braces::{Braces, braces};
use crate::code::scan::position::{Lines, Pos};
use crate::code::scan::python::{Outline, ScopeKind, outline};

/// A definition that occurrences can stand in.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Function, class or other.
    pub kind: ScopeKind,
    /// First position of the name.
    pub name: Pos,
    /// The name as written, when the text was read.
    pub written: Option<String>,
    /// First position inside.
    pub start: Pos,
    /// First position after.
    pub end: Pos,
    /// Where the header ends: signature, base classes.
    pub header_end: Pos,
    /// Positions of the names of direct base classes.
    pub bases: Vec<Pos>,
    /// False when the extent was guessed.
    pub exact: bool,
}

/// A definition as the index tells it.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// Position of the name.
    pub name: Pos,
    /// End column of the name.
    pub name_end: u32,
    /// What it is.
    pub suffix: Suffix,
    /// Its extent, when the index says it.
    pub extent: Option<(Pos, Pos)>,
}

/// Scopes and import statements of one document.
#[derive(Debug, Default)]
pub struct Scopes {
    /// Ordered by start, outer before inner.
    pub scopes: Vec<Scope>,
    /// Import statements.
    pub imports: Vec<Range<Pos>>,
}

/// True for the paths that Python's rules apply to.
pub fn is_python(path: &str) -> bool {
    std::path::Path::new(path)
        .extension()
        .is_some_and(|e| e == "py" || e == "pyi")
}

fn span(lines: &Lines, range: &Range<usize>) -> Range<Pos> {
    lines.position(range.start)..lines.position(range.end)
}

/// Scopes of a Python text.
pub fn from_python(lines: &Lines) -> Scopes {
    let Outline {
        blocks, imports, ..
    } = outline(lines.text());
    let scopes = blocks.into_iter().map(|block| Scope {
        kind: block.kind,
        name: lines.position(block.name.start),
        written: Some(lines.text()[block.name.clone()].to_string()),
        start: lines.position(block.extent.start),
        end: lines.position(block.extent.end),
        header_end: lines.position(block.header_end),
        bases: block
            .bases
            .iter()
            .map(|b| lines.position(b.start))
            .collect(),
        exact: true,
    });
    Scopes {
        scopes: scopes.collect(),
        imports: imports.iter().map(|r| span(lines, r)).collect(),
    }
}

/// Scopes of any other language, from what the index says and, where that is nothing, from braces.
pub fn from_definitions(definitions: &[Definition], lines: Option<&Lines>) -> Scopes {
    let found = lines.map(|l| (l, braces(l.text())));
    let told = definitions
        .iter()
        .any(|d| d.suffix != Suffix::Module && d.extent.is_some());
    let mut scopes = Vec::new();
    for (i, definition) in definitions.iter().enumerate() {
        let kind = match definition.suffix {
            Suffix::Module => continue,
            Suffix::Type => ScopeKind::Class,
            Suffix::Callable => ScopeKind::Function,
            Suffix::Term | Suffix::Macro => ScopeKind::Other,
        };
        let guess = || guessed(definition, definitions.get(i + 1), kind, found.as_ref());
        let (start, end, exact) = match definition.extent {
            Some((start, end)) => (start, end, true),
            None if told => continue,
            None => match guess() {
                Some(end) => (definition.name, end, false),
                None => continue,
            },
        };
        let name_end = Pos {
            line: definition.name.line,
            column: definition.name_end,
        };
        let bases = match &found {
            Some((lines, braces)) if kind == ScopeKind::Class => {
                lines.offset(name_end).map_or_else(Vec::new, |at| {
                    braces
                        .bases(lines.text(), at)
                        .iter()
                        .map(|b| lines.position(b.start))
                        .collect()
                })
            }
            _ => Vec::new(),
        };
        let header_end = bases.last().copied().unwrap_or(name_end);
        scopes.push(Scope {
            kind,
            name: definition.name,
            written: None,
            start,
            end,
            header_end,
            bases,
            exact,
        });
    }
    scopes.sort_by_key(|s| (s.start, std::cmp::Reverse(s.end)));
    let imports = found.map_or_else(Vec::new, |(l, b)| {
        b.imports.iter().map(|r| span(l, r)).collect()
    });
    Scopes { scopes, imports }
}

/// Where a definition without an extent may end: its body's brace, else the next definition.
fn guessed(
    definition: &Definition,
    next: Option<&Definition>,
    kind: ScopeKind,
    found: Option<&(&Lines, Braces)>,
) -> Option<Pos> {
    if kind == ScopeKind::Other {
        return None;
    }
    let Some((lines, braces)) = found else {
        return Some(next.map_or(
            Pos {
                line: u32::MAX,
                column: 0,
            },
            |n| n.name,
        ));
    };
    let at = lines.offset(Pos {
        line: definition.name.line,
        column: definition.name_end,
    })?;
    Some(lines.position(braces.body_end(lines.text(), at)))
}

/// Walks positions in ascending order and tells the innermost scope of each.
#[derive(Debug)]
pub struct Sweep<'s> {
    scopes: &'s [Scope],
    next: usize,
    open: Vec<usize>,
}

impl<'s> Sweep<'s> {
    /// Starts before the first position.
    pub fn new(scopes: &'s [Scope]) -> Self {
        Self {
            scopes,
            next: 0,
            open: Vec::new(),
        }
    }

    /// Innermost scope around `at`, which must not come before the last one asked for.
    pub fn innermost(&mut self, at: Pos) -> Option<usize> {
        while let Some(scope) = self.scopes.get(self.next).filter(|s| s.start <= at) {
            self.close(scope.start);
            self.open.push(self.next);
            self.next += 1;
        }
        self.close(at);
        self.open.last().copied()
    }

    fn close(&mut self, at: Pos) {
        while self.open.last().is_some_and(|&i| self.scopes[i].end <= at) {
            self.open.pop();
        }
    }
}
