//! What of a project fits a question: BM25 over blocks of text (`bm25`), vectors without a model (`lexical`).
//!
//! Paragraphs are ranked in [`crate::corpus`]; terms are those of `text/analyzer`, the same everywhere. Must hold:
//! scores do not depend on threads.

pub mod bm25;
pub mod lexical;
