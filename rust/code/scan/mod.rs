//! Source text read by line scanners: blocks and braces, Python's indentation, tables of line starts.

pub mod blocks;
pub mod braces;
pub mod position;
pub mod python;
mod python_lines;
