//! Any Hugging Face `tokenizer.json`, through the `tokenizers` crate.

use std::path::Path;

use tokenizers::Tokenizer;

/// A tokenizer read from a file.
pub(crate) struct FileTokenizer(Tokenizer);

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
        Ok(Self(tokenizer))
    }

    /// Number of tokens, without those that a template adds.
    pub(crate) fn count(&self, text: &str) -> Result<usize, String> {
        if text.is_empty() {
            return Ok(0);
        }
        let encoding = self.0.encode_fast(text, false).map_err(|e| e.to_string())?;
        Ok(encoding.len())
    }
}
