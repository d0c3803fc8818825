//! Lexical vectors: hashed character n-grams, no model.
//!
//! Two texts are close when they share characters and words, never because they mean the same.
//! Grams are the single characters and pairs of a run of Han or kana, and the words and letter
//! triples of anything else alphanumeric. Each gram adds `±sqrt(count) * weight` to one hashed
//! coordinate (Weinberger et al. 2009, the hashing trick with signs); the sum is normalised.
//! Function characters and words weigh little, or 的 and "the" would decide every comparison.

#![expect(
    clippy::cast_precision_loss,
    reason = "counts of grams, far below 2^23"
)]

use crate::interrupt::{Pace, paced};
use unicode_normalization::UnicodeNormalization;

/// Closed-class characters of modern and older vernacular Chinese: particles, pronouns, conjunctions,
/// prepositions, copulas, common adverbs and measure words.
const FUNCTION_CHARS: &str = "的了是在不有一这那个我你他她它们就也都又还很着过得地把被给让从向到对与和或而且但若如\
    因为所以之其于乃亦则即便却只才吗呢吧么啊呀哪谁什怎此彼自己来去上下里说道没要会能可将曾已";

/// Closed-class words of English.
const FUNCTION_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "did", "do", "does", "for", "from",
    "had", "has", "have", "he", "her", "him", "his", "how", "i", "if", "in", "is", "it", "its",
    "me", "my", "no", "not", "of", "on", "or", "our", "s", "she", "so", "that", "the", "their",
    "them", "then", "there", "they", "this", "to", "was", "we", "were", "what", "when", "where",
    "which", "who", "why", "will", "with", "would", "you", "your",
];

/// Weight of a gram that is all function characters; one that is half of them gets its square root.
const FUNCTION_WEIGHT: f32 = 0.09;

/// As many grams are sorted in a few milliseconds; the sort of more looks whether to go on.
const MANY: usize = 1 << 16;

/// One normalised vector per text, row-major. A text without letters or digits is a row of zeros.
///
/// Cost: one pass and one sort of the grams; about 20 MB of text a second per core.
#[must_use]
pub fn embed<S: AsRef<str>>(texts: &[S], dimension: usize) -> Vec<f32> {
    let mut out = vec![0.0_f32; texts.len() * dimension];
    if dimension > 0 {
        let mut grams = Vec::new();
        for (text, row) in texts.iter().zip(out.chunks_exact_mut(dimension)) {
            grams.clear();
            collect(text.as_ref(), &mut grams);
            fill(&mut grams, row);
        }
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Cjk,
    Word,
    Other,
}

fn script(c: char) -> Script {
    match c {
        '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}'
        | '\u{3041}'..='\u{30ff}' => Script::Cjk,
        _ if c.is_alphanumeric() => Script::Word,
        _ => Script::Other,
    }
}

fn collect(text: &str, grams: &mut Vec<(u64, f32)>) {
    let folded: Vec<char> = paced(text.chars())
        .nfkc()
        .flat_map(char::to_lowercase)
        .collect();
    let mut pace = Pace::new();
    for run in folded.chunk_by(|a, b| script(*a) == script(*b)) {
        pace.step(run.len());
        match script(run[0]) {
            Script::Cjk => {
                for size in 1..=2 {
                    grams.extend(
                        paced(run.windows(size))
                            .map(|gram| (hash(gram, size as u64), weight(gram))),
                    );
                }
            }
            Script::Word => {
                let word: String = run.iter().collect();
                if FUNCTION_WORDS.binary_search(&word.as_str()).is_ok() {
                    grams.push((hash(run, 0), FUNCTION_WEIGHT));
                    continue;
                }
                grams.push((hash(run, 0), 1.0));
                let edged: Vec<char> = std::iter::once('<')
                    .chain(run.iter().copied())
                    .chain(['>'])
                    .collect();
                // three letters say less than a word: together a word's triples weigh about as much as it does
                let share = 1.0 / (run.len() as f32).sqrt();
                grams.extend(edged.windows(3).map(|gram| (hash(gram, 3), share)));
            }
            Script::Other => {}
        }
    }
}

fn weight(gram: &[char]) -> f32 {
    let function = gram.iter().filter(|c| FUNCTION_CHARS.contains(**c)).count();
    FUNCTION_WEIGHT.powf(function as f32 / gram.len() as f32)
}

fn fill(grams: &mut [(u64, f32)], row: &mut [f32]) {
    // sorted, so that sums are added in the same order on every machine
    if grams.len() < MANY {
        grams.sort_unstable_by_key(|gram| gram.0);
    } else {
        let mut pace = Pace::new();
        grams.sort_unstable_by_key(|gram| {
            pace.step(1);
            gram.0
        });
    }
    for same in grams.chunk_by(|a, b| a.0 == b.0) {
        let (hash, weight) = same[0];
        let value = (same.len() as f32).sqrt() * weight;
        let place = (hash % row.len() as u64) as usize;
        row[place] += if hash >> 63 == 0 { value } else { -value };
    }
    let norm = row
        .iter()
        .map(|v| f64::from(*v) * f64::from(*v))
        .sum::<f64>()
        .sqrt();
    if norm > 0.0 {
        for value in row.iter_mut() {
            *value = (f64::from(*value) / norm) as f32;
        }
    }
}

/// FNV-1a over the code points, then a finaliser (`SplitMix64`) so that every bit depends on every character.
fn hash(gram: &[char], kind: u64) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325_u64 ^ kind;
    for c in gram {
        h = (h ^ u64::from(u32::from(*c))).wrapping_mul(0x0100_0000_01b3);
    }
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ (h >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let v = embed(&[a, b], 1024);
        v[..1024].iter().zip(&v[1024..]).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn function_words_are_sorted_for_binary_search() {
        assert!(FUNCTION_WORDS.is_sorted());
    }

    #[test]
    fn shared_names_make_texts_close_and_shared_particles_do_not() {
        assert!(
            cosine("林小雨的妹妹", "小雨来了") > cosine("他的那个是什么", "她的这个是什么吗") * 0.2
        );
        assert!(cosine("林小雨走了", "林小雨病了") > cosine("林小雨走了", "王大山走了"));
        assert!(
            cosine("the silver river", "silver rivers")
                > cosine("the silver river", "the golden gate")
        );
    }

    #[test]
    fn width_and_case_do_not_matter() {
        assert!((cosine("ＡＩ写作", "ai写作") - 1.0).abs() < 1e-5);
    }

    #[test]
    fn a_text_without_letters_is_a_row_of_zeros() {
        assert!(embed(&["……！", ""], 64).iter().all(|v| *v == 0.0));
    }

    proptest! {
        #[test]
        fn a_row_does_not_depend_on_its_neighbours(a in ".{0,40}", b in ".{0,40}") {
            let both = embed(&[&a, &b], 128);
            prop_assert_eq!(&both[128..], &embed(&[&b], 128)[..]);
            let norm: f32 = both[..128].iter().map(|v| v * v).sum();
            prop_assert!(norm == 0.0 || (norm - 1.0).abs() < 1e-4);
        }
    }
}
