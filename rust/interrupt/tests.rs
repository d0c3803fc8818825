//! The looks themselves, and that every loop which a long text makes long takes them.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use super::*;
use crate::corpus::part::Part;
use crate::corpus::rows::{Kind, Role, Unit};
use crate::matching::matcher::Matcher;
use crate::text::{bigrams, lexical, normalize, pieces};
use crate::tokens::{Counter, encoding_names};
use crate::truncate::{Boundary, Keep, truncate};

/// Says no at look number `last`, counted from 1, and counts them.
fn until(last: usize) -> (Rc<Cell<usize>>, impl FnMut() -> bool + 'static) {
    let looks = Rc::new(Cell::new(0));
    let counted = Rc::clone(&looks);
    (looks, move || {
        counted.set(counted.get() + 1);
        counted.get() < last
    })
}

#[test]
fn work_that_is_told_to_stop_leaves_at_that_look_and_other_work_goes_on() {
    let (looks, ask) = until(3);
    let done = ending(ask, || {
        loop {
            checkpoint();
        }
    });
    assert_eq!((done, looks.get()), (None::<()>, 3));
    assert_eq!(ending(|| true, || 7), Some(7));
    checkpoint();
}

#[test]
fn what_is_asked_may_ask_the_core_again() {
    let inner = Rc::new(Cell::new(None));
    let seen = Rc::clone(&inner);
    let ask = move || {
        seen.set(ending(
            || false,
            || {
                checkpoint();
                1
            },
        ));
        true
    };
    let done = ending(ask, || {
        checkpoint();
        2
    });
    assert_eq!((done, inner.get()), (Some(2), None));
}

#[test]
fn a_panic_is_no_end() {
    let panics = std::panic::catch_unwind(|| ending(|| true, || panic!("of the work")));
    assert!(panics.is_err());
    checkpoint();
}

#[test]
fn work_aside_is_waited_for_and_left_alone_when_told_to_stop() {
    assert_eq!(ending(|| true, || aside(|| 5)), Some(5));
    assert_eq!(aside(|| 6), 6);
    let (go, wait) = channel::<()>();
    let begun = Instant::now();
    let done = ending(|| false, || aside(move || wait.recv().is_ok()));
    assert_eq!(done, None);
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "it was waited for"
    );
    drop(go);
}

#[test]
fn a_panic_aside_is_a_panic_here() {
    let work = || ending(|| true, || aside(|| panic!("of the thread")));
    assert!(std::panic::catch_unwind(work).is_err());
}

/// How often `work` looked, all of it.
fn looks(work: impl FnOnce()) -> usize {
    let (looks, ask) = until(usize::MAX);
    assert_eq!(ending(ask, work), Some(()));
    looks.get()
}

/// A call that knows nothing but its text.
type Short = fn(&str);

/// A call that grows with its text.
type Long = Box<dyn Fn(&str)>;

fn long_calls() -> Vec<(String, Long)> {
    let mut calls: Vec<(String, Long)> = Vec::new();
    for name in encoding_names() {
        let counter = Counter::for_encoding(name).expect("ships");
        let count = move |text: &str| assert!(counter.count(text).is_ok());
        calls.push((format!("count {name}"), Box::new(count)));
    }
    for (keep, name) in [
        (Keep::Head, "head"),
        (Keep::Tail, "tail"),
        (Keep::Around(9), "around"),
    ] {
        let counter = Counter::for_encoding("o200k").expect("ships");
        let cut = move |text: &str| {
            let cut = truncate(&counter, text, text.len() / 8, keep, Boundary::Sentence);
            assert!(cut.is_ok());
        };
        calls.push((format!("truncate {name}"), Box::new(cut)));
    }
    let matcher = Matcher::new([("a", ["白鹭"]), ("b", ["Éva"])]).expect("names");
    let matcher = Rc::new(matcher);
    for (name, find) in [
        (
            "find_all",
            (|m: &Matcher, t: &str| drop(m.find_all(t))) as fn(&Matcher, &str),
        ),
        ("find_overlapping", |m, t| drop(m.find_overlapping(t))),
        ("explain", |m, t| drop(m.explain(t))),
        ("detect", |m, t| drop(m.detect(t))),
        ("find_packed", |m, t| drop(m.find_packed(0, t))),
    ] {
        let matcher = Rc::clone(&matcher);
        calls.push((name.to_owned(), Box::new(move |text| find(&matcher, text))));
    }
    let estimate = |text: &str| {
        let counter = Counter::estimate(String::new());
        assert!(counter.count(text).is_ok() && counter.upper_bound(text).is_ok());
    };
    let part = |text: &str| {
        let unit = Unit {
            label: String::new(),
            chapter: None,
            first: 0,
        };
        let span = (0, text.chars().count() as u32, Role::Body);
        assert!(Part::new("a.md", Kind::Note, text, &[span], vec![unit]).is_ok());
    };
    let others: [(&str, Short); 7] = [
        ("estimate", estimate),
        ("part", part),
        // What folding leaves alone is copied at a nanosecond a byte, in one go.
        ("fold", |text| {
            drop(normalize::fold(&text.replace('了', "É")));
        }),
        ("index_tokens", |text| drop(bigrams::index_tokens(text))),
        ("grams", |text| drop(bigrams::grams(text))),
        ("pieces", |text| drop(pieces::pieces(text, 50))),
        ("lexical", |text| drop(lexical::embed(&[text], 64))),
    ];
    for (name, call) in others {
        calls.push((name.to_owned(), Box::new(call)));
    }
    calls
}

/// Prose of both scripts, and text without a place where words end: letters, Han, blanks, marks that combine.
fn texts() -> Vec<String> {
    [
        "白鹭来了，又走了。Éva said: it rains.\n",
        "白鹭来了又走了",
        "白鹭，Éva。\n",
        "e\u{301}va か\u{3099}",
    ]
    .map(|piece| piece.repeat(STRETCH * 60 / piece.len()))
    .into()
}

#[test]
fn every_long_call_looks_again_and_again_and_can_be_ended() {
    for (name, call) in long_calls() {
        for text in texts() {
            let all = looks(|| call(&text));
            let some = text.len() / STRETCH / 8;
            assert!(all >= some, "{name}: {all} looks in {} bytes", text.len());
            for at in [1, 2, all / 2, all] {
                let (_, ask) = until(at.max(1));
                assert_eq!(
                    ending(ask, || call(&text)),
                    None,
                    "{name}, look {at} of {all}"
                );
            }
            assert_eq!(
                looks(|| call(&text)),
                all,
                "{name}: what was ended left something behind"
            );
        }
    }
}

#[test]
fn a_word_of_letters_without_end_is_merged_in_stretches() {
    let counter = Counter::for_encoding("o200k").expect("ships");
    let word = "abcdefgh".repeat(STRETCH * 8);
    let count = || counter.count(&word).expect("a count");
    let whole = count();
    assert!(looks(|| assert_eq!(count(), whole)) >= 8);
}

#[test]
fn a_matcher_of_many_names_is_built_aside_and_is_the_same() {
    let names: Vec<String> = (0..5000).map(|number| format!("名{number}字")).collect();
    let build = || Matcher::new(names.iter().map(|name| (name.as_str(), [name.as_str()])));
    let text = "名77字和名4999字";
    let plain = build().expect("names").find_all(text);
    let watched = ending(|| true, || build().expect("names").find_all(text));
    assert_eq!(watched, Some(plain));
    let (_, ask) = until(3);
    assert!(ending(ask, || build().is_ok()).is_none());
}
