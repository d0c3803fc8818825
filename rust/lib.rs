//! Armarius core: entity matching, token counting, truncation and budget allocation over plain text.
//!
//! Table of contents. Everything here is pure Rust and knows nothing of Python; `py` is the only
//! module that does. Spans inside Rust are byte spans; `offsets` turns them into code points once,
//! at the edge.

pub mod alphabet;
pub mod boundary;
pub mod budget;
pub mod code;
pub mod doubt;
pub mod folded;
pub mod grams;
pub mod lexical;
pub mod matcher;
#[cfg(test)]
mod matcher_rows;
pub mod normalize;
pub mod offsets;
pub mod particles;
pub mod prefilter;
#[cfg(feature = "python")]
mod py;
pub mod rank;
pub mod reading;
mod ruler;
pub mod scan;
pub mod search;
pub mod segment;
pub mod terms;
pub mod tokens;
pub mod truncate;
#[cfg(test)]
mod truncate_properties;
pub mod walk;
