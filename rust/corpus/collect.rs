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
            found.sort_unstable();
            let rows: Vec<Row> = found
                .chunk_by(|a, b| a == b)
                .map(|same| ((same[0] >> 32) as u32, same[0] as u32, same.len() as u32))
                .collect();
            FamilyTerms::from_rows(&rows, units)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::Family;
    use super::*;

    fn rows_of(family: &FamilyTerms, units: &[UnitSpan]) -> Vec<Row> {
        let mut rows = Vec::new();
        family.each_row(units, |key, paragraph, count| {
            rows.push((key, paragraph, count));
        });
        rows
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
