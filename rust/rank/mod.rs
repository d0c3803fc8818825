//! What of a project fits a question: BM25 over blocks of text, and vectors without a model.

pub mod bm25;
pub mod lexical;
