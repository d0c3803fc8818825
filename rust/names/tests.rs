use proptest::collection::vec;
use proptest::prelude::*;

use super::packed::{from_bytes, to_bytes};
use super::sum::Sum;
use super::{Counted, Key, PARTS};

const PLACES: u32 = 300;
const SHAPE: [usize; 4] = [1, 2, 3, 2];

/// Counts that own their names.
type Owned = (Vec<(u32, u32)>, Vec<Vec<([String; PARTS], u32)>>);

/// Names of few letters, so that rows share parts.
fn owned() -> impl Strategy<Value = Owned> {
    let characters = proptest::collection::btree_map(0..PLACES, 1..900_u32, 0..20)
        .prop_map(|map| map.into_iter().collect::<Vec<_>>());
    let row = (vec("[ab林雨]{0,2}", PARTS), 1..400_u32);
    let table = vec(row, 0..12);
    (characters, vec(table, SHAPE.len())).prop_map(|(characters, tables)| {
        let tables = tables.into_iter().zip(SHAPE).map(|(rows, parts)| {
            let keyed = rows.into_iter().map(|(mut key, times)| {
                key[parts..].iter_mut().for_each(String::clear);
                (<[String; PARTS]>::try_from(key).expect("as many"), times)
            });
            let unique: std::collections::BTreeMap<_, _> = keyed.collect();
            unique.into_iter().collect()
        });
        (characters, tables.collect())
    })
}

fn key(names: &[String; PARTS]) -> Key<'_> {
    [
        names[0].as_bytes(),
        names[1].as_bytes(),
        names[2].as_bytes(),
    ]
}

fn borrowed(owned: &Owned) -> Counted<'_> {
    Counted {
        characters: owned.0.clone(),
        tables: owned
            .1
            .iter()
            .map(|rows| {
                rows.iter()
                    .map(|(names, times)| (key(names), *times))
                    .collect()
            })
            .collect(),
    }
}

/// With the checksum made right again, so that what comes after it is reached.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = crate::corpus::wire::checksum(&bytes[9..]);
    bytes[1..9].copy_from_slice(&sum.to_le_bytes());
    bytes
}

proptest! {
    #[test]
    fn what_was_written_is_read(owned in owned()) {
        let counted = borrowed(&owned);
        let bytes = to_bytes(&counted, &SHAPE);
        prop_assert_eq!(from_bytes(&bytes, PLACES, &SHAPE), Ok(counted));
    }

    #[test]
    fn a_changed_byte_or_a_cut_is_an_error(owned in owned(), at in any::<usize>(), flip in 1..=255_u8) {
        let bytes = to_bytes(&borrowed(&owned), &SHAPE);
        let mut changed = bytes.clone();
        changed[at % bytes.len()] ^= flip;
        prop_assert!(from_bytes(&changed, PLACES, &SHAPE).is_err());
        prop_assert!(from_bytes(&bytes[..at % bytes.len()], PLACES, &SHAPE).is_err());
    }

    #[test]
    fn with_a_checksum_that_fits_damage_is_an_error_or_counts_that_are_written_again(
        owned in owned(), changes in vec((any::<usize>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = to_bytes(&borrowed(&owned), &SHAPE);
        for (at, byte) in changes {
            let at = 9 + at % (bytes.len() - 9);
            bytes[at] = byte;
        }
        let bytes = resealed(bytes);
        if let Ok(counted) = from_bytes(&bytes, PLACES, &SHAPE) {
            let again = to_bytes(&counted, &SHAPE);
            prop_assert_eq!(from_bytes(&again, PLACES, &SHAPE), Ok(counted));
        }
    }

    #[test]
    fn a_sum_is_that_of_its_documents_and_damage_adds_nothing(all in vec(owned(), 0..5)) {
        let mut packed: Vec<Vec<u8>> = all.iter().map(|one| to_bytes(&borrowed(one), &SHAPE)).collect();
        packed.push(b"x\x9c".to_vec());
        let mut sum = Sum::new(PLACES, SHAPE.len());
        let sound: Vec<bool> = packed.iter().map(|bytes| sum.add(bytes, &SHAPE)).collect();
        prop_assert_eq!(sound.iter().filter(|sound| **sound).count(), all.len());
        prop_assert!(!sound[all.len()]);
        for place in 0..PLACES {
            let times = all.iter().flat_map(|one| &one.0).filter(|row| row.0 == place);
            let total: u64 = times.map(|row| u64::from(row.1)).sum();
            prop_assert_eq!(u64::from(sum.characters[place as usize]), total);
        }
        for (at, table) in sum.tables.iter().enumerate() {
            let rows = all.iter().flat_map(|one| &one.1[at]);
            prop_assert_eq!(
                table.rows().iter().map(|row| u64::from(row.1)).sum::<u64>(),
                rows.clone().map(|row| u64::from(row.1)).sum::<u64>()
            );
            for (numbers, total) in table.rows() {
                let name: Key<'_> = numbers.map(|number| sum.names[number as usize]);
                let same = rows.clone().filter(|row| key(&row.0) == name);
                prop_assert_eq!(u64::from(*total), same.map(|row| u64::from(row.1)).sum::<u64>());
            }
        }
    }
}

#[test]
fn what_is_not_in_order_or_does_not_occur_is_an_error() {
    let rows = |rows: &[(&'static str, u32)]| Counted {
        characters: vec![],
        tables: vec![
            rows.iter()
                .map(|(name, times)| ([name.as_bytes(), b"", b""], *times))
                .collect(),
        ],
    };
    let read = |counted: &Counted<'_>| from_bytes(&to_bytes(counted, &[1]), PLACES, &[1]).is_ok();
    assert!(read(&rows(&[("a", 1), ("b", 2)])));
    assert!(!read(&rows(&[("b", 1), ("a", 2)])));
    assert!(!read(&rows(&[("a", 1), ("a", 2)])));
    assert!(!read(&rows(&[("a", 0)])));
    let places = |place, times| Counted {
        characters: vec![(place, times)],
        tables: vec![vec![]],
    };
    assert!(read(&places(PLACES - 1, 1)));
    assert!(!read(&places(PLACES, 1)));
    assert!(!read(&places(1, 0)));
}

#[test]
fn a_lone_surrogate_is_kept_and_other_bytes_that_are_no_text_are_an_error() {
    let named = |name: &'static [u8]| Counted {
        characters: vec![],
        tables: vec![vec![([name, b"", b""], 1)]],
    };
    let read = |name| from_bytes(&to_bytes(&named(name), &[1]), PLACES, &[1]).is_ok();
    assert!(read(b"a\xed\xa0\x80b"));
    assert!(!read(b"a\xff"));
    assert!(!read(b"\xed\xa0"));
}
