//! The search: one pass over the text, the automaton started only where an alias may begin.
//!
//! Leftmost, then longest, each checked against the boundary policy (`boundary`). The engine is the
//! `aho-corasick` crate's contiguous automaton, walked from every position that the prefilter lets
//! through: the walk sees all aliases that begin there in order of length, so a long one that fails
//! the policy gives way to a shorter one. Text that folding would change is folded first and the spans
//! are mapped back; text that it would not change (most Chinese) is searched as it stands.
//!
//! Cost: O(len(text) + positions passed × longest alias).

use crate::interrupt::{Pace, STRETCH, checkpoint, paced};
use crate::matching::beginnings::word_at;
use crate::matching::boundary::{self, Reason};
use crate::matching::matcher::{Engine, Hit, Matcher, Rejected};
use crate::matching::prefilter::Entry;
use crate::text::offset_map::Folded;
use crate::text::{ballast, normalize};
use aho_corasick::Anchored;
use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;

/// What reading the surroundings of one hit costs, in bytes of searching.
const READING: usize = 64;

impl Matcher {
    /// Mentions that do not overlap, ascending: leftmost, then longest of what the policy allows.
    pub fn find_all(&self, text: &str) -> Vec<Hit> {
        let mut hits = self.candidates(text);
        let mut pace = Pace::new();
        hits.retain(|hit| {
            pace.step(READING);
            self.rejection(text, hit).is_none()
        });
        hits
    }

    /// `find_all` before its surroundings are read; what is no mention after that still covers what is inside it.
    pub(super) fn candidates(&self, text: &str) -> Vec<Hit> {
        let Some(engine) = &self.engine else {
            return Vec::new();
        };
        self.search::<true>(text, |place, hits| {
            if place.left().is_some() {
                return None;
            }
            let mut longest = None;
            place.walk(&engine.automaton, |end, alias| {
                if place.right(end).is_none() {
                    longest = Some(Hit {
                        start: place.at,
                        end,
                        alias,
                    });
                }
            });
            hits.extend(longest);
            longest.map(|hit| hit.end)
        })
    }

    /// Every mention that the policy allows, nested and overlapping ones too, by start, longest first.
    pub fn find_overlapping(&self, text: &str) -> Vec<Hit> {
        let Some(engine) = &self.engine else {
            return Vec::new();
        };
        let mut hits = self.search::<true>(text, |place, hits| {
            if place.left().is_none() {
                let first = hits.len();
                place.walk(&engine.automaton, |end, alias| {
                    if place.right(end).is_none() {
                        hits.push(Hit {
                            start: place.at,
                            end,
                            alias,
                        });
                    }
                });
                hits[first..].reverse();
            }
            None
        });
        let mut pace = Pace::new();
        hits.retain(|hit| {
            pace.step(READING);
            self.rejection(text, hit).is_none()
        });
        hits
    }

    /// Every alias that stands in the text and is not a mention, with the reason, by start, longest first.
    pub fn explain(&self, text: &str) -> Vec<Rejected> {
        self.explained(text, self.candidates(text))
    }

    /// `explain` beside the candidates of the same text.
    pub(super) fn explained(&self, text: &str, candidates: Vec<Hit>) -> Vec<Rejected> {
        let mut kept = candidates.into_iter().peekable();
        let mut current: Option<Hit> = None;
        let mut rejected = Vec::new();
        for (hit, reason) in paced(self.occurrences(text).into_iter()) {
            while let Some(next) = kept.next_if(|next| next.start <= hit.start) {
                current = Some(next);
            }
            let before = current.filter(|kept| hit.start < kept.end);
            if before == Some(hit) {
                let reason = self.rejection(text, &hit);
                rejected.extend(reason.map(|reason| Rejected {
                    hit,
                    reason,
                    by: None,
                }));
                continue;
            }
            let by = before.or_else(|| kept.peek().copied().filter(|next| next.start < hit.end));
            rejected.push(match (reason, by) {
                (Some(reason), None) => Rejected {
                    hit,
                    reason,
                    by: None,
                },
                (Some(reason), Some(by)) if hit.end > by.end || hit.start < by.start => Rejected {
                    hit,
                    reason,
                    by: None,
                },
                (_, by) => Rejected {
                    hit,
                    reason: Reason::Shadowed,
                    by,
                },
            });
        }
        rejected
    }

    /// Every place where an alias stands, by start, longest first, with what the policy has against it.
    fn occurrences(&self, text: &str) -> Vec<(Hit, Option<Reason>)> {
        let Some(engine) = &self.engine else {
            return Vec::new();
        };
        let mut reasons = Vec::new();
        let hits = self.search::<false>(text, |place, hits| {
            let (left, first) = (place.left(), hits.len());
            reasons.truncate(first);
            place.walk(&engine.automaton, |end, alias| {
                let whole = place
                    .folded
                    .start_in_original(place.at)
                    .and(place.folded.end_in_original(end));
                if whole.is_some() {
                    hits.push(Hit {
                        start: place.at,
                        end,
                        alias,
                    });
                    reasons.push(left.or_else(|| place.right(end)));
                }
            });
            hits[first..].reverse();
            reasons[first..].reverse();
            None
        });
        hits.into_iter().zip(reasons).collect()
    }

    /// Runs `visit` at every position where an alias may begin; it adds hits and says where to go on.
    ///
    /// The text is searched as it stands; a line with a character that folding could turn into a letter of
    /// some alias is folded, searched again, and its hits are mapped back.
    fn search<const POLICY: bool>(
        &self,
        text: &str,
        mut visit: impl FnMut(Place<'_>, &mut Vec<Hit>) -> Option<usize>,
    ) -> Vec<Hit> {
        let mut hits = Vec::new();
        let Some(engine) = &self.engine else {
            return hits;
        };
        let (mut from, mut pace) = (0, Pace::new());
        while from < text.len() {
            let (rest, first) = (&text[from..], hits.len());
            let plain = Folded::unchanged(rest);
            let stopped = Self::scan::<POLICY, true>(engine, &plain, &mut hits, &mut visit);
            let line = stopped.map(|at| engine.line_around(rest, at));
            let kept = hits[first..]
                .partition_point(|hit| line.is_none_or(|(start, _)| hit.start < start));
            hits.truncate(first + kept);
            for hit in &mut hits[first..] {
                (hit.start, hit.end) = (hit.start + from, hit.end + from);
            }
            let Some((start, end)) = line else { break };
            let (folded, first) = (normalize::fold(&rest[start..end]), hits.len());
            Self::scan::<POLICY, false>(engine, &folded, &mut hits, &mut visit);
            for hit in &mut hits[first..] {
                hit.start = from + start + folded.start_in_original(hit.start).unwrap_or(hit.start);
                hit.end = from + start + folded.end_in_original(hit.end).unwrap_or(hit.end);
            }
            from += end;
            pace.step(end); // lines that are folded are too short to look in
        }
        hits
    }

    /// One pass; the position at which `CHECK`ed text turns out to need folding.
    #[inline]
    fn scan<const POLICY: bool, const CHECK: bool>(
        engine: &Engine,
        folded: &Folded<'_>,
        hits: &mut Vec<Hit>,
        visit: &mut impl FnMut(Place<'_>, &mut Vec<Hit>) -> Option<usize>,
    ) -> Option<usize> {
        let bytes = folded.text.as_bytes();
        let (prefilter, alphabet) = (&engine.prefilter, &engine.alphabet);
        let single = prefilter.has_single_han();
        let mut at = 0;
        // Whether the character before is an ASCII letter or digit, or `_`.
        let mut in_word = false;
        let mut stop = STRETCH;
        while at < bytes.len() {
            if at >= stop {
                stop = at + STRETCH;
                checkpoint();
            }
            if !single && (0xE4..=0xE9).contains(&bytes[at]) {
                at = prefilter.skip_han(bytes, at);
                in_word = false;
            }
            let mut found = None;
            if bytes.get(at).is_some_and(u8::is_ascii) {
                if POLICY {
                    (at, found) = prefilter.next_word(bytes, at, &mut in_word);
                } else {
                    at = prefilter.skip_ascii(bytes, at);
                }
            }
            let word = word_at(bytes, at);
            let lead = word as u8;
            let (entry, length) = match lead {
                _ if at >= bytes.len() => break,
                0..0x80 if POLICY => (found, 1),
                0..0x80 => (prefilter.inside(word), 1),
                0xE0..0xF0 => {
                    if CHECK && !(0xE4..=0xE9).contains(&lead) && alphabet.must_fold_three(word) {
                        return Some(at);
                    }
                    (prefilter.three(word), 3)
                }
                _ => {
                    if CHECK && alphabet.must_fold(&folded.text[at..]) {
                        return Some(at);
                    }
                    (prefilter.other(word), if lead < 0xE0 { 2 } else { 4 })
                }
            };
            in_word = is_word_byte(lead);
            at += length;
            if let Some(entry) = entry
                && let Some(next) = visit(
                    Place {
                        folded,
                        at: at - length,
                        entry,
                    },
                    hits,
                )
            {
                at = next;
                in_word = is_word_byte(bytes[at - 1]);
            }
        }
        None
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A position at which some alias may begin.
struct Place<'t> {
    folded: &'t Folded<'t>,
    at: usize,
    entry: Entry,
}

impl Place<'_> {
    /// What is wrong with a mention that begins here.
    #[inline]
    fn left(&self) -> Option<Reason> {
        match self.folded.start_in_original(self.at) {
            None => Some(Reason::SplitsCharacter),
            Some(_) => boundary::left(&self.folded.text, self.at),
        }
    }

    /// What is wrong with a mention that ends at `end`.
    #[inline]
    fn right(&self, end: usize) -> Option<Reason> {
        match self.folded.end_in_original(end) {
            None => Some(Reason::SplitsCharacter),
            Some(_) => boundary::right(&self.folded.text, end),
        }
    }

    /// Calls `each(end, alias)` for every alias that stands here, shortest first.
    #[inline]
    fn walk(&self, automaton: &NFA, mut each: impl FnMut(usize, u32)) {
        let Entry {
            mut state,
            mut depth,
            whole,
            goes_on,
        } = self.entry;
        if let Some(alias) = whole {
            each(self.at + depth, alias);
        }
        if !goes_on {
            return;
        }
        for byte in &self.folded.text.as_bytes()[self.at + depth..] {
            state = automaton.next_state(Anchored::Yes, state, *byte);
            depth += 1;
            if automaton.is_special(state) {
                if automaton.is_dead(state) {
                    return;
                }
                if automaton.is_match(state) {
                    let alias = automaton.match_pattern(state, 0);
                    // A state also lists aliases that end here and began later; these are not asked for.
                    if automaton.pattern_len(alias) == depth {
                        each(self.at + depth, alias.as_u32() - ballast::FIRST);
                    }
                }
            }
        }
    }
}
