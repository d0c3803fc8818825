//! The Python boundary: exports and conversions only, no logic; the only files that `use pyo3`.
//!
//! A rule found here belongs into the room it is about, where it is tested without Python. Must hold: `_core.pyi`
//! says what is here (stubtest); the GIL is released for work over a millisecond; no panic crosses.

use pyo3::prelude::*;

mod bigrams;
mod books;
mod budget;
mod code;
mod corpus;
mod grep;
mod lexical;
mod matcher;
mod mention;
mod read;
mod signals;
mod terms;
mod tokens;
mod truncate;
mod value;
mod walk;

/// The native half of the `armarius` Python package.
#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::bigrams::{find_terms, index_tokens, term_phrase, text_grams};
    #[pymodule_export]
    use super::books::{KeyPattern, KeySet};
    #[pymodule_export]
    use super::budget::{Allocation, BudgetItems, BudgetLayer, allocate};
    #[pymodule_export]
    use super::code::{
        CodeGraph, Definition, Occurrence, Occurrences, SymbolEdge, SymbolNode, SymbolWalk,
        brace_outline, called_names, is_symbol, python_outline,
    };
    #[pymodule_export]
    use super::corpus::{
        Corpus, CorpusCoverage, CorpusGroup, CorpusPart, CorpusQuery, CorpusScores, CorpusWeights,
        ScoredUnit,
    };
    #[pymodule_export]
    use super::grep::{ScanHit, scan};
    #[pymodule_export]
    use super::lexical::lexical_embed;
    #[pymodule_export]
    use super::matcher::{EntityMatcher, Speech};
    #[pymodule_export]
    use super::mention::{Match, Mention, Rejection};
    #[pymodule_export]
    use super::read::read_files;
    #[pymodule_export]
    use super::terms::{pieces, shape, stem, terms};
    #[pymodule_export]
    use super::tokens::TokenCounter;
    #[pymodule_export]
    use super::truncate::{Cut, grapheme_floor, truncate};
    #[pymodule_export]
    use super::walk::{EventQueue, Seen, WalkedFile, is_local, walk};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("optimised", !cfg!(debug_assertions))
    }
}
