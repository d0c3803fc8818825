//! What was counted of names in documents: as bytes for a store, and as the sum of many documents.
//!
//! packed.rs (one document as bytes, read without trust)   sum.rs (many of them added up)
//!
//! What the counters mean, `armarius.names.counts` says; here they are tables with keys of one to three parts.
//! Must hold: bytes that are something else are an error and never counts; what was written is read as it was.

pub mod packed;
pub mod sum;

#[cfg(test)]
mod tests;

/// Parts of the longest key.
pub const PARTS: usize = 3;

/// The parts of a key, UTF-8 (with lone surrogates, where Python has such); those that its table has not are empty.
pub type Key<'b> = [&'b [u8]; PARTS];

/// Counts of one document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted<'b> {
    /// Places of characters, ascending, and how often each occurs, at least once.
    pub characters: Vec<(u32, u32)>,
    /// Rows of each table, by key, ascending, each at least 1.
    pub tables: Vec<Vec<(Key<'b>, u32)>>,
}
