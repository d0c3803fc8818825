//! What a code graph hands over: named values.

use pyo3::prelude::*;

use crate::py::value::value;

/// One place of a symbol; lines and columns are 1-based, columns in UTF-16 units.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct Occurrence {
    /// The document, relative to the project.
    pub path: String,
    /// SCIP id.
    pub symbol: String,
    /// Line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// Column after the last.
    pub end_column: u32,
    /// Whether the symbol is defined here.
    pub is_definition: bool,
}

/// One node of a code graph; lines are 1-based.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct SymbolNode {
    /// Unique in the graph: the shortest ending of `qualified` that no other symbol has.
    pub name: String,
    /// `module.Class.method`.
    pub qualified: String,
    /// function, method, class and so on.
    pub kind: String,
    /// Outside of the project.
    pub external: bool,
    /// Its document; "" when external.
    pub path: String,
    /// Line of the name.
    pub line: u32,
    /// Last line of the signature.
    pub header_line: u32,
    /// Last line of the definition.
    pub end_line: u32,
    /// Edges that lead to it.
    pub used: u32,
}

/// What one symbol does with another; places of the same kind are one edge.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct SymbolEdge {
    /// Number of the node that acts.
    pub origin: u32,
    /// Number of the node acted upon.
    pub target: u32,
    /// calls, refs, inherits, imports or overrides.
    pub kind: String,
    /// Document of the first place.
    pub path: String,
    /// Its 1-based line.
    pub line: u32,
    /// Whether the enclosing definition is known, not guessed.
    pub exact: bool,
    /// Number of places.
    pub sites: u32,
}

/// What is around a node, to a depth.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct SymbolWalk {
    /// `(node, steps from the start)`, the start first.
    pub nodes: Vec<(u32, u32)>,
    /// Those that were followed.
    pub edges: Vec<Py<SymbolEdge>>,
    /// A limit on nodes or edges left something out.
    pub truncated: bool,
    /// More would follow beyond the depth.
    pub deeper: bool,
}

value!(Occurrence {
    path: String,
    symbol: String,
    line: u32,
    column: u32,
    end_column: u32,
    is_definition: bool,
});
value!(SymbolNode {
    name: String,
    qualified: String,
    kind: String,
    external: bool,
    path: String,
    line: u32,
    header_line: u32,
    end_line: u32,
    used: u32,
});
value!(SymbolEdge {
    origin: u32,
    target: u32,
    kind: String,
    path: String,
    line: u32,
    exact: bool,
    sites: u32,
});

#[pymethods]
impl SymbolWalk {
    fn __repr__(&self) -> String {
        let (nodes, edges) = (self.nodes.len(), self.edges.len());
        let said = |flag, word| if flag { word } else { "" };
        let (truncated, deeper) = (
            said(self.truncated, ", truncated"),
            said(self.deeper, ", deeper"),
        );
        format!("SymbolWalk({nodes} nodes, {edges} edges{truncated}{deeper})")
    }
}
