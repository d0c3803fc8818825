//! Occurrences and source texts become a [`Graph`]: the one builder, whatever the source.
//!
//! Each document is read once: its scopes, its definitions, and for every reference where it stands
//! and what it does. Then definitions become nodes, symbols are resolved to them, and references
//! become edges. Documents are read in parallel and put together in order, so the graph is the same
//! however many threads there are.

use std::fs;
use std::path::Path;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::classify::{EdgeKind, classify};
use super::graph::{Edge, Graph, Node, NodeKind};
use super::ident::{Ident, Suffix, parse};
use super::occurrences::{Document, Occurrences, Row};
use super::overrides;
use super::position::{Lines, Pos};
use super::python::ScopeKind;
use super::resolve::Resolver;
use super::scopes::{Definition, Scope, Scopes, Sweep, from_definitions, from_python, is_python};

/// A definition found in a document.
pub(super) struct Found {
    pub(super) qualified: String,
    kind: NodeKind,
    line: u32,
    header_line: u32,
    end_line: u32,
    /// Its class, as a position in the same list.
    parent: Option<u32>,
}

/// A reference found in a document.
struct Reference {
    from: u32,
    symbol: u32,
    kind: EdgeKind,
    at: Pos,
    exact: bool,
    /// Written as the name of the class whose constructor it is.
    instantiates: bool,
}

/// What reading one document gives; the first definition is its module.
#[derive(Default)]
struct Digest {
    found: Vec<Found>,
    references: Vec<Reference>,
    stale: bool,
    grown: bool,
}

/// Text of a document: what the project folder holds now, else what the index carries.
pub(super) fn text_of(document: &Document, root: &Path) -> Option<String> {
    match fs::read(root.join(&document.path)) {
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

fn digest(
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

/// Turns scopes into definitions; for each scope, its place in `found`.
fn owners(
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
fn terms(
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

/// Builds the graph of `source`, whose documents lie under `root`.
///
/// A document some of whose definitions are no longer where the index says, or that is gone, is listed
/// as stale; when most are elsewhere its edges come from the index alone and are marked inexact. Cost: O(text + occurrences ·
/// log), on all cores.
pub fn build(source: &Occurrences, root: &Path) -> Graph {
    let idents: Vec<Option<Ident>> = source.symbols.par_iter().map(|s| parse(s)).collect();
    let by_document = source.by_document();
    let digests: Vec<Digest> = (0..source.documents.len())
        .into_par_iter()
        .map(|i| digest(&source.documents[i], by_document[i], source, &idents, root))
        .collect();
    let mut resolver = Resolver::new(source, &by_document, &idents);
    let mut graph = Graph {
        tool: source.tool.clone(),
        documents: source
            .documents
            .iter()
            .map(|d| d.path.clone().into())
            .collect(),
        stale: (0..)
            .zip(&digests)
            .filter(|(_, d)| d.stale)
            .map(|(i, _)| i)
            .collect(),
        grown: (0..)
            .zip(&digests)
            .filter(|(_, d)| d.grown)
            .map(|(i, _)| i)
            .collect(),
        ..Graph::default()
    };
    let places: Vec<Vec<u32>> = (0..)
        .zip(&digests)
        .map(|(i, d)| resolver.define(i, &d.found, &mut graph.nodes, node))
        .collect();
    resolver.index(&graph.nodes);
    for ((document, digest), places) in (0..).zip(&digests).zip(&places) {
        for reference in &digest.references {
            let from = places[reference.from as usize];
            let to = resolver.resolve(
                reference.symbol,
                reference.instantiates,
                document,
                &mut graph.nodes,
            );
            if from == to && reference.kind != EdgeKind::Calls {
                continue;
            }
            let (kind, Pos { line, column }, exact) =
                (reference.kind, reference.at, reference.exact);
            graph.edges.push(Edge {
                from,
                to,
                kind,
                document,
                line,
                column,
                exact,
                sites: 1,
            });
        }
    }
    drop(digests);
    graph.packages = resolver.into_packages();
    merge(&mut graph.edges);
    overrides::add(&graph.nodes, &mut graph.edges);
    order(&mut graph);
    graph.finish()
}

/// A node for a definition.
fn node(found: &Found, document: u32, package: u32, places: &[u32]) -> Node {
    Node {
        qualified: found.qualified.clone().into(),
        package,
        name: "".into(),
        kind: found.kind,
        external: false,
        document,
        line: found.line,
        header_line: found.header_line,
        end_line: found.end_line,
        parent: found.parent.and_then(|p| places.get(p as usize)).copied(),
    }
}

/// One edge per `(from, to, kind)`: the first site stays, sites are counted.
fn merge(edges: &mut Vec<Edge>) {
    edges.par_sort_unstable();
    edges.dedup_by(|next, kept| {
        let same = (next.from, next.to, next.kind) == (kept.from, kept.to, kept.kind);
        if same {
            kept.sites += next.sites;
            kept.exact |= next.exact;
        }
        same
    });
}

/// Numbers nodes by qualified name and package, so that numbers do not depend on the source.
fn order(graph: &mut Graph) {
    let packages = &graph.packages;
    let nodes = &graph.nodes;
    let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let key = |i: u32| {
            (
                &nodes[i as usize].qualified,
                &packages[nodes[i as usize].package as usize],
            )
        };
        key(a).cmp(&key(b))
    });
    let mut place = vec![0u32; order.len()];
    for (new, &old) in (0u32..).zip(&order) {
        place[old as usize] = new;
    }
    let mut slots: Vec<Option<Node>> = std::mem::take(&mut graph.nodes)
        .into_iter()
        .map(Some)
        .collect();
    graph.nodes = order
        .iter()
        .filter_map(|&old| slots[old as usize].take())
        .collect();
    for node in &mut graph.nodes {
        node.parent = node.parent.map(|p| place[p as usize]);
    }
    for edge in &mut graph.edges {
        edge.from = place[edge.from as usize];
        edge.to = place[edge.to as usize];
    }
}
