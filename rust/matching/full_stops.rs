//! A title written short, with its full stop and without: "Mr. Finch" and "Mr Finch" are one name.

use crate::matching::capitals::TITLES;

/// What else is written short in a name; the row `stopped` of lexicon/names.toml.
const STOPPED: &[&str] = &["hon", "jr", "sr", "esq"];

/// `name` as a writer of the other habit has it: without the full stops of its titles or, where none has one, with them,
/// but for one at the end, where a sentence may. None for a name without a title beside the name itself.
pub fn other_habit(name: &str) -> Option<String> {
    let words = || name.split(' ').map(|word| (word, title_of(word)));
    let titles = words().filter(|(_, title)| title.is_some()).count();
    let last = words().count() - 1;
    if titles == 0 || titles > last {
        return None;
    }
    let stopped = words().any(|(word, title)| title.is_some_and(|title| title.len() < word.len()));
    let mut other = String::with_capacity(name.len() + titles);
    for (place, (word, title)) in words().enumerate() {
        if !other.is_empty() {
            other.push(' ');
        }
        other.push_str(title.unwrap_or(word));
        if title.is_some() && !stopped && place < last {
            other.push('.');
        }
    }
    (other != name).then_some(other)
}

/// The word without its full stop, if it is a title written short.
fn title_of(word: &str) -> Option<&str> {
    let bare = word.strip_suffix('.').unwrap_or(word);
    let mut titles = TITLES.iter().chain(STOPPED);
    titles
        .any(|title| title.eq_ignore_ascii_case(bare))
        .then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::other_habit;

    #[test]
    fn only_a_title_beside_a_name_has_another_habit() {
        for (name, expected) in [
            ("Mr. Finch", Some("Mr Finch")),
            ("Mrs Ashdown", Some("Mrs. Ashdown")),
            ("Church of St. Anne", Some("Church of St Anne")),
            ("the Rev. Mr March", Some("the Rev Mr March")),
            ("Tom Finch Jr.", Some("Tom Finch Jr")),
            ("Tom Finch Jr", None),
            ("Mr. Tom Finch Jr.", Some("Mr Tom Finch Jr")),
            ("Mr Tom Finch Jr", Some("Mr. Tom Finch Jr")),
            ("Mr.", None),
            ("Finch", None),
            ("Bob Finch", None),
            ("J. Finch", None),
            ("贾宝玉", None),
        ] {
            assert_eq!(other_habit(name).as_deref(), expected, "{name}");
        }
    }
}
