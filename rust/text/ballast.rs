//! A first pattern for automata of the `aho-corasick` crate, so that building them is linear in their patterns.
//!
//! The crate moves the states in which a pattern ends to the front, one swap each, and then finds where a state went by
//! following the swaps, once around for each. Where nearly every state ends a pattern (one name with 100,000 numbered
//! aliases, a lorebook with numbered keys) the rounds are as long as the list: 1.9 s for 100,000, quadratic. Behind a first
//! pattern of length n / `CHAIN` that no text holds, whose states end nothing, a state moves at least that far each time: no
//! round is longer than about `CHAIN`.

use std::borrow::Cow;
use std::iter::once;

/// The number of the first pattern of the caller's; the one before it is ballast.
pub(crate) const FIRST: u32 = 1;
const CHAIN: usize = 16;
/// A byte that stands in no UTF-8.
const NEVER: u8 = 0xFF;

/// The patterns, by one more than their index, behind one that is never found.
pub(crate) fn ballasted<T: AsRef<str>>(patterns: &[T]) -> impl Iterator<Item = Cow<'_, [u8]>> {
    let ballast = vec![NEVER; patterns.len() / CHAIN + 1];
    let patterns = patterns
        .iter()
        .map(|one| Cow::Borrowed(one.as_ref().as_bytes()));
    once(Cow::Owned(ballast)).chain(patterns)
}

#[cfg(test)]
mod tests {
    use super::ballasted;
    use std::collections::HashSet;

    /// The longest round of states that swap places when those in which a pattern ends go to the front.
    fn longest_round(patterns: &[impl AsRef<[u8]>]) -> usize {
        let ends: HashSet<&[u8]> = patterns.iter().map(AsRef::as_ref).collect();
        let mut seen = HashSet::new();
        let beginnings = patterns.iter().map(AsRef::as_ref).flat_map(|one| {
            (1..=one.len()).map(move |end| &one[..end]) // in the order in which the crate makes states
        });
        let states: Vec<bool> = beginnings
            .filter(|one| seen.insert(*one))
            .map(|one| ends.contains(one))
            .collect();
        let mut places: Vec<usize> = (0..states.len()).collect();
        for (to, (from, _)) in states
            .iter()
            .enumerate()
            .filter(|(_, end)| **end)
            .enumerate()
        {
            places.swap(to, from);
        }
        let mut gone = vec![false; places.len()];
        let rounds = (0..places.len()).map(|first| {
            let (mut at, mut length) = (first, 0);
            while !gone[at] {
                gone[at] = true;
                at = places[at];
                length += 1;
            }
            length
        });
        rounds.max().unwrap_or_default()
    }

    #[test]
    fn states_of_numbered_patterns_swap_places_in_short_rounds_however_many_there_are() {
        for many in [1_000, 2_000, 20_000] {
            let keys: Vec<String> = (0..many).map(|number| format!("键{number}")).collect();
            assert!(longest_round(&keys) > many / 10);
            let behind: Vec<_> = ballasted(&keys).collect();
            assert!(longest_round(&behind) < 100, "{}", longest_round(&behind));
        }
    }
}
