//! Keys of lorebooks, held against a search of every place; expressions, which end.

use super::input::Input;
use crate::books::keys::{Ends, Found, KeySet};
use crate::books::patterns::{Answer, Flags, Pattern};

/// Keys, a line each, an expression, a text.
pub fn keys(data: &[u8]) {
    let mut input = Input::new(data);
    let flags = input.byte();
    let count = input.below(6);
    let mut keys = Vec::new();
    for _ in 0..count {
        let ends = Ends::from_number(input.byte() % 5).expect("five rules");
        keys.push((input.line(24).into_boxed_str(), ends));
    }
    let pattern = input.line(40);
    let text = input.text(300);
    let set = KeySet::new(keys.clone()).expect("a few keys");
    let mut expected = Vec::new();
    for (key, (written, ends)) in keys.iter().enumerate() {
        let places = (0..=text.len()).filter(|at| text.is_char_boundary(*at));
        let stands = |at: &usize| text[*at..].starts_with(&**written);
        let last = if written.is_empty() {
            Some(0)
        } else {
            let free = |at: &usize| {
                let before = text[..*at].chars().next_back();
                let after = text[*at + written.len()..].chars().next();
                ends.allow(before, written, after)
            };
            places.filter(stands).rfind(free)
        };
        expected.extend(last.map(|last| Found { key, last }));
    }
    assert_eq!(set.found(&text), expected);
    let flags = Flags {
        ignore_case: flags & 1 != 0,
        multi_line: flags & 2 != 0,
        dot_all: flags & 4 != 0,
    };
    if let Ok(pattern) = Pattern::new(&pattern, flags) {
        let found = pattern.search(&text);
        assert_eq!(found, pattern.search(&text));
        if let Answer::At(at) = found {
            assert!(text.is_char_boundary(at));
        }
    }
}
