//! Any Hugging Face `tokenizer.json`, through the `tokenizers` crate.

use std::path::Path;
use std::sync::Arc;

use tokenizers::Tokenizer;

use crate::interrupt::aside;

/// A tokenizer read from a file.
pub(crate) struct FileTokenizer(Arc<Tokenizer>);

/// Texts above this many bytes are encoded aside: a fraction of a millisecond to copy, tens of them to encode.
const ASIDE: usize = 1 << 18;

/// The file is missing, or is no tokenizer.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the tokenizer {path}: {why}")]
pub struct Unreadable {
    path: String,
    why: String,
}

impl FileTokenizer {
    /// Read `path`. Control tokens written out in a text will count as ordinary text.
    pub(crate) fn read(path: &Path) -> Result<Self, Unreadable> {
        let unreadable = |why: String| Unreadable {
            path: path.display().to_string(),
            why,
        };
        let json = std::fs::read(path).map_err(|e| unreadable(e.to_string()))?;
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(|e| unreadable(e.to_string()))?;
        tokenizer.set_encode_special_tokens(true);
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|e| unreadable(e.to_string()))?;
        Ok(Self(Arc::new(tokenizer)))
    }

    /// Number of tokens, without those that a template adds.
    pub(crate) fn count(&self, text: &str) -> Result<usize, String> {
        if text.is_empty() {
            return Ok(0);
        }
        let count = |tokenizer: &Tokenizer, text: &str| {
            let encoding = tokenizer.encode_fast(text, false);
            encoding.map(|found| found.len()).map_err(|e| e.to_string())
        };
        if text.len() < ASIDE {
            return count(&self.0, text);
        }
        let (tokenizer, text) = (Arc::clone(&self.0), text.to_owned());
        aside(move || count(&tokenizer, &text))
    }
}
