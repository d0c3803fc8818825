//! Words of the index and of a search; pieces of a long text.

use super::input::Input;
use crate::text::analyzer::{each_term, stem, term_strings};
use crate::text::bigrams::{find_terms, grams as grams_of, index_tokens, phrase};
use crate::text::lexical::embed;
use crate::text::pieces::pieces as pieces_of;
use crate::text::segment::{ceil, ends_sentence, floor, starts_sentence};

/// A term, a line end, a text.
pub fn grams(data: &[u8]) {
    let mut input = Input::new(data);
    let term = input.line(24);
    let text = input.text(300);
    let points = text.chars().count() as u32;
    let tokens = index_tokens(&text);
    assert_eq!(tokens, index_tokens(&text));
    assert!(!tokens.contains('"') && !tokens.contains("  ") && tokens.trim() == tokens);
    let indexed: Vec<&str> = tokens.split(' ').collect();
    let grams = grams_of(&text);
    for (number, gram) in grams.iter().enumerate() {
        assert!(indexed.contains(&gram.as_str()), "{gram:?} is not indexed");
        assert!(!grams[..number].contains(gram), "{gram:?} twice");
    }
    let spans = find_terms(&text, std::slice::from_ref(&term));
    assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    assert!(
        spans
            .iter()
            .all(|(start, end)| start < end && *end <= points)
    );
    if phrase(&term).is_empty() {
        assert!(spans.is_empty() && index_tokens(&term).is_empty());
    }
    // What a text is cut out of stands in it, where it was cut out.
    let plain = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let chars: Vec<char> = text.chars().collect();
    let run = chars.iter().position(|c| plain(*c));
    if let Some(from) = run {
        let to = from
            + chars[from..]
                .iter()
                .take_while(|c| plain(**c))
                .count()
                .min(4);
        // A combining mark behind the run belongs to its last character.
        let to = if to < chars.len() && !plain(chars[to]) {
            to - 1
        } else {
            to
        };
        if to > from {
            let piece: String = chars[from..to].iter().collect();
            let found = find_terms(&text, &[piece]);
            assert!(
                found
                    .iter()
                    .any(|(start, end)| *start as usize <= from && to <= *end as usize)
            );
        }
    }
    let vector = embed(&[text.as_str()], 64);
    let length: f32 = vector.iter().map(|x| x * x).sum();
    assert!(
        vector.len() == 64 && (length == 0.0 || (length - 1.0).abs() < 1e-3),
        "{length}"
    );
}

/// A limit, a text.
pub fn pieces(data: &[u8]) {
    let mut input = Input::new(data);
    let limit = 1 + input.below(80);
    let text = input.text(500);
    let chars: Vec<char> = text.chars().collect();
    let blank = |from: usize, to: usize| chars[from..to].iter().all(|c| c.is_whitespace());
    let mut end = 0;
    for (start, stop) in pieces_of(&text, limit) {
        assert!(end <= start && start < stop && stop - start <= limit);
        assert!(blank(end, start), "left out between {end} and {start}");
        assert!(!chars[start].is_whitespace() && !chars[stop - 1].is_whitespace());
        end = stop;
    }
    assert!(blank(end, chars.len()));
    for at in 0..=text.len() {
        let (before, after) = (floor(&text, at), ceil(&text, at));
        assert!(before <= at && at <= after && after - before <= 4);
        if before == after {
            assert_eq!(ends_sentence(&text, at), ends_sentence(&text, at));
            let _ = starts_sentence(&text, at);
        }
    }
    let terms = term_strings(&text);
    assert_eq!(terms, term_strings(&text));
    let mut number = 0;
    each_term(&text, |_| number += 1);
    assert!(terms.len() <= number);
    for term in terms.iter().filter(|term| term.is_ascii()) {
        assert!(stem(term).len() <= term.len() + 1, "{term}");
    }
}
