//! Parts as bytes, and bytes that are no parts.

use super::*;
use crate::corpus::wire::{from_bytes, resealed, to_bytes};

proptest! {
    #[test]
    fn a_part_survives_its_bytes(draft in draft(3)) {
        let part = draft.part();
        let bytes = to_bytes(&part);
        prop_assert_eq!(&from_bytes(&bytes).unwrap(), &part);
        prop_assert_eq!(to_bytes(&from_bytes(&bytes).unwrap()), bytes);
    }

    #[test]
    fn a_changed_byte_is_noticed(draft in draft(3), at in any::<prop::sample::Index>(), other in 1..=255_u8) {
        let mut bytes = to_bytes(&draft.part());
        let at = at.index(bytes.len());
        bytes[at] ^= other;
        prop_assert!(from_bytes(&bytes).is_err());
        bytes.truncate(at);
        prop_assert!(from_bytes(&bytes).is_err());
    }

    /// With the checksum made right again the rest has to hold: an error, or a part that can be used.
    #[test]
    fn hostile_bytes_end_in_an_error_or_a_part_that_works(
        draft in draft(3),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = to_bytes(&draft.part());
        for (at, byte) in changes {
            let at = 14 + at.index(bytes.len() - 14);
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(14 + cut.index(bytes.len() - 14));
        }
        if let Ok(part) = from_bytes(&resealed(bytes)) {
            let corpus = Corpus::new(vec![part]).unwrap();
            let found = crate::corpus::score::score(&corpus, &query()).unwrap();
            prop_assert!(found.scores.iter().all(|score| score.is_finite()));
        }
    }

    #[test]
    fn any_bytes_after_a_right_beginning_are_read_without_a_panic(rest in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = to_bytes(&empty())[..14].to_vec();
        bytes.extend(rest);
        let _ = from_bytes(&resealed(bytes));
    }
}

fn empty() -> Part {
    Part::new("empty.md", Kind::Note, "", &[], Vec::new()).unwrap()
}

#[test]
fn an_empty_document_is_a_part_and_a_project_without_documents_a_corpus() {
    assert_eq!(from_bytes(&to_bytes(&empty())).unwrap(), empty());
    let corpus = Corpus::new(vec![empty()]).unwrap();
    assert!(
        crate::corpus::score::score(&corpus, &query())
            .unwrap()
            .scores
            .is_empty()
    );
    let nothing = Corpus::new(Vec::new()).unwrap();
    assert!(
        crate::corpus::score::score(&nothing, &query())
            .unwrap()
            .units
            .is_empty()
    );
}

#[test]
fn another_version_is_told_from_damage() {
    let mut bytes = to_bytes(&empty());
    bytes[4] += 1;
    assert!(
        from_bytes(&bytes)
            .unwrap_err()
            .to_string()
            .contains("another version")
    );
    assert!(
        from_bytes(b"PK")
            .unwrap_err()
            .to_string()
            .contains("not a part")
    );
}
