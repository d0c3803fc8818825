//! The graph: built from occurrences and scopes, named, asked and walked.
//!
//! `build` is the way through: `document` reads one document, `definitions` and `implied_symbols` say what it defines,
//! `resolve` whom a reference means, `classify` what it does, `overrides` who replaces whom, `naming` what nodes are
//! called; `model` is the result, `traverse` walks it.

pub mod build;
pub mod classify;
mod definitions;
mod document;
pub mod implied_symbols;
pub mod model;
pub mod naming;
pub mod node;
pub mod overrides;
pub mod resolve;
pub mod scopes;
pub mod traverse;
