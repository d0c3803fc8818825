//! Ids that an index may hold references to without listing them among its symbols.
//!
//! CKB enumerates only the symbols that the indexer described. What is missing can be derived: the
//! classes and modules around known members, definitions that stand in the text, and the other
//! names under which Python modules are imported. Asking for one that does not exist costs nothing
//! but the question.

use std::collections::BTreeSet;
use std::path::Path;

use rustc_hash::FxHashSet;

use crate::code::graph::document::{module_of, text_of};
use crate::code::graph::resolve::{other_names, package_folders, source_root};
use crate::code::graph::scopes::is_python;
use crate::code::index::occurrences::{Occurrences, Row};
use crate::code::index::symbol_id::{Ident, Suffix, parse};
use crate::code::scan::python::{ScopeKind, outline};

/// Everything before the module descriptor, for instance `scip-python python click _ `.
fn header(id: &str) -> Option<&str> {
    let mut spaces = 0;
    let mut chars = id.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        if c == ' ' {
            if chars.peek().is_some_and(|&(_, n)| n == ' ') {
                chars.next();
                continue;
            }
            spaces += 1;
            if spaces == 4 {
                return Some(&id[..=i]);
            }
        }
    }
    None
}

/// A name as a descriptor, in backticks unless simple.
fn escaped(name: &str) -> String {
    let simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-' | '$');
    if name.chars().all(simple) {
        name.to_string()
    } else {
        format!("`{}`", name.replace('`', "``"))
    }
}

/// The ids around a member: its class, the class around that, and so on up to the module.
fn around(id: &str, out: &mut BTreeSet<String>) {
    let Some(head) = header(id) else { return };
    let mut quoted = false;
    for (i, c) in id.char_indices().skip_while(|&(i, _)| i < head.len()) {
        match c {
            '`' => quoted = !quoted,
            '#' | '.' | '/' if !quoted && i + 1 < id.len() => {
                out.insert(id[..=i].to_string());
            }
            _ => {}
        }
    }
}

/// All derived ids that are not among the symbols, in order.
pub fn companions(source: &Occurrences, root: &Path) -> Vec<String> {
    let idents: Vec<Option<Ident>> = source.symbols.iter().map(|s| parse(s)).collect();
    let folders = package_folders(source);
    let mut out = BTreeSet::new();
    for symbol in &source.symbols {
        around(symbol, &mut out);
    }
    for (document, rows) in source.documents.iter().zip(source.by_document()) {
        if !is_python(&document.path) {
            continue;
        }
        let Some(head) = rows
            .iter()
            .find(|r| r.is_definition())
            .and_then(|r| header(&source.symbols[r.symbol as usize]))
        else {
            continue;
        };
        let module = module_of(document, rows, &idents);
        let mut inside = defined(source, rows, &idents, &module);
        if let Some(text) = text_of(document, root) {
            written(&text, &mut inside);
        }
        let place = |name: &str| format!("{head}{}/", escaped(name));
        out.extend(inside.iter().map(|rest| place(&module) + rest));
        for (name, rooted) in other_names(&module, source_root(&document.path, &folders)) {
            out.insert(place(name) + "__init__:");
            if rooted {
                out.extend(inside.iter().map(|rest| place(name) + rest));
            }
        }
    }
    let known: FxHashSet<&str> = source.symbols.iter().map(|s| &**s).collect();
    out.into_iter()
        .filter(|id| !known.contains(id.as_str()))
        .collect()
}

/// What the index defines in a module, without the module's part of the id.
fn defined(
    source: &Occurrences,
    rows: &[Row],
    idents: &[Option<Ident>],
    module: &str,
) -> BTreeSet<String> {
    let mut inside = BTreeSet::from(["__init__:".to_string()]);
    for row in rows.iter().filter(|r| r.is_definition()) {
        let id = &source.symbols[row.symbol as usize];
        let Some(ident) = idents[row.symbol as usize]
            .as_ref()
            .filter(|i| i.module == module)
        else {
            continue;
        };
        if ident.suffix != Suffix::Module
            && let Some(rest) = header(id).and_then(|h| id[h.len()..].split_once('/'))
        {
            inside.insert(rest.1.to_string());
        }
    }
    inside
}

/// What the text defines, without the module's part of the id.
fn written(text: &str, inside: &mut BTreeSet<String>) {
    let found = outline(text);
    let mut open: Vec<(usize, String)> = Vec::new();
    for block in &found.blocks {
        while open
            .last()
            .is_some_and(|(end, _)| *end <= block.extent.start)
        {
            open.pop();
        }
        let suffix = if block.kind == ScopeKind::Class {
            "#"
        } else {
            "()."
        };
        let outer = open.last().map_or("", |(_, id)| id);
        let id = format!("{outer}{}{suffix}", escaped(&text[block.name.clone()]));
        inside.insert(id.clone());
        open.push((block.extent.end, id));
    }
    for name in &found.assigned {
        let name = escaped(&text[name.clone()]);
        inside.insert(format!("{name}.{name}."));
        inside.insert(format!("{name}."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_imply_their_classes() {
        let mut out = BTreeSet::new();
        around("s p n v `a.b`/Outer#Inner#f().g().", &mut out);
        let expected = [
            "`a.b`/",
            "`a.b`/Outer#",
            "`a.b`/Outer#Inner#",
            "`a.b`/Outer#Inner#f().",
        ];
        assert_eq!(
            out.into_iter().collect::<Vec<_>>(),
            expected.map(|d| format!("s p n v {d}"))
        );
    }
}
