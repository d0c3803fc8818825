//! Which method overrides which: by name, along direct inheritance.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::graph::classify::EdgeKind;
use crate::code::graph::model::Edge;
use crate::code::graph::node::{Node, NodeKind};

/// Adds an `overrides` edge from each method to the method of the same name in the nearest base
/// class that has one (breadth first, bases in the order of their first mention).
///
/// Constructors override nothing. Indexers list implementations transitively and CKB not at all, so
/// both sources are given the same edges by the same rule.
pub fn add(nodes: &[Node], edges: &mut Vec<Edge>) {
    let mut inherits: Vec<&Edge> = edges
        .iter()
        .filter(|e| e.kind == EdgeKind::Inherits)
        .collect();
    inherits.sort_by_key(|e| (e.from, e.line, e.column));
    let mut bases: FxHashMap<u32, Vec<(u32, bool)>> = FxHashMap::default();
    for edge in inherits {
        bases
            .entry(edge.from)
            .or_default()
            .push((edge.to, edge.exact));
    }
    let mut members: FxHashMap<(u32, &str), u32> = FxHashMap::default();
    let own = |node: &Node| {
        node.qualified
            .rsplit('.')
            .next()
            .map(str::to_string)
            .unwrap_or_default()
    };
    let names: Vec<String> = nodes.iter().map(own).collect();
    for (i, node) in (0u32..).zip(nodes) {
        if let (Some(parent), NodeKind::Method) = (node.parent, node.kind) {
            members.insert((parent, &names[i as usize]), i);
        }
    }
    let mut found = Vec::new();
    for (i, node) in (0u32..).zip(nodes) {
        let name = names[i as usize].as_str();
        let (Some(class), NodeKind::Method) = (node.parent, node.kind) else {
            continue;
        };
        if matches!(name, "__init__" | "<constructor>" | "__new__") {
            continue;
        }
        let mut queue: VecDeque<(u32, bool)> = VecDeque::from([(class, true)]);
        let mut seen = FxHashSet::from_iter([class]);
        while let Some((class, exact)) = queue.pop_front() {
            for &(base, edge_exact) in bases.get(&class).map_or(&[][..], Vec::as_slice) {
                if seen.insert(base) {
                    queue.push_back((base, exact && edge_exact));
                }
            }
            let Some(&(next, exact)) = queue.front() else {
                break;
            };
            if let Some(&to) = members.get(&(next, name)) {
                let (document, line) = (node.document, node.line);
                found.push(Edge {
                    from: i,
                    to,
                    kind: EdgeKind::Overrides,
                    document,
                    line,
                    column: 0,
                    exact,
                    sites: 1,
                });
                break;
            }
        }
    }
    edges.extend(found);
}
