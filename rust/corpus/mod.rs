//! The texts of a project as one corpus: what a question is ranked against.
//!
//! From the ground up:
//!
//! - `key`: terms to numbers. `varint`, `postings`, `terms`: occurrence lists as bytes; `collect`: from text.
//! - `rows`, `window`: paragraphs, units (a chapter, a section, a line of the outline), what stands around a paragraph.
//! - `part`: one document, immutable; `wire`: the same as bytes for a store.
//! - `segment`, `merge`, `join`, `layer`, `dictionary`: where all terms of many documents stand, changed by document.
//! - `corpus`: the parts of a project in path order, changed by document; `table`: its units and sums.
//! - `query`; `gather` (postings), `rank` (units), `inside` (paragraphs and windows),
//!   `coverage` (how much of the question is there), `score` (their product),
//!   `scored` (what was found), `fuse` (several wordings).
//! - `stretch`: plain search over stretches of all texts, for what no guess may keep out.
//! - `symbols`: where source code defines and calls a name.
//!
//! Must hold: nothing here reads a file or keeps text; equal documents give equal scores, whichever way the corpus came
//! about; ties fall by (path, paragraph). Scores are `f32`, added in the order of the query.

#![expect(
    clippy::cast_precision_loss,
    reason = "scores need no more than the 24 bits of an f32"
)]

mod bm25;
pub mod collect;
#[allow(clippy::module_inception, reason = "the corpus of the room")]
pub mod corpus;
pub mod coverage;
mod dictionary;
pub mod fuse;
mod gather;
mod inside;
mod join;
pub mod key;
mod layer;
mod merge;
pub mod part;
mod postings;
pub mod query;
mod rank;
pub mod rows;
pub mod score;
pub mod scored;
mod scratch;
mod segment;
pub mod stretch;
pub mod symbols;
pub mod table;
mod terms;
// Numbers of variable width as `names` keeps them too.
pub(crate) mod varint;
mod window;
pub mod wire;

#[cfg(test)]
mod tests;

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
