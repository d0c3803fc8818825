//! Text to search terms: what two spellings of one thought have in common.
//!
//! Scripts written without spaces (Han, kana, Thai, Khmer, Lao, Myanmar) and Hangul give pairs of neighbouring
//! characters, and single characters apart from them; other scripts give words, English ones with
//! their endings off.

use crate::interrupt::stretches;
use crate::text::normalize;

/// Words that every English text is full of: they say nothing about which passage is meant.
const STOP: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by", "can",
    "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "here", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "may", "me", "might", "my", "no",
    "not", "of", "on", "or", "our", "s", "she", "should", "so", "t", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "was", "we", "were",
    "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "with", "would",
    "you", "your",
];

/// One term of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term<'w> {
    /// Two neighbouring characters of a script without spaces.
    Pair(char, char),
    /// One such character.
    Single(char),
    /// A word without its inflection.
    Word(&'w str),
}

/// Whether `c` belongs to a script whose words are not set apart by spaces (Hangul counts among them: its
/// particles hang on the word, and pairs see through them).
pub fn unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x3005..=0x3007 | 0x3041..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7a3 | 0xf900..=0xfaff
        | 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x20000..=0x3ffff)
}

/// Call `found` with every term of `text`, in the order of their ends.
pub fn each_term(text: &str, mut found: impl FnMut(Term<'_>)) {
    let mut previous: Option<char> = None;
    let mut word = String::new();
    for stretch in stretches(text).chain([" "]) {
        for raw in stretch.chars() {
            let c = narrow(raw);
            if unspaced(c) {
                end_word(&mut word, &mut found);
                if let Some(before) = previous {
                    found(Term::Pair(before, c));
                }
                found(Term::Single(c));
                previous = Some(c);
                continue;
            }
            previous = None;
            let inside = if is_apostrophe(c) {
                !word.is_empty()
            } else {
                c.is_alphanumeric() || is_mark(c)
            };
            if !inside {
                end_word(&mut word, &mut found);
                continue;
            }
            if is_apostrophe(c) {
                word.push('\'');
            } else {
                word.extend(c.to_lowercase());
            }
        }
    }
}

/// The terms of `text` as strings, without single characters: pairs and stems.
pub fn term_strings(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    each_term(text, |term| match term {
        Term::Pair(a, b) => out.push([a, b].iter().collect()),
        Term::Single(_) => {}
        Term::Word(word) => out.push(word.to_owned()),
    });
    out
}

fn end_word(word: &mut String, found: &mut impl FnMut(Term<'_>)) {
    if word.is_empty() {
        return;
    }
    let stop = |word: &str| word.is_empty() || STOP.binary_search(&word).is_ok();
    let stemmed = stem(word);
    if !stop(word) && !stop(&stemmed) {
        found(Term::Word(&stemmed));
    }
    word.clear();
}

fn narrow(c: char) -> char {
    match u32::from(c) {
        0xff01..=0xff5e => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

fn is_apostrophe(c: char) -> bool {
    c == '\'' || normalize::is_apostrophe(c)
}

fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36f | 0x0591..=0x05c7 | 0x064b..=0x0652 | 0x0900..=0x0903 | 0x093a..=0x094f)
}

/// What French puts before a word that begins with a vowel.
const ELIDED: &[&str] = &[
    "c", "d", "j", "jusqu", "l", "lorsqu", "m", "n", "puisqu", "qu", "quoiqu", "s", "t",
];

/// A word without what is elided before it: l'archive, d'une, jusqu'au.
fn without_elided(word: &str) -> &str {
    match word.split_once('\'') {
        Some((before, rest)) if rest.len() > 1 && ELIDED.binary_search(&before).is_ok() => rest,
        _ => word,
    }
}

fn is_latin(c: char) -> bool {
    c.is_ascii() || matches!(c, '\u{c0}'..='\u{24f}')
}

/// A word of Latin letters without its inflection and what French elides before it; words of other alphabets unchanged.
///
/// A light stemmer: it must bring together the forms of one verb or noun (marries, married, marry),
/// not of a family (marriage stays apart).
pub fn stem(word: &str) -> String {
    let word = word.trim_end_matches('\'');
    let word = without_elided(word.strip_suffix("'s").unwrap_or(word));
    if !(word.is_ascii() || word.chars().all(is_latin))
        || word.len() <= 3
        || word.bytes().any(|b| b.is_ascii_digit())
    {
        return word.to_owned();
    }
    if word.len() == 4 && word.is_ascii() {
        let plural = word.ends_with('s')
            && !word.ends_with("ss")
            && !word.ends_with("us")
            && !word.ends_with("is");
        return if plural {
            word[..3].to_owned()
        } else {
            word.to_owned()
        };
    }
    let mut stem = word.to_owned();
    for (ending, instead) in [
        ("ingly", ""),
        ("edly", ""),
        ("ing", ""),
        ("ied", "y"),
        ("ies", "y"),
        ("ed", ""),
        ("es", ""),
        ("s", ""),
        ("ly", ""),
    ] {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.len() + instead.len() >= 3
            && rest.bytes().any(|b| b"aeiouy".contains(&b))
            && !(ending == "s" && rest.ends_with(['s', 'u', 'i']))
        {
            stem = format!("{rest}{instead}");
            break;
        }
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    let bytes = stem.as_bytes();
    if let [.., a, b] = bytes
        && a == b
        && stem.len() > 3
        && b.is_ascii()
        && !matches!(b, b'l' | b's' | b'e' | b'o')
    {
        stem.pop();
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_english_word_share_a_stem() {
        for forms in [
            &["marry", "marries", "married", "marrying"][..],
            &["stab", "stabs", "stabbed", "stabbing"],
            &["bribe", "bribes", "bribed", "bribing"],
            &["lamp", "lamps", "lamp's"],
            &["witch", "witches"],
            &["kill", "kills", "killed", "killing"],
            &["cigarette", "cigarettes"],
            &["ancien", "anciennes", "ancienne", "l'ancien"],
            &["étoile", "étoiles", "l'étoile", "d'étoiles"],
            &["forcé", "forcée", "forcées"],
            &["exemplaire", "d'exemplaires", "qu'exemplaire"],
        ] {
            let first = stem(forms[0]);
            assert!(
                forms.iter().all(|form| stem(form) == first),
                "{forms:?}: {first}"
            );
        }
        assert_ne!(stem("ring"), stem("red"));
    }

    #[test]
    fn pairs_do_not_cross_punctuation_and_stop_words_are_no_terms() {
        assert_eq!(
            term_strings("林黛玉，笑道 The LAMPs of ＡＢ"),
            ["林黛", "黛玉", "笑道", "lamp", "ab"]
        );
    }

    #[test]
    fn every_apostrophe_is_the_same() {
        for written in ["O'Neill", "O’Neill", "O‘Neill", "Oʼneill", "‘O’Neill’s’"] {
            assert_eq!(term_strings(written), ["o'neill"], "{written}");
        }
    }

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP.is_sorted());
    }
}
