//! How a reader tells that the characters of a name are not the name here, mostly in Chinese.
//!
//! Rules about the characters around an occurrence, for entities whose kind is known. Each is a closed
//! class of the language, none is a list of words of one book:
//!
//! - kin: a bare kin term (二姐) before its own last character is a longer kin term (二姐姐).
//! - counted: after a number and a measure word for things (一块宝玉) stands a thing, not a person.
//! - negated: 不 negates verbs; between it and a name a word ends that the name's first character begins (打报不平儿).
//! - household: after a rank of nobility a bare title (临安伯老太太) is that house's.
//! - verse: in lines of five or seven characters two characters of a name are more often their plain words.
//! - doubtful: what was learnt from the project's own documents (`doubt`).
//!
//! Measured with `benches/eval_mentions.py`; the reasons are in `docs/decisions/0011-names-that-are-words.md`.

use crate::matching::ambiguity::Doubt;
use crate::matching::boundary::Reason;

/// What an entity is, as far as the rules care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Not known, or a place or group: no rule applies.
    #[default]
    Other,
    /// A person: every rule applies.
    Person,
    /// A thing: only verse.
    Thing,
}

/// What the surroundings of `start..end` in `text` have against its being a mention of an entity of `kind`.
pub fn rejection(
    text: &str,
    start: usize,
    end: usize,
    kind: Kind,
    doubt: Option<&Doubt>,
) -> Option<Reason> {
    let alias = &text[start..end];
    if let Some(doubt) = doubt.filter(|doubt| doubt.is_about_case()) {
        return doubt.holds(text, start, end).then_some(Reason::Doubtful);
    }
    if kind == Kind::Other {
        return None;
    }
    let (before, after) = (&text[..start], &text[end..]);
    if kind == Kind::Person {
        if longer_kin_term(alias, after) {
            return Some(Reason::KinTerm);
        }
        if counted(before) {
            return Some(Reason::Counted);
        }
        if negated(before) {
            return Some(Reason::SplitsWord);
        }
        let noble = before.ends_with(['伯', '侯']) && !before.ends_with("时侯");
        if noble && alias.chars().all(|c| TITLE.contains(c)) {
            return Some(Reason::OtherHousehold);
        }
    }
    if in_verse(text, start, end) {
        return Some(Reason::Verse);
    }
    doubt
        .filter(|doubt| doubt.holds(text, start, end))
        .map(|_| Reason::Doubtful)
}

const RANK: &str = "大二三四五六七八九十小老";
const KIN: &str = "姐妹哥弟叔伯舅婶姨姑嫂奶爷公婆";
/// The characters that bare titles of a household consist of.
const TITLE: &str = "大二三四五六七八九十小老少太姐妹哥弟叔伯舅婶姨姑嫂奶爷公婆娘夫人祖宗";
const NUMBERS: &str = "一二两三四五六七八九十几数百千半这那";
/// Measure words that count things by shape and never persons.
const MEASURES: &str = "颗块串粒枚朵株棵匹把";
/// Characters that 不 ends a word with, so that a name may follow.
const ENDS_WITH_NOT: &str = "要莫可岂倒再除若何并";

fn longer_kin_term(alias: &str, after: &str) -> bool {
    let mut characters = alias.chars();
    let (Some(rank), Some(kin), None) = (characters.next(), characters.next(), characters.next())
    else {
        return false;
    };
    RANK.contains(rank) && KIN.contains(kin) && after.starts_with(kin)
}

fn counted(before: &str) -> bool {
    let mut back = before.chars().rev();
    back.next().is_some_and(|c| MEASURES.contains(c))
        && back.next().is_some_and(|c| NUMBERS.contains(c))
}

fn negated(before: &str) -> bool {
    before
        .strip_suffix('不')
        .and_then(|rest| rest.chars().next_back())
        .is_some_and(|c| is_han(c) && !ENDS_WITH_NOT.contains(c))
}

/// Whether the line or quotation around an alias of two characters is verse: at least two phrases, all of
/// five or all of seven Han characters, without the particles and pronouns of prose.
fn in_verse(text: &str, start: usize, end: usize) -> bool {
    if text[start..end].chars().count() > 2 {
        return false;
    }
    let edge = |c: char| "\n\r“”‘’「」『』《》\"".contains(c);
    // The phrase itself first: most are of another length, and then nothing more is read.
    let phrase = |c: char| !is_han(c);
    let left = text[..start]
        .chars()
        .rev()
        .take(8)
        .take_while(|c| !phrase(*c))
        .count();
    let right = text[end..]
        .chars()
        .take(8)
        .take_while(|c| !phrase(*c))
        .count();
    let length = left + text[start..end].chars().count() + right;
    if length != 5 && length != 7 {
        return false;
    }
    let from = text[..start].rfind(edge).map_or(0, |at| {
        at + text[at..].chars().next().map_or(1, char::len_utf8)
    });
    let to = text[end..].find(edge).map_or(text.len(), |at| end + at);
    let region = &text[from..to];
    if region.len() > LONGEST_VERSE || region.contains(|c| PROSE.contains(c)) {
        return false;
    }
    let mut phrases = region.split(phrase).filter(|piece| !piece.is_empty());
    let all = phrases.clone().all(|piece| piece.chars().count() == length);
    all && phrases.nth(1).is_some()
}

/// In bytes: a long ballad written in one line.
const LONGEST_VERSE: usize = 2000;
const PROSE: &str = "了的吗呢吧啊呀着你我他她它们这么说道";

fn is_han(character: char) -> bool {
    (0x3400..0xA000).contains(&(character as u32))
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
    fn surroundings_decide_as_a_reader_would() {
        for (text, alias, expected) in [
            ("他的二姐姐来了", "二姐", Some(Reason::KinTerm)),
            ("二姐笑道", "二姐", None),
            ("凤姐姐来了", "凤姐", None),
            ("一块宝玉", "宝玉", Some(Reason::Counted)),
            ("几颗珍珠", "珍珠", Some(Reason::Counted)),
            ("一个宝玉不够", "宝玉", None),
            ("打抱不平儿子", "平儿", Some(Reason::SplitsWord)),
            ("要不平儿去", "平儿", None),
            ("去不？平儿说", "平儿", None),
            ("镇南侯老太太", "老太太", Some(Reason::OtherHousehold)),
            ("见了老太太", "老太太", None),
            (
                "窗前明月照珍珠，门外清风入小楼。",
                "珍珠",
                Some(Reason::Verse),
            ),
            ("你去请珍珠，我去看小红。", "珍珠", None),
            ("扶了珍珠回去", "珍珠", None),
        ] {
            assert_eq!(judged(text, alias), expected, "{text}");
        }
    }
}
