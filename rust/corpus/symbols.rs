//! Where source code defines and calls a name.

use super::collect::{called, defined};
use super::corpus::Corpus;
use super::key::{Key, key_of_term};

/// Paragraphs by path and index.
pub type Places<'c> = Vec<(&'c str, u32)>;

/// Where `name` is defined, by path and index.
pub fn definitions<'c>(corpus: &'c Corpus, name: &str) -> Places<'c> {
    key_of_term(&defined(name)).map_or_else(Vec::new, |key| places(corpus, key))
}

/// Where `name` is called, by path and index.
pub fn calls<'c>(corpus: &'c Corpus, name: &str) -> Places<'c> {
    key_of_term(&called(name)).map_or_else(Vec::new, |key| places(corpus, key))
}

fn places(corpus: &Corpus, key: Key) -> Places<'_> {
    let mut found = Vec::new();
    for (postings, slots) in corpus.postings(key) {
        for (slot, block) in postings {
            if let Some(number) = slots.unit(slot) {
                let unit = &corpus.table.units[number as usize];
                let document = &corpus.documents[unit.document as usize];
                let first = unit.first - document.first_paragraph;
                block.each(|at, _| found.push((document.rows.path.as_str(), first + at)));
            }
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::super::part::Part;
    use super::super::rows::{Kind, Role, Unit};
    use super::*;

    fn part(path: &str, text: &str, name: &str) -> Part {
        let spans = [(0, text.chars().count() as u32, Role::Body)];
        let unit = Unit {
            label: String::new(),
            chapter: None,
            first: 0,
        };
        Part::with_names(
            path,
            Kind::Code,
            text,
            &spans,
            vec![unit],
            &[(0, name, name)],
        )
        .expect("a part")
    }

    #[test]
    fn definitions_and_calls_are_found_by_name_and_by_nothing_else() {
        let parts = vec![
            part("b.py", "def lightLamp(): wick()", "lightLamp"),
            part("a.py", "def wick(): lightLamp(); lightLamp", "wick"),
        ];
        let corpus = Corpus::new(parts).expect("a corpus");
        assert_eq!(definitions(&corpus, "lightLamp"), [("b.py", 0)]);
        assert_eq!(calls(&corpus, "lightLamp"), [("a.py", 0)]);
        assert_eq!(calls(&corpus, "wick"), [("b.py", 0)]);
        assert!(definitions(&corpus, "light").is_empty());
        let changed = corpus
            .with(vec![part("b.py", "def wick(): pass", "wick")], &[])
            .expect("a corpus");
        assert_eq!(definitions(&changed, "wick"), [("a.py", 0), ("b.py", 0)]);
        assert!(definitions(&changed, "lightLamp").is_empty());
    }

    #[test]
    fn a_name_of_a_paragraph_that_is_not_there_is_an_error() {
        let error = Part::with_names("a.py", Kind::Code, "", &[], Vec::new(), &[(0, "x", "x")]);
        assert!(error.is_err_and(|e| e.to_string().contains("a.py: name \"x\" of paragraph 0")));
    }
}
