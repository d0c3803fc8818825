//! The terms of a document, paragraph by paragraph.

use super::key::{FAMILIES, Key};
use super::terms::{FamilyTerms, Row, UnitSpan};
use crate::code::scan::names::{each_call, each_part};
use crate::text::analyzer::{Term, each_term};

/// How often the words of a definition's name count.
const NAME_COUNTS: usize = 2;

/// The term of a definition of `name`; no word has a space in it.
pub fn defined(name: &str) -> String {
    format!("def {name}")
}

/// The term of a call of `name`.
pub fn called(name: &str) -> String {
    format!("call {name}")
}

/// Collects the terms of a document, paragraph by paragraph.
#[derive(Debug, Default)]
pub struct Collector {
    /// Per family of text: key in the upper half, paragraph in the lower.
    found: [Vec<u64>; FAMILIES - 1],
}

impl Collector {
    /// Take in the text of paragraph number `paragraph`; its length in terms (pairs and words).
    pub fn add(&mut self, paragraph: u32, text: &str) -> u32 {
        let mut length = 0;
        each_term(text, |term| {
            length += u32::from(!matches!(term, Term::Single(_)));
            let Key { family, number } = Key::of(term);
            self.found[family as usize].push(u64::from(number) << 32 | u64::from(paragraph));
        });
        length
    }

    /// Take in what source code says beside its plain words: the parts of `camelCase` names, and what is called.
    pub fn add_code(&mut self, paragraph: u32, text: &str) {
        each_part(text, |part| {
            self.add(paragraph, part);
        });
        each_call(text, |name| self.add_term(paragraph, &called(name)));
    }

    /// Take in the name under which source code stands: each word of it counts twice, as a title does.
    pub fn add_name(&mut self, paragraph: u32, name: &str) {
        for _ in 0..NAME_COUNTS {
            self.add(paragraph, name);
            each_part(name, |part| {
                self.add(paragraph, part);
            });
        }
    }

    /// Take in a term that is no word of the text.
    pub fn add_term(&mut self, paragraph: u32, term: &str) {
        let Key { family, number } = Key::of(Term::Word(term));
        self.found[family as usize].push(u64::from(number) << 32 | u64::from(paragraph));
    }

    /// The families of text, in their order.
    pub fn finish(self, units: &[UnitSpan]) -> [FamilyTerms; FAMILIES - 1] {
        self.found.map(|mut found| {
            sort(&mut found);
            let rows: Vec<Row> = found
                .chunk_by(|a, b| a == b)
                .map(|same| ((same[0] >> 32) as u32, same[0] as u32, same.len() as u32))
                .collect();
            FamilyTerms::from_rows(&rows, units)
        })
    }
}

/// Fewer are sorted as anything else is.
const FEW: usize = 256;
const DIGIT: usize = 11;

/// Sort by key, then by paragraph; a text gives its paragraphs in order, and then the keys alone have to be sorted.
///
/// Cost: three passes; a third of what comparing them takes.
/// Source: least significant digit first, as in Knuth, The Art of Computer Programming, 5.2.5.
fn sort(found: &mut Vec<u64>) {
    if found.len() < FEW || !found.is_sorted_by_key(|one| *one as u32) {
        return found.sort_unstable();
    }
    let used = found.iter().fold(0, |bits, one| bits | one);
    let mut next = vec![0; found.len()];
    for shift in (32..64).step_by(DIGIT) {
        if used >> shift == 0 {
            break;
        }
        let digit = |one: u64| (one >> shift) as usize & ((1 << DIGIT) - 1);
        let mut places = [0_u32; 1 << DIGIT];
        for &one in &*found {
            places[digit(one)] += 1;
        }
        let mut place = 0;
        for count in &mut places {
            place += std::mem::replace(count, place);
        }
        for &one in &*found {
            let place = &mut places[digit(one)];
            next[*place as usize] = one;
            *place += 1;
        }
        std::mem::swap(found, &mut next);
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::Family;
    use super::*;
    use proptest::prelude::*;

    fn rows_of(family: &FamilyTerms, units: &[UnitSpan]) -> Vec<Row> {
        let mut rows = Vec::new();
        family.each_row(units, |key, paragraph, count| {
            rows.push((key, paragraph, count));
        });
        rows
    }

    proptest! {
        #[test]
        fn terms_are_sorted_by_key_and_paragraph(
            keys in proptest::collection::vec(prop_oneof![0..300_u32, any::<u32>()], 0..900), ordered in any::<bool>(),
        ) {
            let paragraph = |at: usize| if ordered { at / 7 } else { at % 7 } as u64;
            let mut found: Vec<u64> = keys.iter().enumerate().map(|(at, &key)| u64::from(key) << 32 | paragraph(at)).collect();
            let mut expected = found.clone();
            expected.sort_unstable();
            sort(&mut found);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn repeated_terms_are_counted_per_paragraph() {
        let mut collector = Collector::default();
        assert_eq!(collector.add(0, "灯灯灯 lamp"), 3);
        collector.add(1, "the lamps, a lamp");
        let units = [(0, 2)];
        let families = collector.finish(&units);
        let word = Key::of(Term::Word("lamp")).number;
        assert_eq!(
            rows_of(&families[Family::Word as usize], &units),
            [(word, 0, 1), (word, 1, 2)]
        );
        assert_eq!(
            rows_of(&families[Family::Character as usize], &units),
            [(u32::from('灯'), 0, 3)]
        );
    }
}
