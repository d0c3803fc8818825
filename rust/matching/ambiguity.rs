//! Doubt about an alias: what a project's own prose taught about one that is also a word.

/// Doubt about one alias, learnt from documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// The alias is also an ordinary word: a mention only where someone is being named.
    Word,
    /// The alias, as spelled here, has capitals and without them is an ordinary word (Will, will): a mention only with them.
    Capital(String),
    /// As `Capital`, and the word is so much commoner that the name is not to be told from it where a sentence begins.
    Inside(String),
    /// Rare beside the usual name, whose presence in the same paragraph makes a narrator's use of the alias another thing.
    Beside(String),
    /// A kin term or title that the prose uses of several people: a mention only where one of these names, the entity's
    /// own or its people's, stands before it or in its paragraph.
    Company(Vec<String>),
}

/// In bytes: how far before an alias its company may stand, a long chapter.
const FAR: usize = 32_768;

impl Doubt {
    /// Whether it is about the capital, and so about every kind of entity.
    pub fn is_about_case(&self) -> bool {
        matches!(self, Self::Capital(_) | Self::Inside(_))
    }

    /// Whether `text[start..end]`, the alias, is the word here and not the name.
    pub fn holds(&self, text: &str, start: usize, end: usize) -> bool {
        if let Self::Capital(spelled) | Self::Inside(spelled) = self {
            return lacks_capitals(spelled, &text[start..end])
                || (begins_sentence(&text[..start])
                    && (matches!(self, Self::Inside(_)) || is_followed_by_pronoun(&text[end..])));
        }
        let paragraph = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let before = &text[paragraph..start];
        if let Self::Company(names) = self {
            return !is_in_company(text, start, end, names);
        }
        if names(before) {
            return false;
        }
        let Self::Beside(usual) = self else {
            return true;
        };
        let open = before.matches(['“', '「']).count() > before.matches(['”', '」']).count();
        let stop = text[start..].find('\n').map_or(text.len(), |at| start + at);
        // With the family name in front it is a person's name all the same (李宫裁).
        let family = usual
            .chars()
            .next()
            .is_some_and(|family| before.ends_with(family));
        !open && !family && text[paragraph..stop].contains(usual.as_str())
    }
}

/// Whether a capital of the alias as it is spelled, but for its article's, is a small letter in the text: "the castle" for
/// "The Castle". `lacks_capitals` of names/capitals.py is the same.
fn lacks_capitals(spelled: &str, written: &str) -> bool {
    let article = if spelled.starts_with("The ") { 4 } else { 0 };
    let mut pairs = spelled.chars().zip(written.chars()).skip(article);
    pairs.any(|(capital, letter)| capital.is_uppercase() && letter.is_lowercase())
}

fn is_in_company(text: &str, start: usize, end: usize, names: &[String]) -> bool {
    let mut from = start.saturating_sub(FAR);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let stop = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let stands = |part: &str| names.iter().any(|name| part.contains(name.as_str()));
    stands(&text[from..start]) || stands(&text[end..stop])
}

/// Whether a sentence begins behind `before`, in quotation marks or not: `begins_sentence` of names/usage.py, which
/// `tests/cases/beginnings.json` holds to the same answers.
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

/// Titles written short: the row `shortened` of lexicon/names.toml.
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

/// Whether what stands before introduces a name: 名唤, 本名, 字 …
fn names(before: &str) -> bool {
    let before = before.trim_end_matches(['“', '‘', '「', '『', '：']);
    let before = before.trim_end_matches(['为', '作', '做', '叫', '是', '曰']);
    before.ends_with(['名', '唤', '字', '号', '称'])
}

#[cfg(test)]
mod tests {
    use super::{Doubt, begins_sentence, lacks_capitals};

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

    fn holds(doubt: &Doubt, text: &str, alias: &str) -> bool {
        let start = text.find(alias).unwrap_or_default();
        doubt.holds(text, start, start + alias.len())
    }

    #[test]
    fn a_capitalised_name_that_is_also_a_word_needs_its_capital() {
        for (text, alias, expected) in [
            ("will he come", "will", true),
            ("Will came", "Will", false),
            ("WILL!", "WILL", false),
            ("Will you come", "Will", true),
            ("Will, you come", "Will", false),
            ("and Will you know", "Will", false),
        ] {
            assert_eq!(
                holds(&Doubt::Capital("Will".to_owned()), text, alias),
                expected,
                "{text}"
            );
        }
    }

    #[derive(serde::Deserialize)]
    struct Spelling {
        spelled: String,
        written: String,
        lacks: bool,
    }

    #[test]
    fn an_alias_needs_the_capitals_that_the_rows_say() {
        let rows: Vec<Spelling> =
            serde_json::from_str(include_str!("../../tests/cases/capitals.json")).expect("rows");
        for row in rows {
            let (spelled, written) = (&row.spelled, &row.written);
            assert_eq!(lacks_capitals(spelled, written), row.lacks, "{written}");
        }
    }

    #[test]
    fn a_title_of_many_is_a_mention_where_its_company_stands_before_it() {
        let doubt = Doubt::Company(vec!["继文".to_owned()]);
        for (text, expected) in [
            ("老太太来了", true),
            ("继文来了。\n老太太也来了", false),
            ("老太太来了，继文也来了", false),
            ("老太太来了。\n继文也来了", true),
        ] {
            assert_eq!(holds(&doubt, text, "老太太"), expected, "{text}");
        }
    }

    #[test]
    fn a_name_that_is_mostly_a_word_is_not_told_from_it_where_a_sentence_begins() {
        for (text, expected) in [
            ("Rose petals fell.", true),
            ("He left. “Rose petals.”", true),
            ("He saw Rose there.", false),
            ("and Mrs. Rose said", false),
        ] {
            assert_eq!(
                holds(&Doubt::Inside("Rose".to_owned()), text, "Rose"),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_doubtful_alias_is_a_mention_where_someone_is_named() {
        let beside = Doubt::Beside("紫鹃".to_owned());
        let courtesy = Doubt::Beside("李纨".to_owned());
        for (doubt, text, alias, expected) in [
            (&Doubt::Word, "她买了珍珠", "珍珠", true),
            (&Doubt::Word, "有个丫头名唤珍珠", "珍珠", false),
            (&beside, "廊上的鹦哥叫，紫鹃来了", "鹦哥", true),
            (&beside, "鹦哥叫。\n紫鹃来了", "鹦哥", false),
            (&beside, "紫鹃听她说：“叫鹦哥来”", "鹦哥", false),
            (&courtesy, "李宫裁笑道，李纨笑道", "宫裁", false),
        ] {
            assert_eq!(holds(doubt, text, alias), expected, "{text}");
        }
    }
}
