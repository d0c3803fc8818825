//! The files of a project: which there are (`walk`), and which lines of them hold a pattern (`grep`);
//! what is left out (`ignored`), how one of them is opened (`open`), whether a walk would find the same again (`seen`),
//! and whether the kernel reports a change (`events`).
//!
//! Must hold: links are never followed, ignore files are honoured, nothing outside the root is opened.

pub mod events;
pub mod grep;
mod ignored;
pub mod open;
pub mod seen;
pub mod walk;
