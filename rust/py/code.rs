//! `Occurrences` and `CodeGraph` for Python; lines and columns are 1-based from here on.

use std::path::PathBuf;

use pyo3::exceptions::{PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::code::graph::build::build;
use crate::code::graph::classify::EdgeKind;
use crate::code::graph::implied_symbols::companions;
use crate::code::graph::model::{Edge, Graph};
use crate::code::graph::traverse::{Direction, Limits, walk};
use crate::code::index::occurrences::{Collector, Document, Occurrences as Columns};
use crate::code::index::scip::{ScipError, read};
use crate::code::scan::position::pos;
use crate::code::scan::python::{ScopeKind, outline};

type Occurrence = (String, u32, u32, u32, bool);
/// `(nodes with depth, edges, truncated, deeper)`
type Found = (Vec<(u32, u32)>, Vec<EdgeRow>, bool, bool);
type EdgeRow = (u32, u32, &'static str, String, u32, bool, u32);
type NodeRow = (
    String,
    String,
    &'static str,
    bool,
    String,
    u32,
    u32,
    u32,
    u32,
);

/// Where every symbol of an index stands.
#[pyclass(frozen, module = "armarius._core")]
pub struct Occurrences(Columns);

#[pymethods]
impl Occurrences {
    /// Read a SCIP index file.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts paths owned")]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| read(&path)).map(Self).map_err(|e| match e {
            ScipError::Io(e) => {
                PyOSError::new_err((e.raw_os_error(), e.to_string(), path.display().to_string()))
            }
            ScipError::Corrupt(_) => PyValueError::new_err(format!("{}: {e}", path.display())),
        })
    }

    /// Collect rows of (path, symbol, line, column, end column, is definition).
    #[staticmethod]
    fn from_rows(tool: String, rows: Vec<(String, String, u32, u32, u32, bool)>) -> Self {
        let mut collector = Collector::default();
        collector.tool(tool);
        let mut numbers = rustc_hash::FxHashMap::default();
        for (path, symbol, line, column, end, definition) in rows {
            let number = *numbers.entry(path.clone()).or_insert_with(|| {
                collector.document(Document {
                    path,
                    ..Document::default()
                })
            });
            let start = pos(line.saturating_sub(1), column.saturating_sub(1));
            collector.add(
                number,
                &symbol,
                start,
                end.saturating_sub(1),
                definition,
                None,
            );
        }
        Self(collector.finish())
    }

    /// Name and version of the program that made the index.
    #[getter]
    fn tool(&self) -> &str {
        &self.0.tool
    }

    fn __len__(&self) -> usize {
        self.0.rows.len()
    }

    /// Paths of the documents, sorted.
    fn documents(&self) -> Vec<&str> {
        self.0.documents.iter().map(|d| d.path.as_str()).collect()
    }

    /// Symbol ids, without locals and parameters.
    fn symbols(&self) -> Vec<&str> {
        self.0.symbols.iter().map(|s| &**s).collect()
    }

    /// Occurrences of one symbol: (path, line, column, end column, is definition).
    fn references(&self, symbol: &str) -> Vec<Occurrence> {
        let Some(number) = self.0.symbol(symbol) else {
            return Vec::new();
        };
        let rows = self.0.rows.iter().filter(|r| r.symbol == number);
        rows.map(|r| {
            let path = self.0.documents[r.document as usize].path.clone();
            (
                path,
                r.start.line + 1,
                r.start.column + 1,
                r.end + 1,
                r.is_definition(),
            )
        })
        .collect()
    }

    /// Ids that may have references without being listed.
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts paths owned")]
    fn companions(&self, py: Python<'_>, root: PathBuf) -> Vec<String> {
        py.detach(|| companions(&self.0, &root))
    }
}

/// Who calls, references, inherits, imports and overrides whom.
#[pyclass(frozen, module = "armarius._core")]
pub struct CodeGraph(Graph);

impl CodeGraph {
    fn edge(&self, e: &Edge) -> EdgeRow {
        let path = self.0.documents[e.document as usize].to_string();
        (
            e.from,
            e.to,
            e.kind.word(),
            path,
            e.line + 1,
            e.exact,
            e.sites,
        )
    }
}

#[pymethods]
impl CodeGraph {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts paths owned")]
    fn new(py: Python<'_>, occurrences: &Occurrences, root: PathBuf) -> Self {
        Self(py.detach(|| build(&occurrences.0, &root)))
    }

    /// Name and version of the program that made the index.
    #[getter]
    fn tool(&self) -> &str {
        &self.0.tool
    }

    fn __len__(&self) -> usize {
        self.0.nodes.len()
    }

    /// Paths of the documents, sorted.
    fn documents(&self) -> Vec<&str> {
        self.0.documents.iter().map(|d| &**d).collect()
    }

    /// Documents whose text is not what was indexed.
    fn stale(&self) -> Vec<&str> {
        self.0
            .stale
            .iter()
            .map(|&d| &*self.0.documents[d as usize])
            .collect()
    }

    /// Documents with definitions that the index does not have.
    fn grown(&self) -> Vec<&str> {
        self.0
            .grown
            .iter()
            .map(|&d| &*self.0.documents[d as usize])
            .collect()
    }

    /// Numbers of the nodes that a written name means.
    fn find(&self, query: &str) -> Vec<u32> {
        self.0.find(query)
    }

    /// Names that resemble an unknown one, closest first.
    fn near(&self, query: &str, count: usize) -> Vec<&str> {
        self.0.near(query, count)
    }

    /// Innermost definition around a line of a document.
    fn at(&self, path: &str, line: u32) -> Option<u32> {
        self.0.at(path, line.saturating_sub(1))
    }

    /// (name, qualified, kind, external, path, line, header's last line, last line, edges to it).
    fn node(&self, number: u32) -> PyResult<NodeRow> {
        let Some(n) = self.0.nodes.get(number as usize) else {
            return Err(PyIndexError::new_err(format!(
                "no node {number} among {}",
                self.0.nodes.len()
            )));
        };
        let path = if n.external {
            String::new()
        } else {
            self.0.documents[n.document as usize].to_string()
        };
        Ok((
            n.name.to_string(),
            n.qualified.to_string(),
            n.kind.word(),
            n.external,
            path,
            n.line + 1,
            n.header_line + 1,
            n.end_line + 1,
            self.0.used(number),
        ))
    }

    /// All edges: (from, to, kind, path, line, exact, sites).
    fn edges(&self) -> Vec<EdgeRow> {
        self.0.edges.iter().map(|e| self.edge(e)).collect()
    }

    /// Breadth first from a node: ([(node, depth)], edges, truncated, deeper).
    #[pyo3(signature = (start, *, direction, depth, max_nodes, max_edges, kinds, external))]
    #[expect(clippy::too_many_arguments, reason = "the limits of one walk")]
    fn walk(
        &self,
        py: Python<'_>,
        start: u32,
        direction: &str,
        depth: u32,
        max_nodes: usize,
        max_edges: usize,
        kinds: Vec<String>,
        external: bool,
    ) -> PyResult<Found> {
        let direction = match direction {
            "callers" => Direction::Callers,
            "callees" => Direction::Callees,
            "both" => Direction::Both,
            other => {
                return Err(PyValueError::new_err(format!(
                    "direction must be callers, callees or both, got {other:?}"
                )));
            }
        };
        let kinds = kinds
            .into_iter()
            .map(|word| {
                let known = EdgeKind::ALL.into_iter().find(|k| k.word() == word);
                known.ok_or_else(|| PyValueError::new_err(format!("unknown kind of edge {word:?}")))
            })
            .collect::<PyResult<_>>()?;
        let limits = Limits {
            depth,
            nodes: max_nodes,
            edges: max_edges,
            kinds,
            external,
        };
        let found = py.detach(|| walk(&self.0, start, direction, &limits));
        let edges = found.edges.iter().map(|e| self.edge(e)).collect();
        Ok((found.nodes, edges, found.truncated, found.deeper))
    }
}

/// Functions and classes of Python source: (kind, name, name's line, first line, header's last line, last line).
#[pyfunction]
pub fn python_outline(text: &str) -> Vec<(&'static str, String, usize, usize, usize, usize)> {
    let newlines: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
    let line = |offset: usize| newlines.partition_point(|&n| n < offset) + 1;
    let found = outline(text).blocks;
    found
        .into_iter()
        .map(|b| {
            let kind = if b.kind == ScopeKind::Class {
                "class"
            } else {
                "function"
            };
            let name = text[b.name.clone()].to_string();
            (
                kind,
                name,
                line(b.name.start),
                line(b.extent.start),
                line(b.header_end),
                line(b.extent.end),
            )
        })
        .collect()
}

/// Whether an id names a symbol, rather than a local, a parameter or nothing.
#[pyfunction]
pub fn is_symbol(symbol: &str) -> bool {
    crate::code::index::symbol_id::parse(symbol).is_some()
}

/// Definitions with bodies in braces: (is a class, name, first line, last line), outermost first.
#[pyfunction]
pub fn brace_outline(text: &str) -> Vec<(bool, String, usize, usize)> {
    let newlines: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
    let line = |offset: usize| newlines.partition_point(|&n| n < offset) + 1;
    crate::code::scan::blocks::blocks(text)
        .into_iter()
        .map(|b| {
            let name = text[b.name].to_string();
            (b.container, name, line(b.extent.start), line(b.extent.end))
        })
        .collect()
}
