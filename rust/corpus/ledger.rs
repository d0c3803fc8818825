//! What chosen paragraphs cost together, kept while one after the other enters.
//!
//! Paragraphs of a document that follow each other are one run. A document that enters costs its heading, a unit its own;
//! between paragraphs of a run stands a join, between runs of a document a gap. All of it adds up exactly, in whatever
//! order paragraphs enter.

use super::CorpusError;
use super::corpus::Corpus;
use super::part::TokenCounts;

/// The costs and the choice so far.
pub struct Ledger<'c> {
    corpus: &'c Corpus,
    counts: Vec<Option<&'c TokenCounts>>,
    counter: &'c str,
    join: i64,
    gap: i64,
    /// Cost of a paragraph of which a part is shown already, by number.
    rest: &'c [(u32, u32)],
    chosen: Vec<bool>,
    of_document: Vec<u32>,
    of_unit: Vec<u32>,
    /// Tokens that are left.
    pub left: i64,
}

impl<'c> Ledger<'c> {
    /// Nothing chosen yet; `rest` is sorted.
    pub fn new(
        corpus: &'c Corpus,
        counter: &'c str,
        room: u32,
        (join, gap): (u32, u32),
        rest: &'c [(u32, u32)],
    ) -> Self {
        let paragraphs = corpus
            .documents
            .iter()
            .map(|one| one.rows.paragraphs.len())
            .sum();
        let counts = corpus.documents.iter().map(|document| {
            let at = document
                .tokens
                .binary_search_by(|one| one.counter.as_str().cmp(counter));
            at.ok().map(|at| &document.tokens[at])
        });
        Self {
            corpus,
            counts: counts.collect(),
            counter,
            join: i64::from(join),
            gap: i64::from(gap),
            rest,
            chosen: vec![false; paragraphs],
            of_document: vec![0; corpus.documents.len()],
            of_unit: vec![0; corpus.table.units.len()],
            left: i64::from(room),
        }
    }

    /// Whether paragraph `number` has entered.
    pub fn holds(&self, number: u32) -> bool {
        self.chosen[number as usize]
    }

    /// What paragraph `number`, which has not entered, would cost now.
    pub fn cost(&self, number: u32) -> Result<i64, CorpusError> {
        let unit_number = self.corpus.unit_of(number);
        let unit = &self.corpus.table.units[unit_number];
        let document = &self.corpus.documents[unit.document as usize];
        let Some(counts) = self.counts[unit.document as usize] else {
            let path = &document.rows.path;
            return Err(CorpusError::Invalid(format!(
                "{path}: no token counts of {:?}",
                self.counter
            )));
        };
        let index = number - document.first_paragraph;
        let own = match self.rest.binary_search_by_key(&number, |one| one.0) {
            Ok(at) => self.rest[at].1,
            Err(_) => counts.paragraphs[index as usize],
        };
        let last = document.rows.paragraphs.len() as u32 - 1;
        let before = index > 0 && self.holds(number - 1);
        let after = index < last && self.holds(number + 1);
        let place = match (before, after) {
            (true, true) => 2 * self.join - self.gap,
            (true, false) | (false, true) => self.join,
            (false, false) if self.of_document[unit.document as usize] > 0 => self.gap,
            (false, false) => i64::from(counts.heading),
        };
        let heading = if self.of_unit[unit_number] == 0 {
            counts.units[unit_number - document.first_unit as usize]
        } else {
            0
        };
        Ok(i64::from(own) + place + i64::from(heading))
    }

    /// Let paragraph `number` in if it costs at most `room`; whether it did.
    pub fn enter(&mut self, number: u32, room: i64) -> Result<bool, CorpusError> {
        let cost = self.cost(number)?;
        if cost > room {
            return Ok(false);
        }
        self.count(number, true);
        self.left -= cost;
        Ok(true)
    }

    /// Take the last that entered out again.
    pub fn leave(&mut self, number: u32) -> Result<(), CorpusError> {
        self.count(number, false);
        self.left += self.cost(number)?;
        Ok(())
    }

    fn count(&mut self, number: u32, enters: bool) {
        let unit = self.corpus.unit_of(number);
        let document = self.corpus.table.units[unit].document as usize;
        self.chosen[number as usize] = enters;
        for count in [&mut self.of_unit[unit], &mut self.of_document[document]] {
            *count = if enters { *count + 1 } else { *count - 1 };
        }
    }
}
