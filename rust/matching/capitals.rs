//! Capitals: a short form that nobody listed (Will of Will Marsh) is a name only with them.

/// Whether `text[start..end]` is a word and not the name that is spelled so: it lacks a capital of it, or begins a sentence
/// that goes on as after a verb.
pub fn is_word(spelled: &str, text: &str, start: usize, end: usize) -> bool {
    let mut pairs = spelled.chars().zip(text[start..end].chars());
    pairs.any(|(capital, letter)| capital.is_uppercase() && letter.is_lowercase())
        || begins_sentence(&text[..start]) && is_followed_by_pronoun(&text[end..])
}

/// Whether a sentence begins behind `before`, in quotation marks or not.
fn begins_sentence(before: &str) -> bool {
    const OPEN: &[char] = &[
        ' ', '\t', '　', '*', '_', '(', '（', '"', '\'', '“', '‘', '「', '『', '«', '《',
    ];
    const QUOTES: &[char] = &['"', '“', '‘', '「', '『', '«'];
    let bare = before.trim_end_matches(OPEN);
    before[bare.len()..].contains(QUOTES)
        || !ends_in_short_form(bare)
            && bare
                .chars()
                .next_back()
                .is_none_or(|last| ".!?…:;。！？：；—–\n\r#".contains(last))
}

/// Titles written short: a full stop behind one ends no sentence.
pub(crate) const TITLES: &[&str] = &[
    "mr", "mrs", "ms", "mme", "mlle", "dr", "st", "prof", "capt", "lt", "sgt", "cpl", "col", "gen",
    "rev", "insp", "det",
];

/// "Dr." and "J." end no sentence.
fn ends_in_short_form(bare: &str) -> bool {
    let Some(rest) = bare.strip_suffix('.') else {
        return false;
    };
    let word = rest
        .rsplit(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    word.chars().count() == 1 || TITLES.contains(&word.to_lowercase().as_str())
}

/// Words that follow a verb at the beginning of a sentence and never a name ("Will you come", "Mark my words").
const PRONOUNS: &[&str] = &[
    "i", "you", "he", "she", "it", "we", "they", "me", "him", "her", "us", "them", "my", "your",
    "his", "our", "their", "its", "the", "a", "an", "this", "that", "these", "those", "there",
    "not",
];

fn is_followed_by_pronoun(after: &str) -> bool {
    let Some(rest) = after.strip_prefix(' ') else {
        return false;
    };
    let word = rest
        .split(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    PRONOUNS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::{begins_sentence, is_word};

    #[derive(serde::Deserialize)]
    struct Beginning {
        before: String,
        begins: bool,
    }

    #[test]
    fn a_sentence_begins_where_the_rows_say() {
        let rows: Vec<Beginning> =
            serde_json::from_str(include_str!("../../tests/cases/beginnings.json")).expect("rows");
        for row in rows {
            assert_eq!(begins_sentence(&row.before), row.begins, "{}", row.before);
        }
    }

    #[test]
    fn a_short_form_that_is_also_a_word_needs_its_capital() {
        for (text, alias, expected) in [
            ("will he come", "will", true),
            ("Will came", "Will", false),
            ("WILL!", "WILL", false),
            ("Will you come", "Will", true),
            ("Will, you come", "Will", false),
            ("and Will you know", "Will", false),
        ] {
            let start = text.find(alias).unwrap_or_default();
            assert_eq!(
                is_word("Will", text, start, start + alias.len()),
                expected,
                "{text}"
            );
        }
    }
}
