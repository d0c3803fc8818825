//! The finished graph: nodes with unique names, edges in both directions.

use crate::code::graph::classify::EdgeKind;
use crate::code::graph::naming;
use crate::code::graph::node::{Node, NodeKind};

/// One edge; several sites of the same kind between the same nodes are one edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Who.
    pub from: u32,
    /// Whom.
    pub to: u32,
    /// Does what.
    pub kind: EdgeKind,
    /// Document of the first site.
    pub document: u32,
    /// 0-based line of the first site.
    pub line: u32,
    /// Its column, in the unit of the index.
    pub column: u32,
    /// False when the enclosing definition was guessed at every site.
    pub exact: bool,
    /// Number of sites.
    pub sites: u32,
}

/// A code graph.
#[derive(Debug, Default)]
pub struct Graph {
    /// Program that made the index.
    pub tool: String,
    /// Paths of the documents.
    pub documents: Vec<Box<str>>,
    /// `manager name version` of each package.
    pub packages: Vec<String>,
    /// The nodes, ordered by qualified name, package.
    pub nodes: Vec<Node>,
    /// The edges, ordered by `(from, to, kind)`.
    pub edges: Vec<Edge>,
    /// Documents whose text is not what was indexed, or that are gone.
    pub stale: Vec<u32>,
    /// Documents that define something the index does not know: new, or code that no platform reaches.
    pub grown: Vec<u32>,
    pub(super) out_starts: Vec<u32>,
    pub(super) incoming: Vec<u32>,
    pub(super) in_starts: Vec<u32>,
    pub(super) by_last: Vec<u32>,
}

fn starts(count: usize, keys: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0u32; count + 1];
    for key in keys {
        starts[key as usize + 1] += 1;
    }
    for i in 0..count {
        starts[i + 1] += starts[i];
    }
    starts
}

impl Graph {
    /// Puts edges in order, in both directions, and gives every node its name.
    #[must_use]
    pub fn finish(mut self) -> Self {
        self.edges.sort_unstable();
        self.out_starts = starts(self.nodes.len(), self.edges.iter().map(|e| e.from));
        self.in_starts = starts(self.nodes.len(), self.edges.iter().map(|e| e.to));
        self.incoming = (0..self.edges.len() as u32).collect();
        let edges = &self.edges;
        self.incoming.sort_by_key(|&i| edges[i as usize].to); // stable: by (to, from, kind)
        naming::assign(&mut self.nodes, &self.packages);
        self.by_last = naming::by_last_component(&self.nodes);
        self
    }

    /// Edges that start at `node`.
    pub fn outgoing(&self, node: u32) -> &[Edge] {
        &self.edges
            [self.out_starts[node as usize] as usize..self.out_starts[node as usize + 1] as usize]
    }

    /// Edges that end at `node`, by where they start.
    pub fn incoming(&self, node: u32) -> impl Iterator<Item = &Edge> {
        let range =
            self.in_starts[node as usize] as usize..self.in_starts[node as usize + 1] as usize;
        self.incoming[range]
            .iter()
            .map(|&i| &self.edges[i as usize])
    }

    /// Number of edges that end at `node`.
    pub fn used(&self, node: u32) -> u32 {
        self.in_starts[node as usize + 1] - self.in_starts[node as usize]
    }

    /// Innermost definition around a 0-based line of a document; its module when there is none.
    pub fn at(&self, path: &str, line: u32) -> Option<u32> {
        let document = self.documents.binary_search_by(|d| (**d).cmp(path)).ok()? as u32;
        let here = (0u32..)
            .zip(&self.nodes)
            .filter(|(_, n)| !n.external && n.document == document);
        let around = here
            .filter(|(_, n)| n.kind == NodeKind::Module || (n.line..=n.end_line).contains(&line));
        around
            .max_by_key(|(_, n)| (n.kind != NodeKind::Module, n.kind.is_principal(), n.line))
            .map(|(i, _)| i)
    }

    /// Nodes that a written name means: see [`naming::find`].
    pub fn find(&self, query: &str) -> Vec<u32> {
        naming::find(&self.nodes, &self.by_last, query)
    }

    /// Names that resemble one that is unknown: see [`naming::near`].
    pub fn near(&self, query: &str, count: usize) -> Vec<&str> {
        naming::near(&self.nodes, &self.by_last, query, count)
    }
}
