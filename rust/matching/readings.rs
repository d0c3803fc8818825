//! How a reader tells that the characters of a name are not the name here.
//!
//! Two rules about an occurrence of a name whose entity is a person, or whose spelling is doubted:
//!
//! - kin: a bare Chinese kin term (二姐) before its own last character is a longer kin term (二姐姐).
//! - doubtful: what was learnt from the project's own documents (`ambiguity`).
//!
//! What each pays, book by book, is in `docs/decisions/0011-names-that-are-words.md`.

use crate::matching::ambiguity::Doubt;
use crate::matching::boundary::Reason;

/// What an entity is, as far as the rules care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Not known, or no person: only doubts about a capital apply.
    #[default]
    Other,
    /// A person: every rule applies.
    Person,
}

/// What the surroundings of `start..end` in `text` have against its being a mention of an entity of `kind`.
pub fn rejection(
    text: &str,
    start: usize,
    end: usize,
    kind: Kind,
    doubt: Option<&Doubt>,
) -> Option<Reason> {
    if kind == Kind::Person && longer_kin_term(&text[start..end], &text[end..]) {
        return Some(Reason::KinTerm);
    }
    doubt
        .filter(|doubt| kind == Kind::Person || doubt.is_about_case())
        .filter(|doubt| doubt.holds(text, start, end))
        .map(|_| Reason::Doubtful)
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
