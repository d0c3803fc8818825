//! Source text read by line scanners: blocks and braces, Python's indentation, tables of line starts, names.

pub mod blocks;
pub mod braces;
pub mod names;
pub mod position;
pub mod python;
mod python_lines;
