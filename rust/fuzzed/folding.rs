//! One spelling of a text, with the way back.

use super::input::Input;
use crate::text::normalize::{changes, fold};
use crate::text::offsets::CodePoints;

/// A text.
pub fn folding(data: &[u8]) {
    let text = Input::new(data).text(120);
    let folded = fold(&text);
    assert_eq!(fold(&folded.text).text, folded.text, "folding again");
    if !text.chars().any(changes) {
        assert_eq!(folded.text, text.as_str());
    }
    // Pieces between two neighbouring places with a way back fold to what stands there.
    let mut last: Option<(usize, usize)> = None;
    for at in 0..=folded.text.len() {
        if !folded.text.is_char_boundary(at) {
            continue;
        }
        if let Some(end) = folded.end_in_original(at) {
            assert!(text.is_char_boundary(end), "{at} -> {end}");
            if let Some((from, start)) = last {
                assert!(start <= end);
                assert_eq!(fold(&text[start..end]).text, &folded.text[from..at]);
            }
        }
        if let Some(start) = folded.start_in_original(at) {
            assert!(text.is_char_boundary(start) && last.is_none_or(|(_, before)| before <= start));
            last = Some((at, start));
        }
    }
    let mut cursor = CodePoints::new(&text);
    for (number, (byte, _)) in text.char_indices().enumerate() {
        assert_eq!(cursor.at(byte), number);
    }
}
