//! Plain keys of a lorebook: every key that stands in a text, whatever other keys stand over it.
//!
//! Unlike entity names (`matching`) keys do not shadow each other: `king` and `king of thieves` are both found. Each key
//! has a rule for its ends, since engines differ; case is the caller's, who folds keys and text alike.

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, MatchKind};
use rustc_hash::FxHashMap;

use crate::interrupt::paced;
use crate::text::ballast::{self, ballasted};

/// What must stand beside a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Anything.
    Any,
    /// No ASCII letter, digit or underscore on either side, whatever the key's own ends are.
    AsciiWord,
    /// As `AsciiWord`, but only at an end of the key that is itself such a character.
    AsciiEdge,
    /// No letter, digit or underscore of an alphabet at an end of the key that is one; scripts written without
    /// spaces (Chinese, Japanese, Thai and others) have no such ends.
    Word,
    /// A change between an ASCII word character and another one, as `\b` of a JavaScript expression.
    AsciiBreak,
}

impl Ends {
    /// The rule of a number as the boundary hands it over.
    pub fn from_number(number: u8) -> Option<Self> {
        [
            Self::Any,
            Self::AsciiWord,
            Self::AsciiEdge,
            Self::Word,
            Self::AsciiBreak,
        ]
        .get(usize::from(number))
        .copied()
    }

    pub(crate) fn allow(self, before: Option<char>, key: &str, after: Option<char>) -> bool {
        match self {
            Self::Any => true,
            Self::AsciiWord => {
                !before.is_some_and(is_ascii_word) && !after.is_some_and(is_ascii_word)
            }
            Self::AsciiEdge => free(is_ascii_word, before, key, after),
            Self::Word => free(is_spaced_word, before, key, after),
            Self::AsciiBreak => {
                let first = key.chars().next().is_some_and(is_ascii_word);
                let last = key.chars().next_back().is_some_and(is_ascii_word);
                before.is_some_and(is_ascii_word) != first
                    && after.is_some_and(is_ascii_word) != last
            }
        }
    }
}

fn free(word: fn(char) -> bool, before: Option<char>, key: &str, after: Option<char>) -> bool {
    let open = !(key.chars().next().is_some_and(word) && before.is_some_and(word));
    open && !(key.chars().next_back().is_some_and(word) && after.is_some_and(word))
}

fn is_ascii_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

fn is_spaced_word(char: char) -> bool {
    (char.is_alphanumeric() || char == '_') && !is_unspaced(char)
}

/// Scripts that are written without spaces between words, by their blocks.
fn is_unspaced(char: char) -> bool {
    matches!(char as u32,
        0x0E00..=0x0EFF            // Thai, Lao
        | 0x1000..=0x109F          // Myanmar
        | 0x1780..=0x17FF          // Khmer
        | 0x2E80..=0x31FF          // CJK radicals, kana, bopomofo
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF
        | 0xFF66..=0xFF9F          // halfwidth kana
        | 0x2_0000..=0x3_FFFF)
}

/// A key found in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Index of the key.
    pub key: usize,
    /// Byte offset of its last occurrence.
    pub last: usize,
}

/// Many keys, each with its rule.
pub struct KeySet {
    automaton: Option<AhoCorasick>,
    keys: Vec<(Box<str>, Ends)>,
    empty: Vec<usize>,
}

impl KeySet {
    /// An automaton over the keys; an empty key stands in every text.
    pub fn new(keys: Vec<(Box<str>, Ends)>) -> Result<Self, BuildError> {
        let empty = (0..keys.len())
            .filter(|&at| keys[at].0.is_empty())
            .collect();
        let patterns: Vec<&str> = keys.iter().map(|(key, _)| &**key).collect();
        let automaton = if patterns.is_empty() {
            None
        } else {
            Some(
                AhoCorasick::builder()
                    .kind(Some(AhoCorasickKind::ContiguousNFA))
                    .match_kind(MatchKind::Standard)
                    .build(ballasted(&patterns))?,
            )
        };
        Ok(Self {
            automaton,
            keys,
            empty,
        })
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys that stand in `text`, by index, each with its last occurrence.
    pub fn found(&self, text: &str) -> Vec<Found> {
        let mut last: FxHashMap<usize, usize> = self.empty.iter().map(|&key| (key, 0)).collect();
        let hits = self.automaton.iter();
        for hit in paced(hits.flat_map(|automaton| automaton.find_overlapping_iter(text))) {
            let at = (hit.pattern().as_u32() - ballast::FIRST) as usize;
            let (key, ends) = &self.keys[at];
            if key.is_empty() {
                continue; // found already; its hits lie inside characters too
            }
            let before = text[..hit.start()].chars().next_back();
            let after = text[hit.end()..].chars().next();
            if ends.allow(before, key, after) {
                last.insert(at, hit.start());
            }
        }
        let mut found: Vec<Found> = last
            .into_iter()
            .map(|(key, last)| Found { key, last })
            .collect();
        found.sort_unstable_by_key(|one| one.key);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(key: &str, ends: Ends, text: &str) -> bool {
        let set = KeySet::new(vec![(key.into(), ends)]).expect("one key");
        !set.found(text).is_empty()
    }

    #[test]
    fn an_empty_key_stands_in_every_text_and_tears_no_character() {
        let keys = vec![("".into(), Ends::Any), ("宝玉".into(), Ends::Any)];
        let set = KeySet::new(keys).expect("two keys");
        assert_eq!(
            set.found("见宝玉"),
            [Found { key: 0, last: 0 }, Found { key: 1, last: 3 }]
        );
        assert_eq!(set.found("é"), [Found { key: 0, last: 0 }]);
        assert_eq!(set.found(""), [Found { key: 0, last: 0 }]);
    }

    #[test]
    fn ends_are_judged_by_the_rule_of_the_key() {
        for (key, ends, text, expected) in [
            ("cat", Ends::Any, "category", true),
            ("cat", Ends::AsciiWord, "category", false),
            ("cat", Ends::AsciiWord, "a cat.", true),
            ("gate", Ends::AsciiWord, "moon_gate", false),
            ("caf", Ends::AsciiWord, "café", true),
            ("caf", Ends::Word, "café", false),
            ("京", Ends::AsciiWord, "东京", true),
            ("AI", Ends::Word, "问AI助手", true),
            ("AI", Ends::Word, "MAIN", false),
            ("#tag", Ends::AsciiEdge, "x#tag", true),
            ("#tag", Ends::AsciiEdge, "x#tags", false),
            ("#tag", Ends::AsciiWord, "x#tag", false),
            ("白鹭", Ends::AsciiBreak, "a 白鹭 b", false),
            ("dr chen", Ends::AsciiBreak, "(dr chen)", true),
        ] {
            assert_eq!(found(key, ends, text), expected, "{key} {ends:?} {text}");
        }
    }

    #[test]
    fn keys_do_not_shadow_each_other() {
        let keys = ["king", "king of thieves", "of", "thieves"];
        let set = KeySet::new(keys.map(|key| (key.into(), Ends::Word)).to_vec()).expect("keys");
        let found: Vec<usize> = set
            .found("the king of thieves")
            .iter()
            .map(|one| one.key)
            .collect();
        assert_eq!(found, [0, 1, 2, 3]);
    }

    #[test]
    fn each_key_is_told_once_with_its_last_occurrence() {
        let set = KeySet::new(vec![("a".into(), Ends::Any)]).expect("a key");
        assert_eq!(set.found("banana"), [Found { key: 0, last: 5 }]);
    }

    #[test]
    fn an_empty_key_stands_in_every_text() {
        assert!(found("", Ends::AsciiWord, ""));
        assert!(found("", Ends::Any, "x"));
    }
}
