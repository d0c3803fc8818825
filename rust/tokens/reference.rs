//! What counting has to equal: the published regular expressions, run by a regex engine, and the definition of merging.
//!
//! Slow, and made of none of the parts it is held against. For tests and fuzzing only.

use std::sync::LazyLock;

use fancy_regex::Regex;
use unicode_normalization::UnicodeNormalization;

use super::encodings;
use super::pretokenize::Grammar;
use super::vocab::{NONE, Vocab};

/// Tokens of `text` by the definition; `None` for an encoding that does not ship.
///
/// Cost: the square of the longest piece.
pub fn count(encoding: &str, text: &str) -> Option<usize> {
    let encoding = encodings::find(encoding)?;
    let bpe = encoding.bpe().ok()?;
    let (grammar, normalizes) = bpe.rules();
    let composed: String = if normalizes {
        text.nfc().collect()
    } else {
        text.to_owned()
    };
    let (_, splits) = SPLITS.iter().find(|(one, _)| *one == grammar)?;
    let pieces = expected(splits, &composed);
    Some(
        pieces
            .iter()
            .map(|piece| tokens(bpe.vocab(), piece.as_bytes()))
            .sum(),
    )
}

/// A whole piece that is a token is one, whether or not merging leads to it.
fn tokens(vocab: &Vocab, piece: &[u8]) -> usize {
    if piece.len() == 1 || vocab.rank(piece, 0, piece.len()) != NONE {
        return 1;
    }
    merged(vocab, piece)
}

/// The definition, word for word: the neighbours of lowest rank, the leftmost of equals, until none are a token.
pub(super) fn merged(vocab: &Vocab, text: &[u8]) -> usize {
    let mut edges: Vec<usize> = (0..=text.len()).collect();
    loop {
        let pairs = edges.windows(3).enumerate();
        let best = pairs.map(|(i, w)| (vocab.rank(text, w[0], w[2]), i)).min();
        match best {
            Some((rank, i)) if rank != NONE => edges.remove(i + 1),
            _ => return edges.len() - 1,
        };
    }
}

const TAIL: &str = r"\s*[\r\n]+|\s+(?!\S)|\s+";
const CONTRACTION: &str = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";

/// The pattern of a grammar as its publisher writes it; `DeepSeek` has three, see below.
fn pattern(grammar: Grammar) -> String {
    let cl100k = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";
    let glm = format!(
        r"{CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{TAIL}"
    );
    let (up, low) = (r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}");
    let cased = |not: &str, suffix: &str, number: &str, tail: &str| {
        let (up, low) = (format!("[{up}{not}]"), format!("[{low}{not}]"));
        let first = r"[^\r\n\p{L}\p{N}]?";
        format!(
            r"{first}{up}*{low}+{suffix}|{first}{up}+{low}*{suffix}|{number}| ?[^\s\p{{L}}\p{{N}}]+[{tail}]*|{TAIL}"
        )
    };
    let contraction = format!("{CONTRACTION}?");
    match grammar {
        Grammar::Cl100k => cl100k.to_owned(),
        Grammar::Glm => glm,
        Grammar::Qwen => glm.replace("{1,3}", ""),
        Grammar::QwenMarks => format!(
            r"{CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{TAIL}"
        ),
        Grammar::O200k => cased("", &contraction, r"\p{N}{1,3}", r"\r\n/"),
        Grammar::Tekken => cased("", "", r"\p{N}", r"\r\n/"),
        Grammar::Kimi => {
            let cased = cased(r"&&[^\p{Han}]", &contraction, r"\p{N}{1,3}", r"\r\n");
            format!(r"[\p{{Han}}]+|{cased}")
        }
        Grammar::DeepSeek => {
            let word = r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*";
            format!(r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{{|}}~][A-Za-z]+|{word}|{TAIL}"##)
        }
    }
}

/// Hugging Face's `Split` with `Isolated`: matches and what lies between them.
fn split(regex: &Regex, text: &str) -> Vec<String> {
    let (mut parts, mut at) = (Vec::new(), 0);
    for found in regex.find_iter(text) {
        let found = found.expect("a match of a published pattern");
        parts.extend([&text[at..found.start()], found.as_str()].map(str::to_owned));
        at = found.end();
    }
    parts.push(text[at..].to_owned());
    parts.retain(|part| !part.is_empty());
    parts
}

/// The splits of every grammar, one after the other.
static SPLITS: LazyLock<Vec<(Grammar, Vec<Regex>)>> = LazyLock::new(|| {
    let splits = |grammar| match grammar {
        Grammar::DeepSeek => vec![
            r"\p{N}{1,3}".to_owned(),
            "[一-龥\u{3040}-\u{309F}\u{30A0}-\u{30FF}]+".to_owned(),
            pattern(grammar),
        ],
        _ => vec![pattern(grammar)],
    };
    let compile = |pattern: &String| Regex::new(pattern).expect("a published pattern");
    GRAMMARS
        .map(|grammar| (grammar, splits(grammar).iter().map(compile).collect()))
        .into()
});

fn expected(splits: &[Regex], text: &str) -> Vec<String> {
    let whole = vec![text.to_owned()];
    splits.iter().fold(whole, |parts, regex| {
        parts.iter().flat_map(|part| split(regex, part)).collect()
    })
}

const GRAMMARS: [Grammar; 8] = [
    Grammar::Cl100k,
    Grammar::Glm,
    Grammar::Qwen,
    Grammar::QwenMarks,
    Grammar::O200k,
    Grammar::Tekken,
    Grammar::Kimi,
    Grammar::DeepSeek,
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::classes::Classes;
    use super::super::{Counter, encoding_names};
    use super::*;

    fn scanned(grammar: Grammar, text: &str) -> Vec<String> {
        let (scan, mut parts, mut at) = (grammar.scan(), Vec::new(), 0);
        while at < text.len() {
            let end = scan(Classes::get(), text.as_bytes(), at);
            parts.push(text[at..end].to_owned());
            at = end;
        }
        parts
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn scanners_equal_the_patterns(
            text in r"(?s)([ \t\r\n\u{3000}'/sStTlLrREevVdDmMaB01９½Ⅷ中文かカ々〇⺀。，！\-_=.<>#é\u{301}ǅʰſЖا\u{200d}\u{e000}😀]|'re|\n\n|  ){0,24}",
            any in "(?s).{0,16}",
        ) {
            for (grammar, splits) in SPLITS.iter() {
                for text in [&text, &any] {
                    prop_assert_eq!(scanned(*grammar, text), expected(splits, text), "{:?} {:?}", grammar, text);
                }
            }
        }

        #[test]
        fn counts_equal_the_definition(
            text in r"(?s)([ \r\n/sStTlL01９½中文かカ々，！\-_.<é\u{301}ǅЖ\u{200d}😀]|'re|the|ing|宝玉|来了|\n\n){0,40}",
            any in "(?s).{0,24}",
        ) {
            for name in encoding_names() {
                let counter = Counter::for_encoding(name).expect("ships");
                for text in [&text, &any] {
                    prop_assert_eq!(counter.count(text).ok(), count(name, text), "{} {:?}", name, text);
                }
            }
        }
    }
}
