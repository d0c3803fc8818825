//! BM25 over blocks of text, held in memory and kept up to date document by document.
//!
//! A block is a stretch of a document that is scored as one (a few paragraphs). A query is a list of
//! weighted groups; a group is satisfied by any of its alternatives, an alternative by all of its
//! terms in one block. So a word, its synonyms, a phrase and an entity with ten aliases each count
//! once, with the rarity of the whole group.
//!
//! Source: Robertson & Zaragoza 2009 (BM25); groups as in Lucene's `SynonymQuery`.

#![expect(
    clippy::cast_precision_loss,
    reason = "scores need no more than the 24 bits of an f32"
)]

use rustc_hash::FxHashMap;

use crate::text::analyzer::{Term, each_term, entity_key};

/// Occurrences of a term in a block.
#[derive(Debug, Clone, Copy)]
struct Posting {
    block: u32,
    count: u32,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    document: u64,
    length: u32,
    live: bool,
}

/// A block to be indexed.
#[derive(Debug, Clone, Default)]
pub struct BlockText<'t> {
    /// The words.
    pub text: &'t str,
    /// Entities mentioned in it, with how often.
    pub entities: Vec<(u32, u32)>,
}

/// A weighted part of a query, satisfied by any of its alternatives.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// Words or phrases; all terms of one must stand in the block.
    pub words: Vec<String>,
    /// Entity numbers.
    pub entities: Vec<u32>,
    /// Factor on the score of this group.
    pub weight: f32,
}

/// How scores saturate and add up.
#[derive(Debug, Clone)]
pub struct Scoring {
    /// How soon more occurrences stop counting.
    pub k1: f32,
    /// How much long blocks are held back, 0 to 1.
    pub b: f32,
    /// What the best, second best, … block of a document contributes to its score.
    pub decay: Vec<f32>,
}

/// A document with the blocks that made its score, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// As given to `replace`.
    pub document: u64,
    /// Sum over the best blocks, each with its factor.
    pub score: f32,
    /// (position of the block in its document, its score).
    pub blocks: Vec<(u32, f32)>,
}

/// The index.
#[derive(Debug, Default)]
pub struct TextIndex {
    postings: FxHashMap<u64, Vec<Posting>>,
    blocks: Vec<Block>,
    /// Document to (first block, number of blocks).
    documents: FxHashMap<u64, (u32, u32)>,
    live: usize,
    live_length: u64,
}

impl TextIndex {
    /// Number of blocks that are searched.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether there is nothing to search.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Put the blocks of a document in the place of those it had; no blocks removes it.
    ///
    /// Cost: linear in the text; dead blocks are swept out when they outnumber a third of the live ones.
    pub fn replace(&mut self, document: u64, texts: &[BlockText<'_>]) {
        if let Some((first, count)) = self.documents.remove(&document) {
            for block in &mut self.blocks[first as usize..(first + count) as usize] {
                block.live = false;
                self.live -= 1;
                self.live_length -= u64::from(block.length);
            }
        }
        if (self.blocks.len() - self.live) > self.live / 3 + 64 {
            self.sweep();
        }
        if texts.is_empty() {
            return;
        }
        let first = self.blocks.len() as u32;
        let mut counts: FxHashMap<u64, u32> = FxHashMap::default();
        for text in texts {
            let block = self.blocks.len() as u32;
            let mut length = 0;
            counts.clear();
            each_term(text.text, |term| {
                length += u32::from(!matches!(term, Term::Single(_)));
                *counts.entry(term.key()).or_default() += 1;
            });
            for &(entity, count) in &text.entities {
                *counts.entry(entity_key(entity)).or_default() += count;
            }
            #[expect(
                clippy::iter_over_hash_type,
                reason = "one posting per key: the order cannot be seen"
            )]
            for (&key, &count) in &counts {
                self.postings
                    .entry(key)
                    .or_default()
                    .push(Posting { block, count });
            }
            self.blocks.push(Block {
                document,
                length,
                live: true,
            });
            self.live += 1;
            self.live_length += u64::from(length);
        }
        self.documents.insert(document, (first, texts.len() as u32));
    }

    fn sweep(&mut self) {
        let mut renumbered = vec![u32::MAX; self.blocks.len()];
        let mut next = 0;
        for (old, block) in self.blocks.iter().enumerate() {
            if block.live {
                renumbered[old] = next;
                next += 1;
            }
        }
        self.postings.retain(|_, postings| {
            postings.retain_mut(|posting| {
                posting.block = renumbered[posting.block as usize];
                posting.block != u32::MAX
            });
            !postings.is_empty()
        });
        self.blocks.retain(|block| block.live);
        #[expect(clippy::iter_over_hash_type, reason = "each value changes by itself")]
        for (first, _) in self.documents.values_mut() {
            *first = renumbered[*first as usize];
        }
    }

    /// Score every document that satisfies a group; best first, ties by document number.
    ///
    /// Cost: linear in the postings of the query's terms.
    pub fn search(&self, groups: &[Group], scoring: &Scoring, limit: usize) -> Vec<Ranked> {
        let mut scores = vec![0.0_f32; self.blocks.len()];
        let mut counts = vec![0_u32; self.blocks.len()];
        let mut touched = Vec::new();
        let average = self.live_length as f32 / self.live.max(1) as f32;
        for group in groups {
            self.count(group, &mut counts, &mut touched);
            let frequency = touched.len() as f32;
            let rarity =
                (1.0 + (self.live as f32 - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln();
            for block in touched.drain(..) {
                let count = std::mem::take(&mut counts[block as usize]) as f32;
                let length = self.blocks[block as usize].length as f32 / average.max(1.0);
                let saturated = count * (scoring.k1 + 1.0)
                    / (count + scoring.k1 * (1.0 - scoring.b + scoring.b * length));
                scores[block as usize] += group.weight * rarity * saturated;
            }
        }
        self.by_document(&scores, &scoring.decay, limit)
    }

    /// Blocks that satisfy `group` into `touched`, with how often into `counts`.
    fn count(&self, group: &Group, counts: &mut [u32], touched: &mut Vec<u32>) {
        let mut add = |posting: Posting| {
            if self.blocks[posting.block as usize].live {
                if counts[posting.block as usize] == 0 {
                    touched.push(posting.block);
                }
                counts[posting.block as usize] += posting.count;
            }
        };
        for word in &group.words {
            let keys = keys_of(word);
            let mut lists: Vec<&[Posting]> = keys
                .iter()
                .map(|key| self.postings.get(key).map_or(&[][..], Vec::as_slice))
                .collect();
            lists.sort_by_key(|list| list.len());
            let Some((rarest, others)) = lists.split_first() else {
                continue;
            };
            for &posting in *rarest {
                let count = others.iter().try_fold(posting.count, |least, list| {
                    let at = list
                        .binary_search_by_key(&posting.block, |other| other.block)
                        .ok()?;
                    Some(least.min(list[at].count))
                });
                if let Some(count) = count {
                    add(Posting {
                        block: posting.block,
                        count,
                    });
                }
            }
        }
        for &entity in &group.entities {
            for &posting in self
                .postings
                .get(&entity_key(entity))
                .map_or(&[][..], Vec::as_slice)
            {
                add(posting);
            }
        }
    }

    fn by_document(&self, scores: &[f32], decay: &[f32], limit: usize) -> Vec<Ranked> {
        let mut found = Vec::new();
        #[expect(clippy::iter_over_hash_type, reason = "sorted below")]
        for (&document, &(first, count)) in &self.documents {
            let range = first as usize..(first + count) as usize;
            let mut blocks: Vec<(u32, f32)> = scores[range]
                .iter()
                .enumerate()
                .filter(|&(_, &s)| s > 0.0)
                .map(|(i, &s)| (i as u32, s))
                .collect();
            if blocks.is_empty() {
                continue;
            }
            blocks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            blocks.truncate(decay.len().max(1));
            let score = blocks
                .iter()
                .zip(decay)
                .map(|(&(_, score), factor)| score * factor)
                .sum();
            found.push(Ranked {
                document,
                score,
                blocks,
            });
        }
        found.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then(a.document.cmp(&b.document))
        });
        found.truncate(limit);
        found
    }

    /// How often each document holds `word` (all of its terms, per block), by document number.
    pub fn occurrences(&self, word: &str) -> Vec<(u64, u32)> {
        let group = Group {
            words: vec![word.to_owned()],
            ..Group::default()
        };
        let (mut counts, mut touched) = (vec![0; self.blocks.len()], Vec::new());
        self.count(&group, &mut counts, &mut touched);
        let mut by_document: std::collections::BTreeMap<u64, u32> =
            std::collections::BTreeMap::new();
        for block in touched {
            *by_document
                .entry(self.blocks[block as usize].document)
                .or_default() += counts[block as usize];
        }
        by_document.into_iter().collect()
    }
}

/// The keys of a word or phrase: its pairs and words, or the single character it consists of.
fn keys_of(word: &str) -> Vec<u64> {
    let (mut keys, mut singles) = (Vec::new(), Vec::new());
    each_term(word, |term| match term {
        Term::Single(_) => singles.push(term.key()),
        _ => keys.push(term.key()),
    });
    if keys.is_empty() { singles } else { keys }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Scoring {
        Scoring {
            k1: 1.2,
            b: 0.6,
            decay: vec![1.0, 0.3],
        }
    }

    fn block(text: &str) -> BlockText<'_> {
        BlockText {
            text,
            entities: Vec::new(),
        }
    }

    fn words(words: &[&str], weight: f32) -> Group {
        Group {
            words: words.iter().map(|&w| w.to_owned()).collect(),
            entities: Vec::new(),
            weight,
        }
    }

    fn order(index: &TextIndex, groups: &[Group]) -> Vec<u64> {
        index
            .search(groups, &plain(), 10)
            .into_iter()
            .map(|ranked| ranked.document)
            .collect()
    }

    #[test]
    fn a_phrase_needs_all_of_its_pairs_in_one_block() {
        let mut index = TextIndex::default();
        index.replace(1, &[block("老渡口的灯"), block("渡船")]);
        index.replace(2, &[block("老渡"), block("渡口")]);
        assert_eq!(order(&index, &[words(&["老渡口"], 1.0)]), [1]);
        assert_eq!(order(&index, &[words(&["渡口", "渡船"], 1.0)]), [1, 2]);
    }

    #[test]
    fn a_replaced_document_forgets_what_it_said() {
        let mut index = TextIndex::default();
        index.replace(1, &[block("the lamp"), block("the river")]);
        for round in 0..300 {
            index.replace(
                2,
                &[block(if round % 2 == 0 { "a clock" } else { "a lamp" })],
            );
        }
        assert_eq!(index.len(), 3);
        assert_eq!(index.occurrences("lamp"), [(1, 1), (2, 1)]);
        assert!(index.occurrences("clock").is_empty());
        index.replace(1, &[]);
        assert_eq!(
            order(&index, &[words(&["lamps"], 1.0), words(&["river"], 1.0)]),
            [2]
        );
    }

    #[test]
    fn ties_break_on_the_document_number() {
        let mut index = TextIndex::default();
        for document in [5, 3, 9] {
            index.replace(
                document,
                &[BlockText {
                    text: "x",
                    entities: vec![(7, 1)],
                }],
            );
        }
        let group = Group {
            entities: vec![7],
            weight: 1.0,
            ..Group::default()
        };
        assert_eq!(order(&index, &[group]), [3, 5, 9]);
    }
}
