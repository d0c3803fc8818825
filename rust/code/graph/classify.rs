//! What a reference does: calls, inherits, imports, or just refers.

use std::ops::Range;

use crate::code::graph::scopes::Scope;
use crate::code::scan::position::{Lines, Pos};

/// What one symbol does with another; ordered by how much it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EdgeKind {
    /// The name is followed by an opening bracket; a class that is called is instantiated.
    Calls = 0,
    /// A direct base in a class header.
    Inherits = 1,
    /// A method of the same name in the nearest base that has one.
    Overrides = 2,
    /// Any other mention.
    Refs = 3,
    /// A mention in an import statement.
    Imports = 4,
}

impl EdgeKind {
    /// Every kind, in order.
    pub const ALL: [Self; 5] = [
        Self::Calls,
        Self::Inherits,
        Self::Overrides,
        Self::Refs,
        Self::Imports,
    ];

    /// The word used outside.
    pub fn word(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Inherits => "inherits",
            Self::Overrides => "overrides",
            Self::Refs => "refs",
            Self::Imports => "imports",
        }
    }
}

/// Kind of the reference at `start..end_column`, standing in `scope`.
///
/// `imports` must be sorted; `end` is a column on the line of `start`.
pub fn classify(
    start: Pos,
    end: u32,
    scope: Option<&Scope>,
    imports: &[Range<Pos>],
    lines: Option<&Lines>,
    python: bool,
) -> EdgeKind {
    let i = imports.partition_point(|r| r.end <= start);
    if imports.get(i).is_some_and(|r| r.start <= start) {
        return EdgeKind::Imports;
    }
    if scope.is_some_and(|s| start <= s.header_end && s.bases.contains(&start)) {
        return EdgeKind::Inherits;
    }
    let offset = lines.and_then(|l| {
        l.offset(Pos {
            line: start.line,
            column: end,
        })
        .map(|o| &l.text()[o..])
    });
    match offset {
        Some(rest) if is_call(rest, python) => EdgeKind::Calls,
        _ => EdgeKind::Refs,
    }
}

/// Whether the text after a name calls it: `(`, and in languages with braces also `?.(`, `!(` and
/// type arguments before the bracket.
fn is_call(rest: &str, python: bool) -> bool {
    let rest = rest.trim_start_matches([' ', '\t']);
    if rest.starts_with('(') {
        return true;
    }
    if python {
        return false;
    }
    if rest.starts_with("?.(") || rest.starts_with("!(") || rest.starts_with("!.(") {
        return true;
    }
    let generic = rest.strip_prefix("::").unwrap_or(rest);
    generic.starts_with('<') && type_arguments(generic).is_some_and(|after| after.starts_with('('))
}

/// What follows balanced `<…>` on one line, if only type syntax stands between.
fn type_arguments(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    for (i, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if text[..i].ends_with('=') => {}
            '>' => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[i + 1..]);
                }
            }
            ';' | '\n' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_bracket_calls() {
        for (rest, python, expected) in [
            ("(x)", true, true),
            ("  (x)", true, true),
            ("\n(x)", true, false),
            (".y(x)", true, false),
            ("<T, U<V>>(x)", false, true),
            ("::<T>(x)", false, true),
            ("<(a: B) => C>(x)", false, true),
            (" < y && (z)", false, false),
            ("?.(x)", false, true),
            ("<T>(x)", true, false),
        ] {
            assert_eq!(is_call(rest, python), expected, "{rest}");
        }
    }
}
