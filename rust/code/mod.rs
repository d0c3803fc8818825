//! The code graph: which symbol calls, references, inherits, imports and overrides which.
//!
//! ```text
//! index.scip --scip--> Occurrences --build--> Graph --walk--> Subgraph
//! CKB's references --> Occurrences      (the same columns, so the same edges)
//! source text --python, braces--> scopes, import lines, base classes
//! ```
//!
//! `wire` reads protobuf, `ident` symbol ids, `position` line tables. Positions are
//! `(line, column)`, 0-based, columns in the unit of the index; nothing here knows of Python the host.

pub mod blocks;
pub mod braces;
pub mod build;
pub mod classify;
pub mod companions;
mod definitions;
mod digest;
pub mod graph;
pub mod ident;
pub mod names;
pub mod occurrences;
pub mod overrides;
pub mod position;
pub mod python;
mod python_lines;
pub mod resolve;
pub mod scip;
pub mod scopes;
pub mod walk;
pub mod wire;
