//! The postings of a question's terms, found once and used at every level.

use super::corpus::Corpus;
use super::key::Key;
use super::postings::Block;
use super::query::Wanted;

/// Where the wordings of one group stand.
#[derive(Debug, Default)]
pub struct Gathered<'c> {
    /// Per wording: factor on the frequency, and its postings.
    pub wordings: Vec<(f32, Postings<'c>)>,
    /// Paragraphs that hold them, one counted once for each wording.
    pub paragraphs: u64,
}

/// The postings of one wording.
#[derive(Debug)]
pub enum Postings<'c> {
    /// Of a single term: (unit, block).
    Blocks(Vec<(u32, Block<'c>)>),
    /// Of several that must stand in one paragraph: (unit, paragraph in the unit, count).
    Rows(Vec<(u32, u32, u32)>),
}

impl<'c> Gathered<'c> {
    /// Look up every wording.
    pub fn of<'q>(corpus: &'c Corpus, any: impl IntoIterator<Item = (&'q Wanted, f32)>) -> Self {
        let mut gathered = Self::default();
        for (wanted, factor) in any {
            let entity;
            let keys = match wanted {
                Wanted::Text(keys) => keys.as_slice(),
                Wanted::Entity(id) => {
                    entity = corpus.entity(id);
                    entity.as_slice()
                }
            };
            if factor <= 0.0 {
                continue;
            }
            let postings = match *keys {
                [] => continue,
                [key] => Postings::Blocks(blocks(corpus, key)),
                _ => Postings::Rows(together(corpus, keys)),
            };
            gathered.paragraphs += postings.paragraphs();
            gathered.wordings.push((factor, postings));
        }
        gathered
    }

    /// Call `found` with (unit, frequency) for every wording in every unit.
    pub fn each_unit(&self, mut found: impl FnMut(u32, f32)) {
        for (factor, postings) in &self.wordings {
            match postings {
                Postings::Blocks(blocks) => {
                    for &(unit, block) in blocks {
                        found(unit, factor * block.frequency() as f32);
                    }
                }
                Postings::Rows(rows) => {
                    for same in rows.chunk_by(|a, b| a.0 == b.0) {
                        let sum: u32 = same.iter().map(|row| row.2).sum();
                        found(same[0].0, factor * sum as f32);
                    }
                }
            }
        }
    }

    /// Call `found` with (paragraph, frequency) for every wording in the units for which `first` gives the number of
    /// the first paragraph; how many paragraphs there were, one counted once for each wording.
    pub fn each_paragraph(
        &self,
        first: impl Fn(u32) -> Option<u32>,
        mut found: impl FnMut(u32, f32),
    ) -> u64 {
        let mut paragraphs = 0;
        for (factor, postings) in &self.wordings {
            match postings {
                Postings::Blocks(blocks) => {
                    for &(unit, block) in blocks {
                        if let Some(first) = first(unit) {
                            paragraphs += u64::from(block.paragraphs);
                            block.each(|at, count| found(first + at, factor * count as f32));
                        }
                    }
                }
                Postings::Rows(rows) => {
                    for &(unit, at, count) in rows {
                        if let Some(first) = first(unit) {
                            paragraphs += 1;
                            found(first + at, factor * count as f32);
                        }
                    }
                }
            }
        }
        paragraphs
    }
}

impl Postings<'_> {
    fn paragraphs(&self) -> u64 {
        match self {
            Self::Blocks(blocks) => blocks.iter().map(|one| u64::from(one.1.paragraphs)).sum(),
            Self::Rows(rows) => rows.len() as u64,
        }
    }
}

fn blocks(corpus: &Corpus, key: Key) -> Vec<(u32, Block<'_>)> {
    let mut blocks = Vec::new();
    corpus.each_block(key, |unit, block| blocks.push((unit, block)));
    blocks
}

/// Paragraphs that hold all of `keys`, as often as the least of them; by (unit, paragraph).
fn together(corpus: &Corpus, keys: &[Key]) -> Vec<(u32, u32, u32)> {
    let mut keys = keys.to_vec();
    keys.sort_by_key(|&key| (corpus.size_of(key), key));
    let mut rows: Vec<(u32, u32, u32)> = Vec::new();
    for (position, &key) in keys.iter().enumerate() {
        let mut own = blocks(corpus, key);
        own.sort_unstable_by_key(|one| one.0);
        if position == 0 {
            for (unit, block) in own {
                block.each(|at, count| rows.push((unit, at, count)));
            }
            continue;
        }
        let mut kept = Vec::with_capacity(rows.len());
        let mut left = rows.as_slice();
        for (unit, block) in own {
            let from = left.partition_point(|row| row.0 < unit);
            left = &left[from..];
            let until = left.partition_point(|row| row.0 == unit);
            let (mut here, rest) = left.split_at(until);
            left = rest;
            if here.is_empty() {
                continue;
            }
            block.each(|at, count| {
                while here.first().is_some_and(|row| row.1 < at) {
                    here = &here[1..];
                }
                if let Some(row) = here.first().filter(|row| row.1 == at) {
                    kept.push((unit, at, row.2.min(count)));
                }
            });
        }
        rows = kept;
        if rows.is_empty() {
            break;
        }
    }
    rows
}
