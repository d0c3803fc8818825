//! The texts of a project as one corpus: what a question is ranked against and passages are chosen from.
//!
//! From the ground up:
//!
//! - `key`: terms to numbers. `varint`, `postings`, `terms`: occurrence lists as bytes.
//! - `rows`, `window`: paragraphs, units (a chapter, a section, a line of the outline), what stands around a paragraph.
//! - `part`: one document, immutable; `wire`: the same as bytes for a store.
//! - `segment`, `merge`: many documents as one dictionary.
//! - `corpus`: the parts of a project in path order, changed by document.
//! - `query`, `gather`, `rank`, `score`: BM25 of units, paragraphs and windows, and their product.
//! - `select`: paragraphs by score into a number of tokens.
//!
//! Must hold: nothing here reads a file or keeps text; equal documents give equal scores, whichever way the corpus came
//! about; ties fall by (path, paragraph). Scores are `f32`, added in the order of the query.

pub mod key;
pub mod part;
mod postings;
pub mod rows;
mod terms;
mod varint;
mod window;
pub mod wire;

/// What is wrong with a part or a question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorpusError {
    /// Bytes that are no part; it is derived and can be built again.
    #[error("corpus part is damaged: {0}")]
    Damaged(String),
    /// Rows that do not fit each other.
    #[error("{0}")]
    Invalid(String),
}
