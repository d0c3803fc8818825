//! The documents of a project in path order, immutable; a change makes another corpus that shares what has not changed.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::threads::spread;
use rayon::prelude::*;

use super::CorpusError;
use super::dictionary::{Dictionary, Slots};
use super::key::Key;
use super::part::Part;
use super::rows::Rows;
use super::scratch::Pool;
use super::segment::Postings;
use super::stretch::Stretches;
use super::table::{Table, Unit};
use super::wire;

/// One document.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its paragraphs and units.
    pub rows: Arc<Rows>,
    /// Number of its first paragraph in the corpus.
    pub first_paragraph: u32,
    /// Number of its first unit in the corpus.
    pub first_unit: u32,
}

/// The corpus.
#[derive(Debug)]
pub struct Corpus {
    /// By path.
    pub documents: Vec<Document>,
    /// What is the same for every question.
    pub table: Table,
    /// Arrays that queries write on.
    pub pool: Arc<Pool>,
    dictionary: Dictionary,
    stretches: OnceLock<Stretches>,
}

impl Corpus {
    /// From the parts of a project, in any order.
    ///
    /// Cost: about 25 ns for each (term, document): 20 ms for a novel of 900,000 characters.
    pub fn new(mut parts: Vec<Part>) -> Result<Self, CorpusError> {
        parts.sort_by(|a, b| a.rows.path.cmp(&b.rows.path));
        distinct(&parts)?;
        let mut documents: Vec<Document> = parts.iter().cloned().map(document).collect();
        let table = Table::of(&mut documents);
        let dictionary = Dictionary::new(&parts, |rows| first_unit(&documents, rows))?;
        Ok(Self {
            documents,
            table,
            pool: Arc::default(),
            dictionary,
            stretches: OnceLock::new(),
        })
    }

    /// From what `wire::to_bytes` gave.
    pub fn open<B: AsRef<[u8]> + Sync>(parts: &[B]) -> Result<Self, CorpusError> {
        let parts: Result<Vec<Part>, CorpusError> = spread(|| {
            parts
                .par_iter()
                .map(|bytes| wire::from_bytes(bytes.as_ref()))
                .collect()
        });
        Self::new(parts?)
    }

    /// From (path, number of paragraphs, bytes, where the part begins in them) of each document: the corpus of those that
    /// can be read, and what is wrong with the others, by path. A part of another document is as damaged as one that
    /// cannot be read.
    pub fn recover<P, B>(
        parts: &[(P, usize, B, usize)],
    ) -> Result<(Self, BTreeMap<String, String>), CorpusError>
    where
        P: AsRef<str> + Sync,
        B: AsRef<[u8]> + Sync,
    {
        let read_one = |(path, paragraphs, bytes, begin): &(P, usize, B, usize)| {
            let part = wire::from_bytes(bytes.as_ref().get(*begin..).unwrap_or_default())?;
            let (own, held) = (&part.rows.path, part.rows.paragraphs.len());
            if own == path.as_ref() && held == *paragraphs {
                return Ok(part);
            }
            let what = format!("of another document, {own} of {held} paragraphs");
            Err(CorpusError::Damaged(what))
        };
        let read: Vec<Result<Part, CorpusError>> =
            spread(|| parts.par_iter().map(read_one).collect());
        let (mut whole, mut damaged) = (Vec::with_capacity(parts.len()), BTreeMap::new());
        for ((path, ..), part) in parts.iter().zip(read) {
            match part {
                Ok(part) => whole.push(part),
                Err(error) => {
                    damaged.insert(path.as_ref().to_owned(), error.to_string());
                }
            }
        }
        Ok((Self::new(whole)?, damaged))
    }

    /// The corpus after a change: `changed` replace or join the documents of their paths, `removed` go.
    ///
    /// Cost: the terms of the last few documents that have changed, and a row per document; the postings are written anew
    /// in steps, each a millisecond or two for a novel, unless an eighth has changed at once.
    pub fn with(&self, mut changed: Vec<Part>, removed: &[String]) -> Result<Self, CorpusError> {
        changed.sort_by(|a, b| a.rows.path.cmp(&b.rows.path));
        distinct(&changed)?;
        let stays = |path: &str| {
            !removed.iter().any(|gone| gone == path)
                && changed
                    .binary_search_by(|part| part.rows.path.as_str().cmp(path))
                    .is_err()
        };
        let documents = self
            .documents
            .iter()
            .filter(|one| stays(&one.rows.path))
            .cloned();
        let mut documents: Vec<Document> = documents
            .chain(changed.iter().cloned().map(document))
            .collect();
        documents.sort_by(|a, b| a.rows.path.cmp(&b.rows.path));
        let table = Table::of(&mut documents);
        let dictionary = self
            .dictionary
            .with(&changed, |rows| first_unit(&documents, rows))?;
        Ok(Self {
            documents,
            table,
            pool: Arc::clone(&self.pool),
            dictionary,
            stretches: OnceLock::new(),
        })
    }

    #[cfg(test)]
    pub(super) fn folded(mut self) -> Result<Self, CorpusError> {
        let documents = &self.documents;
        self.dictionary.fold(&|rows| first_unit(documents, rows))?;
        Ok(self)
    }

    /// The position of the document at `path`.
    pub fn find(&self, path: &str) -> Option<usize> {
        position(&self.documents, path)
    }

    /// The number of a paragraph: position of its document, index in it.
    pub fn paragraph(&self, path: &str, index: u32) -> Option<u32> {
        let document = &self.documents[self.find(path)?];
        ((index as usize) < document.rows.paragraphs.len())
            .then(|| document.first_paragraph + index)
    }

    /// The unit that paragraph number `paragraph` stands in.
    pub fn unit_of(&self, paragraph: u32) -> usize {
        self.table
            .units
            .partition_point(|unit| unit.first <= paragraph)
            - 1
    }

    /// The key of an entity that occurs somewhere.
    pub fn entity(&self, id: &str) -> Option<Key> {
        let number = self.dictionary.entity(id)?;
        Some(Key::new(super::key::Family::Entity, number))
    }

    /// The stretches of plain search. Cost: one pass over the paragraphs, once for each corpus.
    pub fn stretches(&self) -> &Stretches {
        self.stretches
            .get_or_init(|| Stretches::of(&self.documents))
    }

    /// The postings of `key`, each with what tells the units of its slots.
    #[inline]
    pub fn postings(&self, key: Key) -> impl Iterator<Item = (Postings<'_>, Slots<'_>)> {
        self.dictionary.postings(key)
    }

    /// Bytes that it occupies, parts that the caller holds not counted.
    pub fn resident_bytes(&self) -> usize {
        let rows = |one: &Document| {
            one.rows.paragraphs.len() * (size_of::<super::rows::Paragraph>() + 8 + 13)
        };
        self.dictionary.resident_bytes()
            + self.documents.iter().map(rows).sum::<usize>()
            + self.table.units.len() * size_of::<Unit>()
    }
}

fn document(part: Part) -> Document {
    Document {
        rows: part.rows,
        first_paragraph: 0,
        first_unit: 0,
    }
}

fn position(documents: &[Document], path: &str) -> Option<usize> {
    documents
        .binary_search_by(|one| one.rows.path.as_str().cmp(path))
        .ok()
}

/// The first unit of these very rows; None when they are not of the corpus any more.
fn first_unit(documents: &[Document], rows: &Arc<Rows>) -> Option<u32> {
    let document = &documents[position(documents, &rows.path)?];
    Arc::ptr_eq(&document.rows, rows).then_some(document.first_unit)
}

fn distinct(parts: &[Part]) -> Result<(), CorpusError> {
    match parts
        .windows(2)
        .find(|pair| pair[0].rows.path == pair[1].rows.path)
    {
        Some(pair) => Err(CorpusError::Invalid(format!(
            "{}: given twice",
            pair[0].rows.path
        ))),
        None => Ok(()),
    }
}
