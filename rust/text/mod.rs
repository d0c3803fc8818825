//! Text as such: offsets, spelling, where it may be cut, what of it is searched for.
//!
//! - `offsets`: byte spans to code points and back, one forward cursor.
//! - `normalize` folds case and width; `offset_map` leads from the folded text back to the original.
//! - `segment`: graphemes, sentences of both scripts, paragraphs; `pieces` cuts what is too long by them.
//! - `bigrams`: character pairs for the full-text table; `analyzer`: search terms for ranking.
//! - `ballast`: patterns for an automaton, so that it is built in linear time.
//! - `shape`: prose or list, speech, scripts, and a sketch of the sentences of a text.
//! - `lexical`: vectors of hashed characters and words, for an embedder without a model.
//!
//! Must hold: nothing here knows of entities, tokens or budgets; every span it returns lies on character boundaries.

pub mod analyzer;
pub(crate) mod ballast;
pub mod bigrams;
pub mod lexical;
pub mod normalize;
pub mod offset_map;
pub mod offsets;
pub mod pieces;
pub mod segment;
pub mod shape;
