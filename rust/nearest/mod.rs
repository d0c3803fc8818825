//! The nearest of many vectors by cosine: signs are compared first, then whole numbers.
//!
//! - `rows`: a unit vector as 16-bit whole numbers; the product of two is exact, the same on every machine.
//! - `codes`: the signs of a vector, turned and centred: 64 to 512 bits.
//! - `scan`: how many bits differ from a question's, for all codes; which rows are near enough to be compared.
//! - `index`: keys, rows and codes together; put, remove, search, bytes.
//!
//! Must hold: what is found depends on the vectors and on where the codes were centred last, never on the order of slots or on the
//! processor; bytes of another origin are refused, not believed.

pub mod codes;
pub mod index;
pub mod rows;
pub mod scan;

pub use index::{Found, SignIndex};
