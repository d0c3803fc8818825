//! Indexes that others made: SCIP's protobuf (`wire`, `scip`), CKB's answers, both as `occurrences` of symbol ids.

pub mod occurrences;
pub mod scip;
pub mod symbol_id;
pub mod wire;
