//! What the corpus hands to Python: frozen values that compare, hash and print.

use pyo3::prelude::*;

use super::super::value::value;

/// A chapter, section, outline line or note, and what it is worth.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct ScoredUnit {
    /// Its document.
    pub path: String,
    /// Its position there.
    pub unit: u32,
    /// Its position among the units of the corpus.
    pub number: u32,
    /// What tells it from the others of its document.
    pub label: String,
    /// The chapter that it is or is about.
    pub chapter: Option<u32>,
    /// What units are ranked by: the scores of its best three paragraphs together.
    pub rank: f32,
    /// BM25 of its words over the best.
    pub own: f32,
    /// BM25 of what the outline says of it over the best.
    pub told: f32,
    /// 1 for a chapter asked for by number.
    pub asked: f32,
    /// Its best paragraph, if it was looked into.
    pub best: Option<u32>,
    /// The score of that.
    pub best_score: f32,
}

/// How much of the question's words its best window holds.
#[pyclass(frozen, get_all, module = "armarius._core")]
pub struct CorpusCoverage {
    /// Rarities of all words, weighted.
    pub total: f32,
    /// Those of the words that occur nowhere.
    pub lost: f32,
    /// The most that one window holds.
    pub best: f32,
    /// Positions of the words that occur nowhere.
    pub missing: Vec<usize>,
}

value!(ScoredUnit {
    path: String,
    unit: u32,
    number: u32,
    label: String,
    chapter: Option<u32>,
    rank: f32,
    own: f32,
    told: f32,
    asked: f32,
    best: Option<u32>,
    best_score: f32,
});
