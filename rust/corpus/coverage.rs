//! How much of the question one window holds: what tells a question that the texts answer from one that they do not.

use super::bm25::rarity;
use super::corpus::Corpus;
use super::gather::{Gathered, ONE, fixed};
use super::inside::Inside;
use super::query::{Concept, Wanted};
use super::scratch::{Counts, Scratch};
use super::table::WINDOW;

/// How much of the question its best window holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Coverage {
    /// Rarities of all concepts, weighted.
    pub total: f32,
    /// Those of the concepts whose words occur nowhere.
    pub lost: f32,
    /// The most that one window holds.
    pub best: f32,
    /// Positions of the concepts whose words occur nowhere.
    pub missing: Vec<usize>,
}

impl Inside {
    /// How much of the question the best window holds.
    pub fn coverage(
        &self,
        corpus: &Corpus,
        concepts: &[Concept],
        scratch: &mut Scratch,
    ) -> Coverage {
        let Scratch {
            units,
            paragraphs,
            windows,
            blocks,
            ..
        } = scratch;
        paragraphs.reserve(corpus.table.columns.body.len());
        windows.reserve(corpus.table.columns.body.len());
        let mut coverage = Coverage::default();
        let mut held = vec![0.0_f32; corpus.table.columns.body.len()];
        for (position, concept) in concepts.iter().enumerate() {
            let mut gathered = Gathered::new(blocks);
            gathered.add(corpus, [(&concept.word, 1.0)], units);
            if concept.share > 0.0 {
                gathered.add(corpus, concept.near.iter().map(|one| (one, 1.0)), units);
            }
            units.drain(|_, _| {});
            let there = gathered.paragraphs(0);
            if there == 0 && matches!(concept.word, Wanted::Entity(_)) {
                continue; // known from elsewhere: that the texts do not name it says nothing of the question
            }
            let seen = self.mark(corpus, &gathered, (0, ONE), paragraphs, windows);
            let count = windows.touched.len() as f64 * there as f64 / seen.max(1) as f64;
            let count = count.min(corpus.table.totals[WINDOW].count as f64);
            let weight = concept.weight * rarity(corpus.table.totals[WINDOW], count) as f32;
            coverage.total += weight;
            if there == 0 {
                coverage.lost += weight;
                coverage.missing.push(position);
            }
            let share = fixed(concept.share.min(1.0));
            if share > 0 {
                self.mark(corpus, &gathered, (1, share), paragraphs, windows);
            }
            windows
                .drain(|window, share| held[window as usize] += weight * share as f32 / ONE as f32);
        }
        coverage.best = held.into_iter().fold(0.0, f32::max);
        coverage
    }

    /// Raise the windows of the paragraphs that hold a group to `share`; how many paragraphs there are, one counted
    /// once for each wording.
    fn mark(
        &self,
        corpus: &Corpus,
        gathered: &Gathered<'_, '_>,
        (group, share): (usize, u32),
        paragraphs: &mut Counts,
        windows: &mut Counts,
    ) -> u64 {
        let seen = gathered.each_paragraph(
            group,
            |unit| self.first_of(unit),
            |paragraph, _| paragraphs.raise(paragraph, share),
        );
        let holding = corpus.table.columns.holding.as_slice();
        paragraphs.drain(|paragraph, share| {
            let (before, after) = holding[paragraph as usize];
            for window in paragraph - u32::from(before)..=paragraph + u32::from(after) {
                windows.raise(window, share);
            }
        });
        seen
    }
}
