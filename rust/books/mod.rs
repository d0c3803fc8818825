//! Lorebooks: which of many keys stand in a text, and expressions that always end.
//!
//! keys.rs (plain keys, all at once)   patterns.rs (one regular expression, in linear time or within a number of steps)

pub mod keys;
pub mod patterns;
