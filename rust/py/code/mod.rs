//! Symbol graphs and outlines of source text for Python; lines and columns are 1-based from here on.

mod graph;
mod outline;
mod rows;

pub use graph::{CodeGraph, Occurrences};
pub use outline::{Definition, brace_outline, called_names, is_symbol, python_outline};
pub use rows::{Occurrence, SymbolEdge, SymbolNode, SymbolWalk};
