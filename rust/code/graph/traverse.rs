//! The neighbourhood of a symbol: breadth first, to a depth, within a budget.

use rustc_hash::FxHashSet;

use crate::code::graph::classify::EdgeKind;
use crate::code::graph::model::{Edge, Graph};

/// Which way edges are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Against the arrows: who uses it.
    Callers,
    /// Along the arrows: what it uses.
    Callees,
    /// Both.
    Both,
}

/// How far a walk may go.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Steps from the start; 0 is the start alone.
    pub depth: u32,
    /// Most nodes.
    pub nodes: usize,
    /// Most edges.
    pub edges: usize,
    /// Kinds of edges to follow and report.
    pub kinds: Vec<EdgeKind>,
    /// Whether symbols outside of the project are reported.
    pub external: bool,
}

/// What a walk found.
#[derive(Debug, Default)]
pub struct Walk {
    /// `(node, depth)`, by depth, then by importance.
    pub nodes: Vec<(u32, u32)>,
    /// The edges that were followed between these nodes, by `(from, to, kind)` in node order.
    pub edges: Vec<Edge>,
    /// The budget left something out within the depth.
    pub truncated: bool,
    /// Something would have followed beyond the depth.
    pub deeper: bool,
}

/// Walks from `start`.
///
/// Nodes of the same depth are ordered by importance: functions and classes before modules and
/// fields, then the most used, then by name; a budget keeps the first. Edges are kept by the nodes
/// they join in that order. Cost: O(edges met); O(e log e) to order them.
pub fn walk(graph: &Graph, start: u32, direction: Direction, limits: &Limits) -> Walk {
    let mut out = Walk {
        nodes: vec![(start, 0)],
        ..Walk::default()
    };
    if graph.nodes.get(start as usize).is_none() || limits.nodes == 0 {
        out.nodes.clear();
        out.truncated = limits.nodes == 0;
        return out;
    }
    let mut seen: FxHashSet<u32> = FxHashSet::from_iter([start]);
    let mut frontier = vec![start];
    for depth in 1..=limits.depth {
        let mut level = next_level(graph, &frontier, direction, limits, &mut seen);
        level.sort_by_key(|&i| rank(graph, i));
        let room = limits.nodes - out.nodes.len();
        if level.len() > room {
            out.truncated = true;
            level.truncate(room);
        }
        out.nodes.extend(level.iter().map(|&i| (i, depth)));
        frontier = level;
        if frontier.is_empty() {
            break;
        }
    }
    if !out.truncated {
        out.deeper = !next_level(graph, &frontier, direction, limits, &mut seen).is_empty();
    }
    let order: rustc_hash::FxHashMap<u32, usize> = out
        .nodes
        .iter()
        .enumerate()
        .map(|(i, n)| (n.0, i))
        .collect();
    let place = |node: u32| order.get(&node).copied();
    let mut edges: Vec<(usize, usize, Edge)> = Vec::new();
    let mut follow = |edge: &Edge| {
        if let (true, Some(from), Some(to)) = (
            limits.kinds.contains(&edge.kind),
            place(edge.from),
            place(edge.to),
        ) {
            edges.push((from.max(to), from.min(to), *edge));
        }
    };
    for &(node, _) in out.nodes.iter().filter(|n| n.1 < limits.depth) {
        if direction != Direction::Callers {
            graph.outgoing(node).iter().for_each(&mut follow);
        }
        if direction != Direction::Callees {
            graph.incoming(node).for_each(&mut follow);
        }
    }
    edges.sort_unstable_by_key(|&(far, near, e)| (far, near, e.kind, e.from, e.to));
    edges.dedup();
    if edges.len() > limits.edges {
        out.truncated = true;
        edges.truncate(limits.edges);
    }
    edges.sort_unstable_by_key(|(_, _, e)| (place(e.from), place(e.to), e.kind));
    out.edges = edges.into_iter().map(|(_, _, e)| e).collect();
    out
}

/// Unseen neighbours of a level.
fn next_level(
    graph: &Graph,
    frontier: &[u32],
    direction: Direction,
    limits: &Limits,
    seen: &mut FxHashSet<u32>,
) -> Vec<u32> {
    let mut level = Vec::new();
    let mut meet = |edge: &Edge, node: u32| {
        let wanted = limits.kinds.contains(&edge.kind)
            && (limits.external || !graph.nodes[node as usize].external);
        if wanted && seen.insert(node) {
            level.push(node);
        }
    };
    for &node in frontier {
        if direction != Direction::Callers {
            graph.outgoing(node).iter().for_each(|e| meet(e, e.to));
        }
        if direction != Direction::Callees {
            graph.incoming(node).for_each(|e| meet(e, e.from));
        }
    }
    level
}

/// Importance, smaller first.
fn rank(graph: &Graph, node: u32) -> (bool, bool, std::cmp::Reverse<u32>, &str) {
    let n = &graph.nodes[node as usize];
    (
        n.external,
        !n.kind.is_principal(),
        std::cmp::Reverse(graph.used(node)),
        &n.name,
    )
}
