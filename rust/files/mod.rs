//! The files of a project: which there are (`walk`), and which lines of them hold a pattern (`grep`).
//!
//! Must hold: links are never followed, ignore files are honoured, nothing outside the root is opened.

pub mod grep;
pub mod walk;
