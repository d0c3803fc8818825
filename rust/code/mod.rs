//! The code graph: which symbol calls, references, inherits, imports and overrides which.
//!
//! ```text
//! scan    source text -> definitions, import lines, base classes, line tables
//! index   index.scip, CKB's references -> Occurrences (the same columns, so the same edges)
//! graph   both -> Graph -> Subgraph
//! ```
//!
//! Positions are `(line, column)`, 0-based, columns in the unit of the index; nothing here knows of Python the host.

pub mod graph;
pub mod index;
pub mod scan;
