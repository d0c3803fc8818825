//! From symbol ids to nodes: by name within a package, through the aliases that indexers use, or to
//! a leaf outside of the project.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::graph::definitions::Found;
use crate::code::graph::node::{Node, NodeKind};
use crate::code::graph::scopes::is_python;
use crate::code::index::occurrences::{Occurrences, Row};
use crate::code::index::symbol_id::{Ident, Suffix};

/// Knows every definition and finds the one that a symbol means.
pub struct Resolver<'s> {
    source: &'s Occurrences,
    idents: &'s [Option<Ident>],
    packages: Vec<String>,
    package_numbers: FxHashMap<&'s str, u32>,
    /// Package of each document.
    document_packages: Vec<u32>,
    /// Packages that define something.
    own: FxHashSet<u32>,
    nodes: FxHashMap<(u32, String), u32>,
    /// Other names of modules: `_compat` and `click._compat` for `src.click._compat`.
    aliases: FxHashMap<String, Vec<Alias>>,
    /// Answers that do not depend on the document.
    cache: Vec<Option<u32>>,
}

#[derive(Clone)]
struct Alias {
    module: String,
    directory: String,
    package: u32,
    /// Only the source root is missing: its members go by this name too.
    rooted: bool,
}

/// Directory part of a path, with a final `/`.
fn directory(path: &str) -> &str {
    path.rfind('/').map_or("", |i| &path[..=i])
}

/// How many leading components of a Python module's dotted name are its source root: folders that
/// are no packages themselves.
pub(super) fn source_root(path: &str, packages: &FxHashSet<&str>) -> usize {
    let mut root = 0;
    for (depth, (i, _)) in directory(path).match_indices('/').enumerate() {
        if packages.contains(&path[..=i]) {
            break;
        }
        root = depth + 1;
    }
    root
}

/// Folders that hold an `__init__.py`.
pub(super) fn package_folders(source: &Occurrences) -> FxHashSet<&str> {
    let inits = source
        .documents
        .iter()
        .filter(|d| d.path.ends_with("__init__.py") || d.path.ends_with("__init__.pyi"));
    inits.map(|d| directory(&d.path)).collect()
}

/// Other dotted names of a module, and whether only the source root is missing.
pub fn other_names(module: &str, root: usize) -> impl Iterator<Item = (&str, bool)> {
    module
        .match_indices('.')
        .enumerate()
        .map(move |(n, (i, _))| (&module[i + 1..], n + 1 == root))
}

impl<'s> Resolver<'s> {
    /// Reads which packages there are.
    pub fn new(
        source: &'s Occurrences,
        by_document: &[&[Row]],
        idents: &'s [Option<Ident>],
    ) -> Self {
        let mut packages: Vec<String> = Vec::new();
        let mut package_numbers: FxHashMap<&str, u32> = FxHashMap::default();
        for ident in idents.iter().flatten() {
            package_numbers.entry(&ident.package).or_insert_with(|| {
                packages.push(ident.package.clone());
                packages.len() as u32 - 1
            });
        }
        let first = |rows: &&[Row]| {
            let mut defined = rows.iter().filter(|r| r.is_definition());
            defined
                .find_map(|r| idents[r.symbol as usize].as_ref())
                .map(|i| package_numbers[i.package.as_str()])
        };
        let firsts: Vec<Option<u32>> = by_document.iter().map(first).collect();
        let usual = firsts.iter().flatten().next().copied().unwrap_or_else(|| {
            packages.push("project".into());
            packages.len() as u32 - 1
        });
        Self {
            source,
            idents,
            packages,
            package_numbers,
            own: firsts.iter().flatten().copied().chain([usual]).collect(),
            document_packages: firsts.into_iter().map(|p| p.unwrap_or(usual)).collect(),
            nodes: FxHashMap::default(),
            aliases: FxHashMap::default(),
            cache: vec![None; idents.len()],
        }
    }

    /// Makes nodes of a document's definitions; the answer is their places.
    pub(super) fn define(
        &mut self,
        document: u32,
        found: &[Found],
        nodes: &mut Vec<Node>,
        make: impl Fn(&Found, u32, u32, &[u32]) -> Node,
    ) -> Vec<u32> {
        let package = self.document_packages[document as usize];
        let mut places = Vec::with_capacity(found.len());
        for one in found {
            let place = *self
                .nodes
                .entry((package, one.qualified.clone()))
                .or_insert_with(|| {
                    nodes.push(make(one, document, package, &places));
                    nodes.len() as u32 - 1
                });
            places.push(place);
        }
        places
    }

    /// Learns the other names of Python modules.
    pub fn index(&mut self, nodes: &[Node]) {
        let folders = package_folders(self.source);
        for node in nodes.iter().filter(|n| n.kind == NodeKind::Module) {
            let path = &self.source.documents[node.document as usize].path;
            if !is_python(path) {
                continue;
            }
            for (name, rooted) in other_names(&node.qualified, source_root(path, &folders)) {
                self.aliases
                    .entry(name.to_string())
                    .or_default()
                    .push(Alias {
                        module: node.qualified.to_string(),
                        directory: directory(path).to_string(),
                        package: node.package,
                        rooted,
                    });
            }
        }
    }

    /// The node that `symbol` means in `document`; a new leaf when it lies outside of the project.
    pub fn resolve(
        &mut self,
        symbol: u32,
        instantiates: bool,
        document: u32,
        nodes: &mut Vec<Node>,
    ) -> u32 {
        let idents = self.idents;
        let Some(ident) = &idents[symbol as usize] else {
            return self.leaf("?", 0, NodeKind::Module, nodes);
        };
        let package = self.package_numbers[ident.package.as_str()];
        if instantiates {
            let qualified = ident.qualified();
            let class = qualified
                .rsplit_once('.')
                .map_or("", |(class, _)| class)
                .to_string();
            if let Some(&node) = self.nodes.get(&(package, class)) {
                return node;
            }
        }
        if let Some(node) = self.cache[symbol as usize] {
            return node;
        }
        let key = (package, ident.qualified());
        if let Some(&node) = self.nodes.get(&key) {
            self.cache[symbol as usize] = Some(node);
            return node;
        }
        if let (true, Some(node)) = (self.own.contains(&package), self.by_alias(ident, document)) {
            return node;
        }
        let kind = match (ident.suffix, ident.inside) {
            (Suffix::Type, _) => NodeKind::Class,
            (Suffix::Callable, Some(Suffix::Type)) => NodeKind::Method,
            (Suffix::Callable, _) => NodeKind::Function,
            (Suffix::Macro, _) => NodeKind::Macro,
            (Suffix::Module, _) => NodeKind::Module,
            (Suffix::Term, Some(Suffix::Type)) => NodeKind::Attribute,
            (Suffix::Term, _) => NodeKind::Variable,
        };
        let leaf = self.leaf(&key.1, package, kind, nodes);
        if !self.own.contains(&package) {
            self.cache[symbol as usize] = Some(leaf);
        }
        leaf
    }

    /// The one module known by that name; among several, the one nearest to the document.
    fn by_alias(&self, ident: &Ident, document: u32) -> Option<u32> {
        let here = directory(&self.source.documents[document as usize].path);
        let mut best: Option<(usize, u32)> = None;
        let mut tied = false;
        for alias in self.aliases.get(&ident.module)? {
            if !ident.path.is_empty() && !alias.rooted {
                continue;
            }
            let mut qualified = alias.module.clone();
            if !ident.path.is_empty() {
                qualified = format!("{qualified}.{}", ident.path);
            }
            let Some(&node) = self.nodes.get(&(alias.package, qualified)) else {
                continue;
            };
            let common = here
                .bytes()
                .zip(alias.directory.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            match best {
                Some((closest, _)) if closest > common => {}
                Some((closest, other)) if closest == common && other != node => tied = true,
                _ => {
                    best = Some((common, node));
                    tied = false;
                }
            }
        }
        best.filter(|_| !tied).map(|(_, node)| node)
    }

    fn leaf(
        &mut self,
        qualified: &str,
        package: u32,
        kind: NodeKind,
        nodes: &mut Vec<Node>,
    ) -> u32 {
        *self
            .nodes
            .entry((package, qualified.to_string()))
            .or_insert_with(|| {
                nodes.push(Node {
                    qualified: qualified.into(),
                    package,
                    name: "".into(),
                    kind,
                    external: true,
                    document: 0,
                    line: 0,
                    header_line: 0,
                    end_line: 0,
                    parent: None,
                });
                nodes.len() as u32 - 1
            })
    }

    /// The packages, by number.
    pub fn into_packages(self) -> Vec<String> {
        self.packages
    }
}
