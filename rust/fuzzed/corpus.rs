//! A document of the corpus, and bytes that were one.

use super::input::Input;
use crate::corpus::corpus::Corpus;
use crate::corpus::part::Part;
use crate::corpus::rows::{Kind, Role, Unit};
use crate::corpus::wire::{from_bytes, resealed, to_bytes};

/// Spans of paragraphs, a text; then changes to the bytes that it becomes.
pub fn parts(data: &[u8]) {
    let mut input = Input::new(data);
    let kind = Kind::ALL[input.below(Kind::ALL.len())];
    let (spans, changes) = (input.below(5), input.below(5));
    let (mut rows, mut end) = (Vec::new(), 0);
    for _ in 0..spans {
        let start = end + u32::from(input.byte() % 4);
        end = start + u32::from(input.byte() % 64);
        rows.push((start, end, Role::ALL[input.below(Role::ALL.len())]));
    }
    let changes: Vec<(usize, u8)> = (0..changes)
        .map(|_| (input.number(), input.byte()))
        .collect();
    let cut = input.number();
    if input.byte() == 0 {
        // Not a part at all, or the bytes of one as they are.
        let _ = from_bytes(input.rest(4096));
        return;
    }
    let text = input.text(300);
    let unit = Unit {
        label: "x".to_owned(),
        chapter: Some(3),
        first: 0,
    };
    let units = if rows.is_empty() { vec![] } else { vec![unit] };
    let made = Part::new("a.md", kind, &text, &rows, units);
    let points = text.chars().count() as u32;
    let Ok(part) = made else {
        assert!(end > points, "refused: {rows:?} of {points}");
        return;
    };
    let entities: Vec<(u32, &str, u32)> = (0..rows.len() as u32).map(|at| (at, "bai", 2)).collect();
    let part = part
        .with_entities(&entities)
        .expect("paragraphs that there are");
    let mut bytes = to_bytes(&part);
    let read = from_bytes(&bytes).expect("what was written");
    assert_eq!(read, part);
    assert_eq!(to_bytes(&read), bytes);
    for (at, byte) in &changes {
        let at = 14 + at % (bytes.len() - 14);
        bytes[at] = *byte;
    }
    if cut.is_multiple_of(3) {
        bytes.truncate(14 + cut % (bytes.len() - 14));
    }
    // With the checksum made right again: an error, or a part that can be used.
    if let Ok(part) = from_bytes(&resealed(bytes)) {
        let again = from_bytes(&to_bytes(&part)).expect("what was written");
        assert_eq!(again, part);
        assert!(Corpus::new(vec![part]).is_ok());
    }
}
