//! One document as the corpus keeps it: its rows, its terms, who stands in them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::CorpusError;
use super::collect::{Collector, defined};
use super::key::FAMILIES;
use super::rows::{Kind, Paragraph, Role, Rows, Unit, extent};
use super::terms::{FamilyTerms, Row};

/// A paragraph to be taken in: `text[start..end]` in code points, and what it is.
pub type ParagraphSpan = (u32, u32, Role);

/// Under which name a paragraph of source code stands, and what it defines, "" for nothing: (paragraph, name, defined).
pub type NameRow<'t> = (u32, &'t str, &'t str);

/// An entity of a document: (paragraph, id, how often).
pub type EntityRow<'t> = (u32, &'t str, u32);

/// The words of a document, and who stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Characters, pairs, words.
    pub text: [FamilyTerms; FAMILIES - 1],
    /// Entities by their place in `ids`.
    pub entities: FamilyTerms,
    /// Sorted.
    pub ids: Vec<String>,
}

/// One document, immutable and cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Paragraphs and units. A change of words or entities makes new rows, so that their address is the version.
    pub rows: Arc<Rows>,
    /// What is searched.
    pub terms: Arc<Terms>,
}

impl Part {
    /// Read a document.
    ///
    /// Cost: one pass over the text and a sort of its terms; about 40 MB of text a second.
    pub fn new(
        path: &str,
        kind: Kind,
        text: &str,
        spans: &[ParagraphSpan],
        units: Vec<Unit>,
    ) -> Result<Self, CorpusError> {
        Self::with_names(path, kind, text, spans, units, &[])
    }

    /// Read a document whose paragraphs stand under names that are no part of their text: source code.
    pub fn with_names(
        path: &str,
        kind: Kind,
        text: &str,
        spans: &[ParagraphSpan],
        units: Vec<Unit>,
        names: &[NameRow<'_>],
    ) -> Result<Self, CorpusError> {
        let mut paragraphs = Vec::with_capacity(spans.len());
        let mut collector = Collector::default();
        let mut cursor = Slices::new(text);
        for (index, &(start, end, role)) in spans.iter().enumerate() {
            let Some(piece) = cursor.slice(start, end) else {
                let what = format!(
                    "{path}: paragraph {index} ({start}..{end}) is not a span of the text that follows the one before"
                );
                return Err(CorpusError::Invalid(what));
            };
            paragraphs.push(Paragraph {
                start,
                end,
                role,
                length: collector.add(index as u32, piece),
                extent: extent(piece),
            });
            if kind == Kind::Code {
                collector.add_code(index as u32, piece);
            }
        }
        for &(paragraph, name, own) in names {
            if paragraph as usize >= paragraphs.len() {
                let what = format!(
                    "{path}: name {name:?} of paragraph {paragraph}, there are {}",
                    paragraphs.len()
                );
                return Err(CorpusError::Invalid(what));
            }
            collector.add_name(paragraph, name);
            if !own.is_empty() {
                collector.add_term(paragraph, &defined(own));
            }
        }
        let rows = Rows::new(path.to_owned(), kind, paragraphs, units)?;
        let text = collector.finish(&rows.spans());
        Ok(Self {
            rows: Arc::new(rows),
            terms: Arc::new(Terms {
                text,
                entities: FamilyTerms::default(),
                ids: Vec::new(),
            }),
        })
    }

    /// The same document with these entities in the place of those it had.
    pub fn with_entities(&self, entities: &[EntityRow<'_>]) -> Result<Self, CorpusError> {
        let mut ids: Vec<&str> = entities.iter().map(|row| row.1).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut counts: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for &(paragraph, id, count) in entities {
            if paragraph as usize >= self.rows.paragraphs.len() || count == 0 {
                let path = &self.rows.path;
                let what = format!("{path}: entity {id:?} {count} times in paragraph {paragraph}");
                return Err(CorpusError::Invalid(what));
            }
            let local = ids.partition_point(|other| *other < id) as u32;
            let held = counts.entry((local, paragraph)).or_default();
            *held = held.saturating_add(count);
        }
        let mut rows: Vec<Row> = counts.into_iter().map(|((e, p), n)| (e, p, n)).collect();
        rows.sort_unstable();
        Ok(Self {
            rows: Arc::new(Rows::clone(&self.rows)),
            terms: Arc::new(Terms {
                text: self.terms.text.clone(),
                entities: FamilyTerms::from_rows(&rows, &self.rows.spans()),
                ids: ids.into_iter().map(str::to_owned).collect(),
            }),
        })
    }
}

/// Code-point spans of a text, ascending, by one walk over it.
struct Slices<'t> {
    rest: &'t str,
    at: u32,
}

impl<'t> Slices<'t> {
    fn new(text: &'t str) -> Self {
        Self { rest: text, at: 0 }
    }

    fn slice(&mut self, start: u32, end: u32) -> Option<&'t str> {
        let skipped = start.checked_sub(self.at)?;
        let length = end.checked_sub(start)?;
        self.rest = &self.rest[byte_of(self.rest, skipped)?..];
        let (piece, rest) = self.rest.split_at(byte_of(self.rest, length)?);
        (self.rest, self.at) = (rest, end);
        Some(piece)
    }
}

/// Where code point `count` of `text` begins, its end included.
fn byte_of(text: &str, count: u32) -> Option<usize> {
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().nth(count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(label: &str, first: u32) -> Unit {
        Unit {
            label: label.to_owned(),
            chapter: None,
            first,
        }
    }

    #[test]
    fn spans_are_code_points_and_must_follow_each_other() {
        let text = "林黛玉\n\nlamp";
        let spans = [(0, 3, Role::Body), (5, 9, Role::Body)];
        let part = Part::new("a.md", Kind::Note, text, &spans, vec![unit("", 0)]).expect("a part");
        let lengths: Vec<u32> = part.rows.paragraphs.iter().map(|p| p.length).collect();
        assert_eq!(lengths, [2, 1]);
        for bad in [
            [(0, 3, Role::Body), (2, 4, Role::Body)],
            [(0, 3, Role::Body), (5, 10, Role::Body)],
        ] {
            let error = Part::new("a.md", Kind::Note, text, &bad, vec![unit("", 0)]);
            assert!(error.is_err_and(|e| e.to_string().contains("a.md: paragraph 1")));
        }
    }

    #[test]
    fn units_must_cover_the_paragraphs_and_rows_must_fit_them() {
        let spans = [(0, 1, Role::Body), (1, 2, Role::Body)];
        let make = |units| Part::new("a.md", Kind::Setting, "ab", &spans, units);
        for units in [vec![], vec![unit("x", 1)], vec![unit("x", 0), unit("y", 2)]] {
            assert!(make(units).is_err());
        }
        let part = make(vec![unit("x", 0), unit("y", 1)]).expect("two units");
        assert!(part.with_entities(&[(2, "e", 1)]).is_err());
    }
}
