//! Occurrences and source texts become a [`Graph`]: the one builder, whatever the source.
//!
//! Each document is read once: its scopes, its definitions, and for every reference where it stands
//! and what it does. Then definitions become nodes, symbols are resolved to them, and references
//! become edges. Documents are read in parallel and put together in order, so the graph is the same
//! however many threads there are.

use std::path::Path;

use rayon::prelude::*;

use crate::code::graph::classify::EdgeKind;
use crate::code::graph::definitions::Found;
use crate::code::graph::document::{Digest, digest};
use crate::code::graph::model::{Edge, Graph};
use crate::code::graph::node::Node;
use crate::code::graph::overrides;
use crate::code::graph::resolve::Resolver;
use crate::code::index::occurrences::Occurrences;
use crate::code::index::symbol_id::{Ident, parse};
use crate::code::scan::position::Pos;
use crate::threads::spread;

/// Builds the graph of `source`, whose documents lie under `root`.
///
/// A document some of whose definitions are no longer where the index says, or that is gone, is listed
/// as stale; when most are elsewhere its edges come from the index alone and are marked inexact. Cost: O(text + occurrences ·
/// log), on all cores.
pub fn build(source: &Occurrences, root: &Path) -> Graph {
    let idents: Vec<Option<Ident>> =
        spread(|| source.symbols.par_iter().map(|s| parse(s)).collect());
    let by_document = source.by_document();
    let one = |i: usize| digest(&source.documents[i], by_document[i], source, &idents, root);
    let all = 0..source.documents.len();
    let digests: Vec<Digest> = spread(|| all.into_par_iter().map(one).collect());
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
    spread(|| edges.par_sort_unstable());
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
