//! Names of nodes: giving each its shortest unique one, and finding nodes by what people write.

use rustc_hash::FxHashMap;

use crate::code::graph::node::{Node, NodeKind};

fn last(qualified: &str) -> &str {
    qualified.rsplit('.').next().unwrap_or(qualified)
}

/// Endings of a dotted name at its dots, shortest first.
fn endings(qualified: &str) -> impl Iterator<Item = &str> {
    qualified
        .rmatch_indices('.')
        .map(|(i, _)| &qualified[i + 1..])
        .chain(std::iter::once(qualified))
}

/// Gives each node the shortest ending of its qualified name that no other node's has; members keep
/// their class. Names outside the project stay whole.
///
/// Cost: O(nodes × components).
pub fn assign(nodes: &mut [Node], packages: &[String]) {
    let mut seen: FxHashMap<&str, u32> = FxHashMap::default();
    for node in nodes.iter() {
        for ending in endings(&node.qualified) {
            *seen.entry(ending).or_default() += 1;
        }
    }
    let mut chosen: Vec<Box<str>> = Vec::with_capacity(nodes.len());
    let mut taken: FxHashMap<Box<str>, u32> = FxHashMap::default();
    for node in nodes.iter() {
        // where the class begins in the name of a member
        let class = node
            .parent
            .and_then(|p| node.qualified.strip_prefix(&*nodes[p as usize].qualified));
        let least = match (class, node.parent) {
            (Some(rest), Some(p)) => rest.len() + last(&nodes[p as usize].qualified).len(),
            _ => 1,
        };
        let unique = endings(&node.qualified).find(|e| e.len() >= least && seen.get(e) == Some(&1));
        let name = if node.external {
            &*node.qualified
        } else {
            unique.unwrap_or(&node.qualified)
        };
        let count = taken.entry(name.into()).or_default();
        *count += 1;
        chosen.push(match *count {
            1 => name.into(),
            _ => format!(
                "{}:{}",
                packages
                    .get(node.package as usize)
                    .map_or("", |p| p.split(' ').nth(1).unwrap_or(p)),
                node.qualified
            )
            .into(),
        });
    }
    // packages may share a name too: number what is still double
    let mut count: FxHashMap<Box<str>, u32> = FxHashMap::default();
    for (node, name) in nodes.iter_mut().zip(chosen) {
        let n = count.entry(name.clone()).or_default();
        *n += 1;
        node.name = if *n == 1 {
            name
        } else {
            format!("{name}~{n}").into()
        };
    }
}

/// Project nodes ordered by the last component of their names.
pub fn by_last_component(nodes: &[Node]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..nodes.len() as u32)
        .filter(|&i| !nodes[i as usize].external)
        .collect();
    order.sort_by_key(|&i| last(&nodes[i as usize].qualified));
    order
}

/// Nodes that `query` means: the one with this very name, else all whose qualified name ends with it.
///
/// `Class#method`, `Class::method`, `path/to/module.function` and a trailing `()` are understood. A
/// name that functions or classes share with fields, variables or modules means the former.
pub fn find(nodes: &[Node], by_last: &[u32], query: &str) -> Vec<u32> {
    let query = query
        .trim()
        .trim_end_matches("()")
        .replace("::", ".")
        .replace(['#', '/', '\\'], ".");
    let query = query.trim_matches('.');
    if query.is_empty() {
        return Vec::new();
    }
    let wanted = last(query);
    let from = by_last.partition_point(|&i| last(&nodes[i as usize].qualified) < wanted);
    let same = by_last[from..]
        .iter()
        .take_while(|&&i| last(&nodes[i as usize].qualified) == wanted)
        .copied();
    let ends = |q: &str| {
        q.strip_suffix(query)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let mut found: Vec<u32> = same
        .filter(|&i| ends(&nodes[i as usize].qualified))
        .collect();
    for exact in [
        |n: &Node, q: &str| &*n.qualified == q,
        |n: &Node, q: &str| &*n.name == q,
    ] {
        if let Some(&one) = found.iter().find(|&&i| exact(&nodes[i as usize], query)) {
            return vec![one];
        }
    }
    if found.iter().any(|&i| nodes[i as usize].kind.is_principal()) {
        found.retain(|&i| nodes[i as usize].kind.is_principal());
    }
    found.sort_by(|&a, &b| {
        nodes[a as usize]
            .qualified
            .cmp(&nodes[b as usize].qualified)
    });
    found
}

/// Edit distance of two short words, or more than `limit`.
fn distance(a: &[char], b: &[char], limit: usize) -> usize {
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
        if row.iter().min().is_none_or(|&m| m > limit) {
            return limit + 1;
        }
    }
    row[b.len()]
}

/// Up to `count` names that resemble `query` in their last component: the same but for case, within
/// a third of its letters, or containing it. Closest first.
pub fn near<'n>(nodes: &'n [Node], by_last: &[u32], query: &str, count: usize) -> Vec<&'n str> {
    let query = query.trim().trim_end_matches("()").replace(['#', '/'], ".");
    let wanted: String = last(&query).to_lowercase();
    let letters: Vec<char> = wanted.chars().collect();
    let limit = (letters.len() / 3).max(1);
    let mut ranked: Vec<(usize, bool, &str)> = Vec::new();
    for &i in by_last {
        let node = &nodes[i as usize];
        let word = last(&node.qualified).to_lowercase();
        let far = distance(&letters, &word.chars().collect::<Vec<_>>(), limit);
        let contains = letters.len() > 2
            && (word.contains(&wanted) || (word.len() > 2 && wanted.contains(&word)));
        if far <= limit || contains {
            ranked.push((
                far,
                !node.kind.is_principal() || node.kind == NodeKind::Macro,
                &node.name,
            ));
        }
    }
    ranked.sort_unstable();
    ranked
        .into_iter()
        .take(count)
        .map(|(_, _, name)| name)
        .collect()
}
