//! `Occurrences` and `CodeGraph` for Python.

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
use crate::py::code::rows::{Occurrence, SymbolEdge, SymbolNode, SymbolWalk};

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

    /// Collect what was found elsewhere.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 extracts lists owned")]
    fn from_rows(tool: String, rows: Vec<Bound<'_, Occurrence>>) -> Self {
        let mut collector = Collector::default();
        collector.tool(tool);
        let mut numbers = rustc_hash::FxHashMap::default();
        for row in &rows {
            let row = row.get();
            let number = *numbers.entry(row.path.clone()).or_insert_with(|| {
                collector.document(Document {
                    path: row.path.clone(),
                    ..Document::default()
                })
            });
            collector.add(
                number,
                &row.symbol,
                pos(row.line.saturating_sub(1), row.column.saturating_sub(1)),
                row.end_column.saturating_sub(1),
                row.is_definition,
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

    /// Occurrences of one symbol, its definition included.
    fn references(&self, symbol: &str) -> Vec<Occurrence> {
        let Some(number) = self.0.symbol(symbol) else {
            return Vec::new();
        };
        let rows = self.0.rows.iter().filter(|r| r.symbol == number);
        rows.map(|r| Occurrence {
            path: self.0.documents[r.document as usize].path.clone(),
            symbol: symbol.to_string(),
            line: r.start.line + 1,
            column: r.start.column + 1,
            end_column: r.end + 1,
            is_definition: r.is_definition(),
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
    fn edge(&self, e: &Edge) -> SymbolEdge {
        SymbolEdge {
            origin: e.from,
            target: e.to,
            kind: e.kind.word().to_string(),
            path: self.0.documents[e.document as usize].to_string(),
            line: e.line + 1,
            exact: e.exact,
            sites: e.sites,
        }
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

    /// The node of a number.
    fn node(&self, number: u32) -> PyResult<SymbolNode> {
        let Some(n) = self.0.nodes.get(number as usize) else {
            return Err(PyIndexError::new_err(format!(
                "no node {number} among {}",
                self.0.nodes.len()
            )));
        };
        Ok(SymbolNode {
            name: n.name.to_string(),
            qualified: n.qualified.to_string(),
            kind: n.kind.word().to_string(),
            external: n.external,
            path: if n.external {
                String::new()
            } else {
                self.0.documents[n.document as usize].to_string()
            },
            line: n.line + 1,
            header_line: n.header_line + 1,
            end_line: n.end_line + 1,
            used: self.0.used(number),
        })
    }

    /// All edges.
    fn edges(&self) -> Vec<SymbolEdge> {
        self.0.edges.iter().map(|e| self.edge(e)).collect()
    }

    /// Breadth first from a node.
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
    ) -> PyResult<SymbolWalk> {
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
        let edges = found.edges.iter().map(|e| Py::new(py, self.edge(e)));
        Ok(SymbolWalk {
            nodes: found.nodes,
            edges: edges.collect::<PyResult<_>>()?,
            truncated: found.truncated,
            deeper: found.deeper,
        })
    }
}
