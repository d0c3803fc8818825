//! Counters: text in, number of tokens out.
//!
//! Rooms: [`vocab`] tokens and ranks, [`vocab_file`] read from what ships; [`merge`] byte pair merging; [`glyphs`] the shortcut for Han, kana
//! and Hangul; [`memo`] recent pieces; [`classes`] Unicode classes; [`pretokenize`] and [`deepseek`] the scanners; [`bpe`] these put
//! together; [`encodings`] what ships; [`models`] which model uses what; [`hf`] tokenizer files;
//! [`estimate`] where there is no tokenizer.
//!
//! An encoding is a row of `encodings.rs`, its vocabulary in `vocab/` (with its line of `NOTICE.md`), a grammar
//! where none of `pretokenize` fits, and the models that use it in `models.json`. Must hold: an exact counter
//! counts what the publisher's tokenizer counts, for every text; what is estimated says so and has an upper
//! bound; linear in the text; no panic, whatever the text or the vocabulary.

mod bpe;
mod classes;
mod deepseek;
mod encodings;
mod estimate;
mod glyphs;
mod hf;
mod memo;
mod merge;
mod models;
mod pretokenize;
#[cfg(any(test, fuzzing))]
#[allow(clippy::expect_used, clippy::unwrap_used)]
pub mod reference;
mod scanners;
mod vocab;
mod vocab_file;

use std::path::Path;

pub(crate) use bpe::Bpe;
use encodings::{ENCODINGS, Encoding};
use hf::FileTokenizer;
pub use hf::Unreadable;

/// What turns text into a number.
enum Kind {
    Encoding(&'static Encoding, &'static Bpe),
    File(Box<FileTokenizer>),
    Estimate,
}

/// Counts tokens. Immutable and shared freely between threads.
pub struct Counter {
    kind: Kind,
    name: String,
    exact: bool,
    note: String,
}

/// Why there is no such counter, or no count.
#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    /// The name is neither an encoding nor an alias.
    #[error("no encoding {name:?}; known are {}", known.join(", "))]
    UnknownEncoding {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A tokenizer file that cannot be used.
    #[error(transparent)]
    File(#[from] Unreadable),
    /// A tokenizer file that cannot encode this text.
    #[error("tokenizer {name} cannot encode the text: {why}")]
    Text {
        /// The counter.
        name: String,
        /// What the tokenizer said.
        why: String,
    },
    /// A vocabulary that does not parse.
    #[error("{0}")]
    Damaged(String),
}

/// Whether a model's family is in the data, with or without an encoding.
pub fn knows_model(model: &str) -> bool {
    models::find(model).is_some()
}

impl Counter {
    /// The counter of an embedded encoding, by name or alias.
    pub fn for_encoding(name: &str) -> Result<Self, TokensError> {
        let encoding = encodings::find(name).ok_or_else(|| TokensError::UnknownEncoding {
            name: name.to_owned(),
            known: ENCODINGS.iter().map(|e| e.name).collect(),
        })?;
        let bpe = encoding
            .bpe()
            .map_err(|e| TokensError::Damaged(e.to_string()))?;
        let note = format!("exact: the vocabulary of {} is embedded", encoding.name);
        Ok(Self {
            kind: Kind::Encoding(encoding, bpe),
            name: encoding.name.to_owned(),
            exact: true,
            note,
        })
    }

    /// The counter for a model. Where its tokenizer is not here, the counter says so and is not exact.
    pub fn for_model(model: &str) -> Result<Self, TokensError> {
        let found = models::find(model);
        let Some(rule) = found else {
            return Ok(Self::estimate(format!(
                "estimate: {model:?} is not a known model"
            )));
        };
        let Some(encoding) = &rule.encoding else {
            return Ok(Self::estimate(format!("estimate: {}", rule.note)));
        };
        let mut counter = Self::for_encoding(encoding)?;
        if !rule.exact {
            counter.exact = false;
            counter.name = format!("~{}", counter.name);
            counter.note = format!("approximate: {}", rule.note);
        }
        Ok(counter)
    }

    /// The counter of a Hugging Face `tokenizer.json`.
    pub fn from_file(path: &Path) -> Result<Self, TokensError> {
        let tokenizer = FileTokenizer::read(path)?;
        let name = path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned();
        let note = format!("exact: counted by {}", path.display());
        Ok(Self {
            kind: Kind::File(Box::new(tokenizer)),
            name,
            exact: true,
            note,
        })
    }

    /// The CJK-aware estimate; `note` says why it is used.
    pub fn estimate(note: String) -> Self {
        Self {
            kind: Kind::Estimate,
            name: "estimate".to_owned(),
            exact: false,
            note,
        }
    }

    /// The name results carry: an encoding, a file, `estimate`, or `~` before a related encoding.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The encoding behind it; `None` for files and the estimate.
    pub fn encoding(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Encoding(encoding, _) => Some(encoding.name),
            _ => None,
        }
    }

    /// Whether counts equal those of the model's own tokenizer.
    pub fn exact(&self) -> bool {
        self.exact
    }

    /// Why this counter, in a sentence.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// Whether `count(a + "\n\n" + b) == count(a + "\n\n") + count(b)` for every safe start `b`.
    pub fn additive(&self) -> bool {
        matches!(self.kind, Kind::Encoding(..))
    }

    /// Whether `text` may follow `\n\n` without changing how either side is counted.
    pub fn starts_safely(&self, text: &str) -> bool {
        match self.kind {
            Kind::Encoding(_, bpe) => bpe.starts_safely(text),
            _ => false,
        }
    }

    /// Number of tokens of `text`. O(len(text)).
    pub fn count(&self, text: &str) -> Result<usize, TokensError> {
        match &self.kind {
            Kind::Encoding(_, bpe) => Ok(bpe.count(text)),
            Kind::File(file) => file.count(text).map_err(|why| TokensError::Text {
                name: self.name.clone(),
                why,
            }),
            Kind::Estimate => Ok(estimate::count(text)),
        }
    }

    /// A number that the model's own count cannot exceed; equal to `count` when that is exact.
    pub fn upper_bound(&self, text: &str) -> Result<usize, TokensError> {
        if self.exact {
            self.count(text)
        } else {
            Ok(estimate::upper_bound(text))
        }
    }

    /// The encoding's tables, for truncation.
    pub(crate) fn bpe(&self) -> Option<&'static Bpe> {
        match self.kind {
            Kind::Encoding(_, bpe) => Some(bpe),
            _ => None,
        }
    }
}

/// Names of the embedded encodings.
pub fn encoding_names() -> Vec<&'static str> {
    ENCODINGS.iter().map(|e| e.name).collect()
}
