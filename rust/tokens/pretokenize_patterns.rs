//! The scanners held against the published regular expressions, run by a regex engine.

use std::sync::LazyLock;

use fancy_regex::Regex;
use proptest::prelude::*;

use super::classes::Classes;
use super::pretokenize::Grammar;

const TAIL: &str = r"\s*[\r\n]+|\s+(?!\S)|\s+";
const CONTRACTION: &str = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";

/// The pattern of a grammar as its publisher writes it; `DeepSeek` has three, see below.
fn pattern(grammar: Grammar) -> String {
    let cl100k = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";
    let llama = format!(
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
        Grammar::Llama => llama,
        Grammar::Qwen => llama.replace("{1,3}", ""),
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
        let found = found.expect("match");
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
    let compile = |pattern: &String| Regex::new(pattern).expect("pattern");
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

fn scanned(grammar: Grammar, text: &str) -> Vec<String> {
    let (scan, mut parts, mut at) = (grammar.scan(), Vec::new(), 0);
    while at < text.len() {
        let end = scan(Classes::get(), text.as_bytes(), at);
        parts.push(text[at..end].to_owned());
        at = end;
    }
    parts
}

const GRAMMARS: [Grammar; 8] = [
    Grammar::Cl100k,
    Grammar::Llama,
    Grammar::Qwen,
    Grammar::QwenMarks,
    Grammar::O200k,
    Grammar::Tekken,
    Grammar::Kimi,
    Grammar::DeepSeek,
];

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
}
