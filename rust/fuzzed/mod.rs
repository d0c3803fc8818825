//! What must hold of the core whatever the bytes are: one function a target, which panics where it does not.
//!
//! Two call them: the programs of `tests/fuzz/rust`, which coverage guides (`make fuzz-rust`), and the test below, with every
//! input that ever failed and a few hundred mutated ones (`cargo test`). A target reads its bytes as `Input` says, holds
//! answers against a reference made of other parts, and asks twice: the same bytes give the same answer.

#![allow(clippy::missing_panics_doc)]

mod books;
mod budget;
mod code;
mod corpus;
mod counting;
mod folding;
mod input;
mod matching;
#[cfg(test)]
mod replay;
mod terms;

pub use books::keys;
pub use budget::allocation;
pub use code::{outlines, scip};
pub use corpus::parts;
pub use counting::{counters, truncation};
pub use folding::folding;
pub use matching::matcher;
pub use terms::{grams, pieces};

/// What takes a target's bytes.
pub type Target = fn(&[u8]);

/// Every target with its name, which is that of its program.
pub const TARGETS: [(&str, Target); 11] = [
    ("allocation", allocation),
    ("counters", counters),
    ("folding", folding),
    ("grams", grams),
    ("keys", keys),
    ("matcher", matcher),
    ("outlines", outlines),
    ("parts", parts),
    ("pieces", pieces),
    ("scip", scip),
    ("truncation", truncation),
];
