//! Truncation held against its definition: try every cut, count every piece.

use proptest::prelude::*;

use crate::text::segment::floor;
use crate::tokens::Counter;
use crate::truncate::prefix_counts::Side;
use crate::truncate::{Boundary, Keep, truncate};

const BOUNDARIES: [Boundary; 3] = [Boundary::Character, Boundary::Sentence, Boundary::Paragraph];

/// The longest piece by trying every one, with the same ladder of boundaries.
fn naive(
    counter: &Counter,
    text: &str,
    budget: usize,
    side: Side,
    boundary: Boundary,
) -> (usize, usize) {
    let count = |text: &str| counter.count(text).expect("count");
    if count(text) <= budget {
        return (0, text.len());
    }
    let mut step = Some(boundary);
    while let Some(boundary) = step {
        let mut places = (0..=text.len())
            .filter(|at| text.is_char_boundary(*at) && boundary.allows(side, text, *at));
        let found = match side {
            Side::Head => places
                .rev()
                .find(|at| *at > 0 && count(&text[..*at]) <= budget)
                .map(|at| (0, at)),
            Side::Tail => places
                .find(|at| *at < text.len() && count(&text[*at..]) <= budget)
                .map(|at| (at, text.len())),
        };
        if let Some(found) = found {
            return found;
        }
        step = boundary.finer();
    }
    match side {
        Side::Head => (0, 0),
        Side::Tail => (text.len(), text.len()),
    }
}

const PIECES: &str = "([a-zA-Z]{1,9}|[0-9]{1,9}|林黛玉|宝玉笑道|[。！？，…」\"]|[.!?]|'s|\n|\n\n| {1,5}|👨‍👩‍👧|é|e\u{301}|=+|(哈|a| |哈他){200}|/|가나다)";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cuts_are_the_longest_that_fit(
        parts in prop::collection::vec(PIECES, 0..25),
        budget in 0_usize..40,
        encoding in prop::sample::select(vec!["o200k", "cl100k", "deepseek", "qwen", "kimi"]),
    ) {
        let (text, counter) = (parts.concat(), Counter::for_encoding(encoding).expect("encoding"));
        for boundary in BOUNDARIES {
            for (keep, side) in [(Keep::Head, Side::Head), (Keep::Tail, Side::Tail)] {
                let cut = truncate(&counter, &text, budget, keep, boundary).expect("cut");
                let expected = naive(&counter, &text, budget, side, boundary);
                prop_assert_eq!((cut.start, cut.end), expected, "{:?} {:?} {:?}", keep, boundary, text);
                prop_assert_eq!(cut.tokens, counter.count(&text[cut.start..cut.end]).expect("count"));
            }
        }
    }

    #[test]
    fn what_stays_around_a_place_fits_and_holds_the_place(
        parts in prop::collection::vec(PIECES, 0..25),
        budget in 8_usize..60,
        place in 0_usize..1000,
        estimate in any::<bool>(),
    ) {
        let text = parts.concat();
        let anchor = floor(&text, text.len() * place / 1000);
        let counter = if estimate {
            Counter::estimate(String::new())
        } else {
            Counter::for_encoding("o200k").expect("encoding")
        };
        for boundary in BOUNDARIES {
            let cut = truncate(&counter, &text, budget, Keep::Around(anchor), boundary).expect("cut");
            prop_assert_eq!(cut.tokens, counter.count(&text[cut.start..cut.end]).expect("count"));
            prop_assert!(cut.tokens <= budget);
            prop_assert!(cut.start <= anchor);
        }
    }
}
