//! One document, read once: its scopes, what it defines, and what each reference in it does.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::graph::classify::{EdgeKind, classify};
use crate::code::graph::definitions::{Found, owners, terms};
use crate::code::graph::node::NodeKind;
use crate::code::graph::scopes::{
    Definition, Scopes, Sweep, from_definitions, from_python, is_python,
};
use crate::code::index::occurrences::{Document, Occurrences, Row};
use crate::code::index::symbol_id::{Ident, Suffix};
use crate::code::scan::position::{Lines, Pos};
use crate::files::open::read_below;

/// Of a file of code that is read; of a larger one the index speaks alone.
const MAX_BYTES: u64 = 32 << 20;

/// A reference found in a document.
pub(super) struct Reference {
    pub(super) from: u32,
    pub(super) symbol: u32,
    pub(super) kind: EdgeKind,
    pub(super) at: Pos,
    pub(super) exact: bool,
    /// Written as the name of the class whose constructor it is.
    pub(super) instantiates: bool,
}

/// What reading one document gives; the first definition is its module.
#[derive(Default)]
pub(super) struct Digest {
    pub(super) found: Vec<Found>,
    pub(super) references: Vec<Reference>,
    pub(super) stale: bool,
    pub(super) grown: bool,
}

/// Text of a document: what the project folder holds now, else what the index carries.
///
/// The path is the index's word: it is read only below `root`, through no link, and only a regular file.
pub(super) fn text_of(document: &Document, root: &Path) -> Option<String> {
    match read_below(root, Path::new(&document.path), MAX_BYTES) {
        Ok(bytes) => Some(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
        }),
        Err(_) => document.text.clone(),
    }
}

/// Name of a document's module: what the index defines there, else its path with dots.
pub(super) fn module_of(document: &Document, rows: &[Row], idents: &[Option<Ident>]) -> String {
    let defined = rows
        .iter()
        .filter(|r| r.is_definition())
        .filter_map(|r| idents[r.symbol as usize].as_ref());
    let mut first = None;
    for ident in defined {
        if ident.suffix == Suffix::Module {
            return ident.qualified();
        }
        first = first.or(Some(&ident.module));
    }
    first.cloned().unwrap_or_else(|| {
        let stem = document
            .path
            .rsplit_once('.')
            .map_or(&*document.path, |(stem, _)| stem);
        stem.trim_end_matches("/__init__").replace('/', ".")
    })
}

/// How the names in a text agree with where the index says they are.
struct Agreement {
    /// Some are elsewhere.
    moved: bool,
    /// So many that positions mean nothing any more.
    lost: bool,
}

/// Whether the text still has the names where the index says they are.
fn agreement(rows: &[Row], idents: &[Option<Ident>], lines: &Lines) -> Agreement {
    let (mut checked, mut wrong) = (0u32, 0u32);
    for row in rows.iter().filter(|r| r.is_definition()) {
        let Some(ident) = &idents[row.symbol as usize] else {
            continue;
        };
        let name = ident.name();
        if ident.suffix == Suffix::Module || !name.chars().all(|c| c.is_alphanumeric() || c == '_')
        {
            continue;
        }
        let end = Pos {
            line: row.start.line,
            column: row.end,
        };
        let written = lines
            .offset(row.start)
            .zip(lines.offset(end))
            .and_then(|(a, b)| lines.text().get(a..b));
        checked += 1;
        wrong += u32::from(written != Some(name));
    }
    Agreement {
        moved: wrong > 0,
        lost: wrong * 5 > checked,
    }
}

pub(super) fn digest(
    document: &Document,
    rows: &[Row],
    source: &Occurrences,
    idents: &[Option<Ident>],
    root: &Path,
) -> Digest {
    let text = text_of(document, root);
    let lines = text.as_deref().map(|t| Lines::new(t, document.encoding));
    let agreement = lines.as_ref().map(|l| agreement(rows, idents, l));
    let stale = agreement.as_ref().is_none_or(|a| a.moved);
    let current = agreement.is_some_and(|a| !a.lost);
    let lines = lines.filter(|_| current);
    let python = is_python(&document.path);
    let mut definitions = Vec::new();
    for row in rows.iter().filter(|r| r.is_definition()) {
        if let Some(ident) = &idents[row.symbol as usize] {
            let extent = source.extent(row);
            definitions.push(Definition {
                name: row.start,
                name_end: row.end,
                suffix: ident.suffix,
                extent,
            });
        }
    }
    let Scopes { scopes, imports } = match &lines {
        Some(lines) if python => from_python(lines),
        other => from_definitions(&definitions, other.as_ref()),
    };
    let mut out = Digest {
        stale,
        ..Digest::default()
    };
    out.found.push(Found {
        qualified: module_of(document, rows, idents),
        kind: NodeKind::Module,
        line: 0,
        header_line: 0,
        end_line: text
            .as_deref()
            .map_or(0, |t| t.lines().count().saturating_sub(1) as u32),
        parent: None,
    });
    let mut known = FxHashMap::from_iter([(out.found[0].qualified.clone(), 0)]);
    let owners = owners(
        &scopes,
        rows,
        idents,
        lines.as_ref(),
        &mut out.found,
        &mut known,
    );
    terms(rows, idents, lines.as_ref(), &mut out.found, &mut known);
    let names: FxHashSet<Pos> = scopes.iter().map(|s| s.name).collect();
    let known_at = |at: Pos| rows.binary_search_by_key(&at, |r| r.start).is_ok();
    out.grown = python && !scopes.iter().all(|s| known_at(s.name));
    let mut sweep = Sweep::new(&scopes);
    for row in rows {
        let scope = sweep.innermost(row.start);
        let Some(ident) = &idents[row.symbol as usize] else {
            continue;
        };
        let names_scope = names.contains(&row.start) && ident.suffix != Suffix::Module;
        if row.is_definition() || names_scope {
            continue;
        }
        let around = scope.map(|i| &scopes[i]);
        let width = row.end.saturating_sub(row.start.column) as usize;
        out.references.push(Reference {
            from: scope.map_or(0, |i| owners[i]),
            symbol: row.symbol,
            kind: classify(row.start, row.end, around, &imports, lines.as_ref(), python),
            at: row.start,
            exact: current && around.is_none_or(|s| s.exact),
            instantiates: ident.name() == "<constructor>"
                && ident
                    .path
                    .rsplit('.')
                    .nth(1)
                    .is_some_and(|class| class.chars().count() == width),
        });
    }
    out
}
