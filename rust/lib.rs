//! Armarius core: entity matching, token counting, truncation and budget allocation over plain text.
//!
//! Table of contents, from the ground up. Everything here is pure Rust and knows nothing of Python; `py` is the
//! only module that does. Spans inside Rust are byte spans; `text::offsets` turns them into code points once, at the
//! edge.

pub mod interrupt;
pub mod text;
pub mod threads;

pub mod files;
pub mod tokens;

pub mod books;
pub mod budget;
pub mod code;
pub mod corpus;
pub mod matching;
pub mod truncate;

#[cfg(feature = "python")]
mod py;

#[cfg(any(test, fuzzing))]
pub mod fuzzed;
