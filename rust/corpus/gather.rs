//! The postings of a question's terms, found once and used at every level.

use super::corpus::Corpus;
use super::key::Key;
use super::postings::Block;
use super::query::Wanted;
use super::scratch::Counts;

/// A frequency of one. Frequencies are whole numbers of 1/1024, so that sums do not depend on their order; the factors
/// of wordings are rounded to that.
pub const ONE: u32 = 1024;

/// A factor as a frequency, at most eight.
#[expect(
    clippy::cast_sign_loss,
    reason = "weights are checked: none is below 0"
)]
pub fn fixed(factor: f32) -> u32 {
    (factor.min(8.0) * ONE as f32).round() as u32
}

/// Where the wordings of all groups stand.
#[derive(Debug)]
pub struct Gathered<'c, 's> {
    wordings: Vec<Wording<'c>>,
    groups: Vec<Group>,
    blocks: &'s mut Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Default)]
struct Group {
    wordings: std::ops::Range<usize>,
    paragraphs: u64,
}

#[derive(Debug)]
struct Wording<'c> {
    factor: u32,
    postings: Postings<'c>,
}

#[derive(Debug)]
enum Postings<'c> {
    /// Of a single term in one layer: its bytes, and which of `blocks` begin there.
    Blocks(&'c [u8], std::ops::Range<usize>),
    /// Of several terms that must stand in one paragraph: (unit, paragraph in the unit, count).
    Rows(Vec<(u32, u32, u32)>),
}

impl<'c, 's> Gathered<'c, 's> {
    /// Nothing yet; `blocks` is written on.
    pub fn new(blocks: &'s mut Vec<(u32, u32)>) -> Self {
        blocks.clear();
        Self {
            wordings: Vec::new(),
            groups: Vec::new(),
            blocks,
        }
    }

    /// Look up the wordings of one more group, and add their frequencies to `units`.
    pub fn add<'q>(
        &mut self,
        corpus: &'c Corpus,
        any: impl IntoIterator<Item = (&'q Wanted, f32)>,
        units: &mut Counts,
    ) {
        let from = self.wordings.len();
        let mut paragraphs = 0;
        for (wanted, factor) in any {
            let entity;
            let keys = match wanted {
                Wanted::Text(keys) => keys.as_slice(),
                Wanted::Entity(id) => {
                    entity = corpus.entity(id);
                    entity.as_slice()
                }
            };
            let factor = fixed(factor);
            if factor == 0 {
                continue;
            }
            match *keys {
                [] => {}
                [key] => paragraphs += self.single(corpus, key, factor, units),
                _ => {
                    let rows = together(corpus, keys);
                    paragraphs += rows.len() as u64;
                    for same in rows.chunk_by(|a, b| a.0 == b.0) {
                        let sum: u32 = same.iter().map(|row| row.2).sum();
                        units.add(same[0].0, sum.min(1 << 16) * factor);
                    }
                    let postings = Postings::Rows(rows);
                    self.wordings.push(Wording { factor, postings });
                }
            }
        }
        self.groups.push(Group {
            wordings: from..self.wordings.len(),
            paragraphs,
        });
    }

    fn single(&mut self, corpus: &'c Corpus, key: Key, factor: u32, units: &mut Counts) -> u64 {
        let mut paragraphs = 0;
        for (mut postings, slots) in corpus.postings(key) {
            let from = self.blocks.len();
            while let Some((slot, at, block)) = postings.next_at() {
                if let Some(unit) = slots.unit(slot) {
                    self.blocks.push((unit, at));
                    paragraphs += u64::from(block.paragraphs);
                    units.add(unit, block.frequency().min(1 << 16) * factor);
                }
            }
            if self.blocks.len() > from {
                let postings = Postings::Blocks(postings.bytes(), from..self.blocks.len());
                self.wordings.push(Wording { factor, postings });
            }
        }
        paragraphs
    }

    /// Paragraphs that hold a group, one counted once for each wording.
    pub fn paragraphs(&self, group: usize) -> u64 {
        self.groups[group].paragraphs
    }

    /// Call `found` with (paragraph, frequency) for every wording of a group whose factor is at least `least`, in the
    /// units for which `first` gives the number of the first paragraph; how many paragraphs there were, one counted once
    /// for each wording.
    #[inline]
    pub fn each_paragraph(
        &self,
        group: usize,
        least: u32,
        first: impl Fn(u32) -> Option<u32>,
        mut found: impl FnMut(u32, u32),
    ) -> u64 {
        let mut paragraphs = 0;
        let wordings = &self.wordings[self.groups[group].wordings.clone()];
        for Wording { factor, postings } in wordings.iter().filter(|one| one.factor >= least) {
            match postings {
                Postings::Blocks(bytes, range) => {
                    for &(unit, at) in &self.blocks[range.clone()] {
                        if let Some(first) = first(unit) {
                            let block = Block::read(bytes, &mut (at as usize));
                            paragraphs += u64::from(block.paragraphs);
                            block.each(|paragraph, count| found(first + paragraph, factor * count));
                        }
                    }
                }
                Postings::Rows(rows) => {
                    for &(unit, paragraph, count) in rows {
                        if let Some(first) = first(unit) {
                            paragraphs += 1;
                            found(first + paragraph, factor * count);
                        }
                    }
                }
            }
        }
        paragraphs
    }
}

/// In how many paragraphs all of `keys` stand.
pub fn frequency(corpus: &Corpus, keys: &[Key]) -> u64 {
    match *keys {
        [] => 0,
        [key] => blocks(corpus, key)
            .iter()
            .map(|one| u64::from(one.1.paragraphs))
            .sum(),
        _ => together(corpus, keys).len() as u64,
    }
}

fn blocks(corpus: &Corpus, key: Key) -> Vec<(u32, Block<'_>)> {
    let mut blocks = Vec::new();
    for (postings, slots) in corpus.postings(key) {
        blocks.extend(postings.filter_map(|(slot, block)| Some((slots.unit(slot)?, block))));
    }
    blocks.sort_unstable_by_key(|one| one.0);
    blocks
}

/// Paragraphs that hold all of `keys`, as often as the least of them; by (unit, paragraph).
fn together(corpus: &Corpus, keys: &[Key]) -> Vec<(u32, u32, u32)> {
    let mut keys = keys.to_vec();
    keys.sort_by_key(|&key| {
        let size: usize = corpus.postings(key).map(|one| one.0.bytes().len()).sum();
        (size, key)
    });
    let mut rows: Vec<(u32, u32, u32)> = Vec::new();
    for (position, &key) in keys.iter().enumerate() {
        let own = blocks(corpus, key);
        if position == 0 {
            for (unit, block) in own {
                block.each(|at, count| rows.push((unit, at, count)));
            }
            continue;
        }
        let mut kept = Vec::with_capacity(rows.len());
        let mut own = own.as_slice();
        for here in rows.chunk_by(|a, b| a.0 == b.0) {
            own = &own[own.partition_point(|one| one.0 < here[0].0)..];
            let Some((_, block)) = own.first().filter(|one| one.0 == here[0].0) else {
                continue;
            };
            let mut here = here;
            block.each(|at, count| {
                while here.first().is_some_and(|row| row.1 < at) {
                    here = &here[1..];
                }
                if let Some(row) = here.first().filter(|row| row.1 == at) {
                    kept.push((row.0, at, row.2.min(count)));
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
