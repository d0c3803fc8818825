//! Known names in a text: which entity is mentioned, and where exactly.
//!
//! `matcher` is the whole; `search`, `prefilter` (with `beginnings`) and `fold_trigger` are how it looks; `boundary` and `particles` where a
//! name begins and ends; `readings` and `capitals` whether what was found is a name at all;
//! `full_stops` of titles; `scene` who matters around a cursor.
//!
//! A change of policy is a change of `boundary` (plus a row in tests/cases/matcher.json and its decision page).
//! Must hold: `text[start..end]` is the alias as written; mentions never overlap; results do not depend on threads.

mod beginnings;
pub mod boundary;
mod capitals;
pub mod fold_trigger;
mod full_stops;
pub mod matcher;
pub mod particles;
pub mod prefilter;
pub mod readings;
#[cfg(test)]
mod rows;
pub mod scene;
pub mod search;
