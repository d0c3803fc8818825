//! One encoding at work: scan a piece, look it up, merge what is no token.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::classes::Classes;
use super::glyphs::Glyphs;
use super::pretokenize::{Grammar, Scan};
use super::vocab::{Damaged, NONE, Vocab, read_file};

/// A loaded encoding. Immutable; shared by every counter that names it.
pub(crate) struct Bpe {
    vocab: Vocab,
    glyphs: Glyphs,
    classes: &'static Classes,
    grammar: Grammar,
    scan: Scan,
    composes: bool,
}

impl Bpe {
    /// Read the vocabulary `files`; `composes` says that the tokenizer applies NFC before it splits.
    pub(crate) fn load(files: &[&[u8]], grammar: Grammar, composes: bool) -> Result<Self, Damaged> {
        let mut tokens = Vec::new();
        for file in files {
            read_file(file, &mut tokens)?;
        }
        let vocab = Vocab::new(&tokens);
        Ok(Self {
            glyphs: Glyphs::new(&vocab, &tokens),
            vocab,
            classes: Classes::get(),
            grammar,
            scan: grammar.scan(),
            composes,
        })
    }

    /// Number of tokens of `text`; control tokens written out in it count as ordinary text.
    pub(crate) fn count(&self, text: &str) -> usize {
        if self.rewrites(text) {
            let composed: String = text.nfc().collect();
            return self.count_from(composed.as_bytes(), 0);
        }
        self.count_from(text.as_bytes(), 0)
    }

    /// Whether normalization changes `text`, so that its pieces are not slices of it.
    pub(crate) fn rewrites(&self, text: &str) -> bool {
        self.composes && !is_composed(text)
    }

    /// Number of tokens of `text[from..]`, whose normalization is settled.
    pub(crate) fn count_from(&self, text: &[u8], from: usize) -> usize {
        let (mut at, mut total) = (from, 0);
        while at < text.len() {
            let end = self.piece_end(text, at);
            total += self.count_piece(text, at, end);
            at = end;
        }
        total
    }

    /// End of the piece that starts at `at`, a boundary.
    #[inline]
    pub(crate) fn piece_end(&self, text: &[u8], at: usize) -> usize {
        (self.scan)(self.classes, text, at)
    }

    /// Number of tokens of the piece `text[from..to]`.
    #[inline]
    pub(crate) fn count_piece(&self, text: &[u8], from: usize, to: usize) -> usize {
        if to - from == 1 || self.vocab.rank(text, from, to) != NONE {
            return 1;
        }
        self.glyphs.count(&self.vocab, text, from, to)
    }

    /// Number of tokens of `text[from..to]`, a part of a piece on whose edges no token can span.
    pub(crate) fn count_part(&self, text: &[u8], from: usize, to: usize) -> usize {
        self.glyphs.count(&self.vocab, text, from, to)
    }

    /// Report the places inside the piece that no token can span, with the tokens before each.
    pub(crate) fn cuts(
        &self,
        text: &[u8],
        from: usize,
        to: usize,
        report: impl FnMut(usize, usize),
    ) {
        self.glyphs.cuts(&self.vocab, text, from, to, report);
    }

    /// Whether the boundary before `text` stays where it is when `…\n\n` is put in front.
    pub(crate) fn starts_safely(&self, text: &str) -> bool {
        let slash = self.grammar.takes_slash();
        text.chars()
            .next()
            .is_none_or(|c| !(c.is_whitespace() || slash && c == '/'))
    }
}

/// Whether `text` is in NFC. Han, ASCII and the common punctuation are known without a table.
fn is_composed(text: &str) -> bool {
    if text.is_ascii() {
        return true;
    }
    let doubtful = |c: char| {
        !matches!(u32::from(c), 0..0x300 | 0x2010..=0x2027 | 0x3000..=0x3029 | 0x3041..=0x3094 | 0x30A1..=0x30FA
            | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3 | 0xFF01..=0xFF9D)
    };
    // A character that composes with the one before is itself doubtful, so whole stretches may be skipped.
    match text.char_indices().find(|(_, c)| doubtful(*c)) {
        None => true,
        Some((at, _)) => {
            let from = text[..at].char_indices().next_back().map_or(0, |(i, _)| i);
            let rest = &text[from..];
            match is_nfc_quick(rest.chars()) {
                IsNormalized::Yes => true,
                IsNormalized::No => false,
                IsNormalized::Maybe => unicode_normalization::is_nfc(rest),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn composed_text_is_recognised(text in "[a-zé\u{300}-\u{303}가-각\u{1100}-\u{1112}\u{1161}\u{11a8}か\u{3099}が林。 Å\u{212b}]{0,12}") {
            prop_assert_eq!(is_composed(&text), unicode_normalization::is_nfc(&text));
        }
    }
}
