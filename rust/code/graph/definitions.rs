//! What a document defines: its scopes, then constants, attributes and what has no body.

use rustc_hash::FxHashMap;

use crate::code::graph::node::NodeKind;
use crate::code::graph::scopes::Scope;
use crate::code::index::occurrences::Row;
use crate::code::index::symbol_id::{Ident, Suffix};
use crate::code::scan::position::{Lines, Pos};
use crate::code::scan::python::ScopeKind;

/// A definition found in a document.
pub(super) struct Found {
    pub(super) qualified: String,
    pub(super) kind: NodeKind,
    pub(super) line: u32,
    pub(super) header_line: u32,
    pub(super) end_line: u32,
    /// Its class, as a position in the same list.
    pub(super) parent: Option<u32>,
}

/// Turns scopes into definitions; for each scope, its place in `found`.
pub(super) fn owners(
    scopes: &[Scope],
    rows: &[Row],
    idents: &[Option<Ident>],
    lines: Option<&Lines>,
    found: &mut Vec<Found>,
    known: &mut FxHashMap<String, u32>,
) -> Vec<u32> {
    let mut owners: Vec<u32> = Vec::with_capacity(scopes.len());
    let mut open: Vec<usize> = Vec::new();
    for (i, scope) in scopes.iter().enumerate() {
        while open.last().is_some_and(|&o| scopes[o].end <= scope.start) {
            open.pop();
        }
        let outer = open.last().copied();
        let around = outer.map_or(0, |o| owners[o]);
        open.push(i);
        // an overload or a redefinition is a reference in the index, at the place of its name
        let first = rows.partition_point(|r| r.start < scope.name);
        let at_name = rows[first..].iter().take_while(|r| r.start == scope.name);
        let ident = at_name
            .filter_map(|r| idents[r.symbol as usize].as_ref())
            .find(|ident| {
                ident.suffix != Suffix::Module
                    && scope.written.as_deref().is_none_or(|w| ident.name() == w)
            });
        let qualified = match (ident, &scope.written) {
            (Some(ident), _) => ident.qualified(),
            (None, Some(name)) => format!("{}.{name}", found[around as usize].qualified),
            (None, None) => {
                owners.push(around);
                continue;
            }
        };
        let last_line = if scope.end.column == 0 {
            scope.end.line.saturating_sub(1)
        } else {
            scope.end.line
        };
        if let Some(&same) = known.get(&qualified) {
            let first = &mut found[same as usize];
            first.end_line = first.end_line.max(last_line);
            owners.push(same);
            continue;
        }
        // a function inside a method is none, even where the index names it as one
        let in_class = match outer {
            Some(o) => scopes[o].kind == ScopeKind::Class,
            None => ident.is_some_and(|i| i.inside == Some(Suffix::Type)),
        };
        let kind = match (scope.kind, ident.map(|i| i.suffix)) {
            (ScopeKind::Class, _) => type_kind(scope.name, lines),
            (ScopeKind::Function, _) if in_class => NodeKind::Method,
            (ScopeKind::Function, _) => NodeKind::Function,
            (ScopeKind::Other, Some(Suffix::Macro)) => NodeKind::Macro,
            (ScopeKind::Other, _) => term_kind(ident, scope.name, lines),
        };
        let outer = qualified
            .rsplit_once('.')
            .and_then(|(outer, _)| known.get(outer));
        let parent = outer.copied().filter(|&o| in_class && o != 0);
        owners.push(found.len() as u32);
        known.insert(qualified.clone(), found.len() as u32);
        found.push(Found {
            qualified,
            kind,
            line: scope.name.line,
            header_line: scope.header_end.line,
            end_line: last_line.max(scope.header_end.line),
            parent,
        });
    }
    owners
}

/// Adds the definitions that are no scopes: constants, variables, attributes, bodiless methods.
pub(super) fn terms(
    rows: &[Row],
    idents: &[Option<Ident>],
    lines: Option<&Lines>,
    found: &mut Vec<Found>,
    known: &mut FxHashMap<String, u32>,
) {
    for row in rows.iter().filter(|r| r.is_definition()) {
        let Some(ident) = idents[row.symbol as usize]
            .as_ref()
            .filter(|i| i.suffix != Suffix::Module)
        else {
            continue;
        };
        let qualified = ident.qualified();
        if known.contains_key(&qualified) {
            continue;
        }
        let parent = qualified
            .rsplit_once('.')
            .and_then(|(outer, _)| known.get(outer))
            .copied();
        let parent = parent.filter(|_| ident.inside == Some(Suffix::Type));
        let kind = match (ident.suffix, ident.inside) {
            (Suffix::Type, _) => type_kind(row.start, lines),
            (Suffix::Callable, Some(Suffix::Type)) => NodeKind::Method,
            (Suffix::Callable, _) => NodeKind::Function,
            (Suffix::Macro, _) => NodeKind::Macro,
            _ => term_kind(Some(ident), row.start, lines),
        };
        known.insert(qualified.clone(), found.len() as u32);
        let line = row.start.line;
        found.push(Found {
            qualified,
            kind,
            line,
            header_line: line,
            end_line: line,
            parent,
        });
    }
}

/// Class, unless the word before the name says otherwise.
fn type_kind(name: Pos, lines: Option<&Lines>) -> NodeKind {
    let before = lines.and_then(|l| l.offset(name).map(|o| l.text()[..o].trim_end()));
    match before.and_then(|b| b.rsplit(|c: char| !c.is_alphanumeric()).next()) {
        Some("interface" | "trait" | "protocol") => NodeKind::Interface,
        Some("enum") => NodeKind::Enum,
        Some("type") => NodeKind::Type,
        _ => NodeKind::Class,
    }
}

/// Attribute, constant, variable, or a function when a variable is initialised with one.
fn term_kind(ident: Option<&Ident>, name: Pos, lines: Option<&Lines>) -> NodeKind {
    let Some(ident) = ident else {
        return NodeKind::Variable;
    };
    if ident.inside == Some(Suffix::Type) {
        return NodeKind::Attribute;
    }
    let line = lines.and_then(|l| l.offset(name).and_then(|o| l.text()[o..].lines().next()));
    let value = line
        .and_then(|l| l.split_once(" = "))
        .map_or("", |(_, v)| v.trim_start());
    let arrow = value.contains("=>") && (value.starts_with('(') || value.starts_with("async"));
    let capitals = ident.name().chars().all(|c| !c.is_lowercase())
        && ident.name().chars().any(char::is_uppercase);
    match () {
        () if arrow || value.starts_with("function") => NodeKind::Function,
        () if capitals => NodeKind::Constant,
        () => NodeKind::Variable,
    }
}
