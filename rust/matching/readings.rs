//! How a reader tells that the characters of a name are not the name here.
//!
//! - kin: a bare Chinese kin term (二姐), a person's, before its own last character is a longer kin term (二姐姐).
//! - word: a short form that nobody listed needs its capital (`capitals`).
//!
//! What each pays, book by book, is in `docs/decisions/0011-names-that-are-words.md`.

use crate::matching::boundary::Reason;
use crate::matching::capitals;

/// What an entity is, as far as the rules care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Not known, or no person.
    #[default]
    Other,
    /// A person.
    Person,
}

/// What the surroundings of `start..end` in `text` have against its being a mention of an entity of `kind`; `short` is the
/// spelling of a short form that nobody listed.
pub fn rejection(
    text: &str,
    start: usize,
    end: usize,
    kind: Kind,
    short: Option<&str>,
) -> Option<Reason> {
    if kind == Kind::Person && longer_kin_term(&text[start..end], &text[end..]) {
        return Some(Reason::KinTerm);
    }
    short
        .filter(|spelled| capitals::is_word(spelled, text, start, end))
        .map(|_| Reason::Word)
}

const RANK: &str = "大二三四五六七八九十小老";
const KIN: &str = "姐妹哥弟叔伯舅婶姨姑嫂奶爷公婆";

fn longer_kin_term(alias: &str, after: &str) -> bool {
    let mut characters = alias.chars();
    let (Some(rank), Some(kin), None) = (characters.next(), characters.next(), characters.next())
    else {
        return false;
    };
    RANK.contains(rank) && KIN.contains(kin) && after.starts_with(kin)
}

#[cfg(test)]
mod tests {
    use super::{Kind, rejection};
    use crate::matching::boundary::Reason;

    fn judged(text: &str, alias: &str) -> Option<Reason> {
        let start = text.find(alias)?;
        rejection(text, start, start + alias.len(), Kind::Person, None)
    }

    #[test]
    fn a_kin_term_before_its_own_last_character_is_a_longer_one() {
        for (text, alias, expected) in [
            ("他的二姐姐来了", "二姐", Some(Reason::KinTerm)),
            ("二姐笑道", "二姐", None),
            ("凤姐姐来了", "凤姐", None),
        ] {
            assert_eq!(judged(text, alias), expected, "{text}");
        }
    }

    #[test]
    fn everyday_sentences_of_equal_length_keep_their_people() {
        for text in [
            "小雨在厨房，林默在书房。",
            "小雨推开门，林默抬起头。",
            "一块小雨",
            "不小雨",
        ] {
            assert_eq!(judged(text, "小雨"), None, "{text}");
        }
    }
}
