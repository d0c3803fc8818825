//! How much of the question one window holds: what tells a question that the texts answer from one that they do not.

use super::bm25::rarity;
use super::corpus::Corpus;
use super::gather::{Gathered, ONE, fixed};
use super::inside::Inside;
use super::query::{Query, Wanted};
use super::scored::greatest;
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
    /// How much of the question the best window holds; `gathered` are its groups.
    pub fn coverage(
        &self,
        corpus: &Corpus,
        query: &Query,
        gathered: &Gathered<'_, '_>,
        scratch: &mut Scratch,
    ) -> Coverage {
        let Scratch {
            units,
            paragraphs,
            windows,
            held,
            ..
        } = scratch;
        let all = corpus.table.columns.body.len();
        paragraphs.reserve(all);
        windows.reserve(all);
        let mut coverage = Coverage::default();
        held.resize(held.len().max(all), 0.0);
        let mut blocks = Vec::new();
        for (position, concept) in query.concepts.iter().enumerate() {
            let mut word = Gathered::new(&mut blocks);
            word.add(corpus, [(&concept.word, 1.0)], units);
            units.drain(|_, _| {});
            let there = word.paragraphs(0);
            if there == 0 && matches!(concept.word, Wanted::Entity(_)) {
                continue; // known from elsewhere: that the texts do not name it says nothing of the question
            }
            let seen = self.mark(corpus, &word, (0, 0, ONE), paragraphs, windows);
            let count = windows.touched.len() as f64 * there as f64 / seen.max(1) as f64;
            let count = count.min(corpus.table.totals[WINDOW].count as f64);
            let weight = concept.weight * rarity(corpus.table.totals[WINDOW], count) as f32;
            coverage.total += weight;
            if there == 0 {
                coverage.lost += weight;
                coverage.missing.push(position);
            }
            let share = fixed(query.share.min(1.0));
            if let Some(group) = concept.group.filter(|_| share > 0) {
                let least = fixed(query.near);
                self.mark(corpus, gathered, (group, least, share), paragraphs, windows);
            }
            windows.drain(|window, share| {
                held[window as usize] += weight * share as f32 / ONE as f32;
            });
        }
        for &(from, to) in &self.runs {
            let held = &mut held[from as usize..to as usize];
            coverage.best = coverage.best.max(greatest(held));
            held.fill(0.0);
        }
        coverage
    }

    /// Raise the windows of the paragraphs that hold a group to `share`; how many paragraphs there are, one counted
    /// once for each wording.
    fn mark(
        &self,
        corpus: &Corpus,
        gathered: &Gathered<'_, '_>,
        (group, least, share): (usize, u32, u32),
        paragraphs: &mut Counts,
        windows: &mut Counts,
    ) -> u64 {
        let seen = gathered.each_paragraph(
            group,
            least,
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
