//! The search: one pass over the text, the automaton started only where an alias may begin.
//!
//! Leftmost, then longest, each checked against the boundary policy (`boundary`). The engine is the
//! `aho-corasick` crate's contiguous automaton, walked from every position that the prefilter lets
//! through: the walk sees all aliases that begin there in order of length, so a long one that fails
//! the policy gives way to a shorter one. Text that folding would change is folded first and the spans
//! are mapped back; text that it would not change (most Chinese) is searched as it stands.
//!
//! Cost: O(len(text) + positions passed × longest alias).

use crate::boundary::{self, Reason};
use crate::matcher::{Hit, Matcher, Rejected};
use crate::normalize::{self, Folded};
use aho_corasick::Anchored;
use aho_corasick::automaton::Automaton;

impl Matcher {
    /// Mentions that do not overlap, ascending: leftmost, then longest of what the policy allows.
    pub fn find_all(&self, text: &str) -> Vec<Hit> {
        self.search::<true>(text, |folded, at, hits| {
            if boundary::left(&folded.text, at).is_some() || folded.start_in_original(at).is_none()
            {
                return None;
            }
            let mut longest = None;
            self.walk(folded, at, |end, alias| {
                if right_of(folded, end).is_none() {
                    longest = Some(Hit {
                        start: at,
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
        self.search::<true>(text, |folded, at, hits| {
            if boundary::left(&folded.text, at).is_none() && folded.start_in_original(at).is_some()
            {
                let first = hits.len();
                self.walk(folded, at, |end, alias| {
                    if right_of(folded, end).is_none() {
                        hits.push(Hit {
                            start: at,
                            end,
                            alias,
                        });
                    }
                });
                hits[first..].reverse();
            }
            None
        })
    }

    /// Every alias that stands in the text and is not a mention, with the reason, by start, longest first.
    pub fn explain(&self, text: &str) -> Vec<Rejected> {
        let mut kept = self.find_all(text).into_iter().peekable();
        let mut current: Option<Hit> = None;
        let mut rejected = Vec::new();
        for (hit, reason) in self.occurrences(text) {
            while let Some(next) = kept.next_if(|next| next.start <= hit.start) {
                current = Some(next);
            }
            let before = current.filter(|kept| hit.start < kept.end);
            if before == Some(hit) {
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
        let mut reasons = Vec::new();
        let hits = self.search::<false>(text, |folded, at, hits| {
            let left = boundary::left(&folded.text, at);
            let first = hits.len();
            reasons.truncate(first);
            self.walk(folded, at, |end, alias| {
                if folded.start_in_original(at).is_some() && folded.end_in_original(end).is_some() {
                    hits.push(Hit {
                        start: at,
                        end,
                        alias,
                    });
                    reasons.push(left.or_else(|| right_of(folded, end)));
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
    /// The text is searched as it stands; at the first character that folding could turn into a letter of
    /// some alias the search starts over on the folded text, and its hits are mapped back.
    fn search<const POLICY: bool>(
        &self,
        text: &str,
        mut visit: impl FnMut(&Folded<'_>, usize, &mut Vec<Hit>) -> Option<usize>,
    ) -> Vec<Hit> {
        let mut hits = Vec::new();
        if self.automaton.is_none() {
            return hits;
        }
        if self.scan::<POLICY, true>(&Folded::unchanged(text), &mut hits, &mut visit) {
            return hits;
        }
        hits.clear();
        let folded = normalize::fold(text);
        self.scan::<POLICY, false>(&folded, &mut hits, &mut visit);
        for hit in &mut hits {
            hit.start = folded.start_in_original(hit.start).unwrap_or(hit.start);
            hit.end = folded.end_in_original(hit.end).unwrap_or(hit.end);
        }
        hits
    }

    /// One pass; false when `CHECK`ed text turns out to need folding.
    #[inline]
    fn scan<const POLICY: bool, const CHECK: bool>(
        &self,
        folded: &Folded<'_>,
        hits: &mut Vec<Hit>,
        visit: &mut impl FnMut(&Folded<'_>, usize, &mut Vec<Hit>) -> Option<usize>,
    ) -> bool {
        let bytes = folded.text.as_bytes();
        let mut at = 0;
        let mut previous = b' ';
        while let Some(lead) = bytes.get(at).copied() {
            if CHECK
                && lead >= 0x80
                && !(0xE4..=0xE9).contains(&lead)
                && self.alphabet.must_fold(&folded.text, at)
            {
                return false;
            }
            // A letter after a letter begins no word: the commonest case of the policy, decided early.
            let inside = POLICY && lead.is_ascii_alphanumeric() && previous.is_ascii_alphanumeric();
            previous = lead;
            let worth_it =
                !inside && self.prefilter.begins_with(lead) && self.prefilter.may_begin(bytes, at);
            if worth_it && let Some(next) = visit(folded, at, hits) {
                at = next;
                previous = bytes[at - 1];
                continue;
            }
            at += length(lead);
        }
        true
    }

    /// Calls `each(end, alias)` for every alias that stands at `at`, shortest first.
    #[inline]
    fn walk(&self, folded: &Folded<'_>, at: usize, mut each: impl FnMut(usize, u32)) {
        let Some(automaton) = &self.automaton else {
            return;
        };
        let Ok(mut state) = automaton.start_state(Anchored::Yes) else {
            return;
        };
        for (depth, byte) in folded.text.as_bytes()[at..].iter().enumerate() {
            state = automaton.next_state(Anchored::Yes, state, *byte);
            if automaton.is_special(state) {
                if automaton.is_dead(state) {
                    return;
                }
                if automaton.is_match(state) {
                    let alias = automaton.match_pattern(state, 0);
                    // A state also lists aliases that end here and began later; the walk is about those that begin at `at`.
                    if automaton.pattern_len(alias) == depth + 1 {
                        each(at + depth + 1, alias.as_u32());
                    }
                }
            }
        }
    }
}

fn right_of(folded: &Folded<'_>, end: usize) -> Option<Reason> {
    match folded.end_in_original(end) {
        None => Some(Reason::SplitsCharacter),
        Some(_) => boundary::right(&folded.text, end),
    }
}

/// The length of the character that begins with `lead`.
#[inline]
fn length(lead: u8) -> usize {
    match lead {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}
