//! Source text and its index: whatever they hold, what is found lies inside.

use std::ops::Range;
use std::path::Path;

use super::input::Input;
use crate::code::graph::build::build;
use crate::code::index::scip::read_from;
use crate::code::index::symbol_id::parse;
use crate::code::scan::blocks::blocks;
use crate::code::scan::names::{each_call, each_part};
use crate::code::scan::position::{Encoding, Lines};
use crate::code::scan::python::outline;

/// Source text of whatever language.
pub fn outlines(data: &[u8]) {
    let mut input = Input::new(data);
    let encoding = Encoding::from_scip(u64::from(input.byte() % 4));
    let text = input.text(1500);
    let inside = |range: &Range<usize>| {
        assert!(
            text.get(range.clone()).is_some(),
            "{range:?} of {}",
            text.len()
        );
    };
    let python = outline(&text);
    assert_eq!(python, outline(&text));
    let mut around: Vec<Range<usize>> = Vec::new();
    for one in &python.blocks {
        inside(&one.name);
        inside(&one.extent);
        one.bases.iter().for_each(inside);
        assert!(one.extent.start <= one.name.start && one.name.end <= one.extent.end);
        assert!(one.header_end <= text.len());
        while around
            .last()
            .is_some_and(|outer| outer.end <= one.extent.start)
        {
            around.pop();
        }
        assert!(
            around
                .last()
                .is_none_or(|outer| one.extent.end <= outer.end),
            "not nested"
        );
        around.push(one.extent.clone());
    }
    python
        .imports
        .iter()
        .chain(&python.assigned)
        .for_each(inside);
    let mut start = 0;
    for one in blocks(&text) {
        inside(&one.name);
        inside(&one.extent);
        assert!(one.extent.start <= one.name.start && one.name.end <= one.extent.end);
        assert!(start <= one.extent.start, "out of order");
        start = one.extent.start;
    }
    each_call(&text, |name| assert!(name.len() > 1 && text.contains(name)));
    each_part(&text, |part| {
        assert!(!part.is_empty() && text.contains(part));
    });
    let lines = Lines::new(&text, encoding);
    for (at, _) in text.char_indices().take(200) {
        assert_eq!(lines.offset(lines.position(at)), Some(at));
    }
}

/// An index file of SCIP.
pub fn scip(data: &[u8]) {
    let size = data.len() as u64;
    let Ok(found) = read_from(data, size) else {
        return;
    };
    assert!(found.rows.len() <= data.len(), "more rows than bytes");
    for row in &found.rows {
        assert!((row.document as usize) < found.documents.len());
        assert!((row.symbol as usize) < found.symbols.len());
    }
    for symbol in &found.symbols {
        if let Some(id) = parse(symbol) {
            assert!(!id.name().is_empty(), "{symbol:?}");
        }
    }
    // Where nothing of it is on disk, the texts are those that it carries.
    let nowhere = Path::new("/nonexistent/armarius");
    let graph = build(&found, nowhere);
    for edge in &graph.edges {
        assert!((edge.from.max(edge.to) as usize) < graph.nodes.len());
        assert!((edge.document as usize) < graph.documents.len());
    }
    let again = build(&found, nowhere);
    assert_eq!(
        (graph.nodes.len(), graph.edges.len()),
        (again.nodes.len(), again.edges.len())
    );
}
