//! Plain search: BM25 over stretches of a document, without kinds, names, windows or units.
//!
//! A stretch is a run of neighbouring paragraphs of one document with at least `STRETCH` code points in all; the last one
//! of a document may be shorter. Every paragraph stands in exactly one stretch.

use std::cmp::Reverse;

use super::bm25::{Bm25, rarity};
use super::corpus::{Corpus, Document};
use super::gather::Gathered;
use super::key::keys_of;
use super::query::{Filter, Wanted};
use super::table::Total;

/// Code points of a stretch: as much as a chunk of a common retriever.
pub const STRETCH: u32 = 400;

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// The stretches of a corpus, by number.
#[derive(Debug, Default)]
pub struct Stretches {
    /// Number of the first paragraph of each.
    first: Vec<u32>,
    /// Length in terms of each.
    lengths: Vec<f32>,
    total: Total,
}

/// A stretch and what it is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredStretch {
    /// Position of its document.
    pub document: usize,
    /// Its first paragraph in the document.
    pub first: u32,
    /// One past its last.
    pub end: u32,
    /// BM25 of the text that was searched for.
    pub score: f32,
    /// How much of the rarity of the words of that text it holds: 0 to 1.
    pub share: f32,
}

impl Stretches {
    /// Of documents in their order. Cost: one pass over the paragraphs.
    pub fn of(documents: &[Document]) -> Self {
        let mut stretches = Self::default();
        for document in documents {
            let mut extent = STRETCH;
            for (number, paragraph) in (document.first_paragraph..).zip(&document.rows.paragraphs) {
                if extent >= STRETCH {
                    extent = 0;
                    stretches.first.push(number);
                    stretches.lengths.push(0.0);
                }
                extent = extent.saturating_add(paragraph.end - paragraph.start);
                stretches.total.length += u64::from(paragraph.length);
                if let Some(length) = stretches.lengths.last_mut() {
                    *length += paragraph.length as f32;
                }
            }
        }
        stretches.total.count = stretches.first.len() as u64;
        stretches
    }

    fn holding(&self, paragraph: u32) -> u32 {
        self.first.partition_point(|&first| first <= paragraph) as u32 - 1
    }
}

/// The best `limit` stretches for the words of `text`, by (-score, path, paragraph); paragraphs outside of `filter` do not
/// count.
///
/// Cost: the postings of the words, and a sort of the stretches that hold one.
pub fn stretches(corpus: &Corpus, text: &str, filter: &Filter, limit: usize) -> Vec<ScoredStretch> {
    let all = corpus.stretches();
    let units = &corpus.table.units;
    corpus.pool.with(|scratch| {
        let mut blocks = std::mem::take(&mut scratch.blocks);
        let mut gathered = Gathered::new(&mut blocks);
        scratch.units.reserve(units.len());
        scratch.paragraphs.reserve(all.first.len());
        for sums in &mut scratch.sums {
            sums.resize(sums.len().max(all.first.len()), 0.0);
        }
        let mut whole = f32::MIN_POSITIVE;
        let mut found: Vec<u32> = Vec::new();
        for (group, key) in keys_of(text).into_iter().enumerate() {
            let wanted = Wanted::Text(vec![key]);
            gathered.add(corpus, [(&wanted, 1.0)], &mut scratch.units);
            scratch.units.drain(|_, _| {});
            let first = |unit: u32| {
                let unit = &units[unit as usize];
                filter.passes(unit.kind, unit.chapter).then_some(unit.first)
            };
            let counts = &mut scratch.paragraphs;
            gathered.each_paragraph(group, 0, first, |paragraph, frequency| {
                counts.add(all.holding(paragraph), frequency);
            });
            let held = counts.touched.len() as f64;
            let bm25 = Bm25::new(all.total, held, 1.0, K1, B);
            let worth = rarity(all.total, held) as f32;
            whole += worth;
            let [sums, shares] = &mut scratch.sums;
            counts.drain(|at, frequency| {
                let sum = &mut sums[at as usize];
                if *sum == 0.0 {
                    found.push(at);
                }
                *sum += bm25.value(frequency, all.lengths[at as usize]);
                shares[at as usize] += worth;
            });
        }
        scratch.blocks = blocks;
        let [sums, shares] = &mut scratch.sums;
        let mut best: Vec<(Reverse<u32>, u32, f32)> = found
            .iter()
            .map(|&at| {
                let score = std::mem::take(&mut sums[at as usize]);
                let share = std::mem::take(&mut shares[at as usize]) / whole;
                (Reverse(score.to_bits()), at, share)
            })
            .collect();
        let place = |&(score, at, _): &(Reverse<u32>, u32, f32)| (score, at);
        if limit < best.len() {
            best.select_nth_unstable_by_key(limit, place);
            best.truncate(limit);
        }
        best.sort_unstable_by_key(place);
        let placed = best.into_iter().map(|(Reverse(score), at, share)| {
            let first = all.first[at as usize];
            let document = corpus
                .documents
                .partition_point(|one| one.first_paragraph <= first)
                - 1;
            let owner = &corpus.documents[document];
            let last = owner.first_paragraph + owner.rows.paragraphs.len() as u32;
            let end = all
                .first
                .get(at as usize + 1)
                .map_or(last, |&next| next.min(last));
            ScoredStretch {
                document,
                first: first - owner.first_paragraph,
                end: end - owner.first_paragraph,
                score: f32::from_bits(score),
                share,
            }
        });
        placed.collect()
    })
}
