//! Counts held against the definition; cuts held against every place where the text could be cut.

use super::input::Input;
use crate::text::segment::is_grapheme_boundary;
use crate::tokens::{Counter, encoding_names, reference};
use crate::truncate::{Boundary, Keep, truncate};

thread_local! {
    static COUNTERS: Vec<Counter> = encoding_names()
        .into_iter()
        .filter_map(|name| Counter::for_encoding(name).ok())
        .chain([Counter::estimate(String::new())])
        .collect();
}

/// An encoding, a place to divide at, a text.
pub fn counters(data: &[u8]) {
    let mut input = Input::new(data);
    let (which, place) = (usize::from(input.byte()), input.number());
    let text = input.text(300);
    COUNTERS.with(|counters| {
        let counter = &counters[which % counters.len()];
        let count = |text: &str| counter.count(text).expect("a count");
        let whole = count(&text);
        let bound = counters.last().and_then(|one| one.upper_bound(&text).ok());
        assert!(
            bound.is_some_and(|bound| whole <= bound),
            "{whole} of {bound:?}"
        );
        let Some(name) = counter.encoding() else {
            return;
        };
        assert_eq!(Some(whole), reference::count(name, &text), "{name}");
        let mut at = place % (text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let (before, after) = (text[..at].trim_end(), &text[at..]);
        if !before.is_empty() && counter.starts_safely(after) {
            let before = format!("{before}\n\n");
            let joined = format!("{before}{after}");
            assert_eq!(count(&joined), count(&before) + count(after), "{name}");
        }
    });
}

/// A counter, what stays, where it may be cut, a budget, an anchor, a text.
pub fn truncation(data: &[u8]) {
    let mut input = Input::new(data);
    let (which, budget) = (usize::from(input.byte()), usize::from(input.byte()));
    let boundary = [Boundary::Character, Boundary::Sentence, Boundary::Paragraph][input.below(3)];
    let (side, place) = (input.below(3), input.number());
    let text = input.text(600);
    let anchor = place % (text.len() + 1);
    let keep = [Keep::Head, Keep::Tail, Keep::Around(anchor)][side];
    COUNTERS.with(|counters| {
        let counter = &counters[which % counters.len()];
        let count = |text: &str| counter.count(text).expect("a count");
        let cut = truncate(counter, &text, budget, keep, boundary).expect("a cut");
        assert_eq!(
            cut,
            truncate(counter, &text, budget, keep, boundary).expect("a cut")
        );
        assert!(cut.start <= cut.end && cut.end <= text.len());
        for edge in [cut.start, cut.end] {
            assert!(text.is_char_boundary(edge) && is_grapheme_boundary(&text, edge));
        }
        assert_eq!(cut.tokens, count(&text[cut.start..cut.end]));
        assert!(cut.tokens <= budget);
        if count(&text) <= budget {
            assert_eq!((cut.start, cut.end), (0, text.len()), "all of it fits");
        }
        match keep {
            Keep::Head => assert_eq!(cut.start, 0),
            Keep::Tail => assert_eq!(cut.end, text.len()),
            Keep::Around(_) => {}
        }
        // In short texts no stretch is blank to the ruler: the cut is the last place of all.
        if boundary == Boundary::Character && text.len() <= 200 && counter.additive() {
            let whole = |at: &usize| text.is_char_boundary(*at) && is_grapheme_boundary(&text, *at);
            let mut places = (0..=text.len()).filter(whole);
            match keep {
                Keep::Head => {
                    let last = places.rfind(|at| count(&text[..*at]) <= budget);
                    assert_eq!(Some(cut.end), last);
                }
                Keep::Tail => {
                    let first = places.find(|at| count(&text[*at..]) <= budget);
                    assert_eq!(Some(cut.start), first);
                }
                Keep::Around(_) => {}
            }
        }
    });
}
