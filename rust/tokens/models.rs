//! Which model is counted with which encoding: dated data in `models.json`, and how a name is read.

use std::sync::OnceLock;

use serde::Deserialize;

const DATA: &str = include_str!("models.json");

/// What is known of a family of models.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The encoding to count with; `None`: only the estimate.
    pub(crate) encoding: Option<String>,
    /// Whether that encoding is the model's own.
    pub(crate) exact: bool,
    /// Why not, when it is not.
    pub(crate) note: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Row {
    Known(String, Option<String>),
    Noted(String, Option<String>, String),
}

#[derive(Deserialize)]
struct Table {
    rules: Vec<Row>,
}

fn rules() -> &'static [(String, Rule)] {
    static RULES: OnceLock<Vec<(String, Rule)>> = OnceLock::new();
    RULES.get_or_init(|| {
        let table: Table = serde_json::from_str(DATA).unwrap_or(Table { rules: Vec::new() });
        let rule = |row| match row {
            Row::Known(prefix, encoding) => {
                let exact = encoding.is_some();
                (
                    prefix,
                    Rule {
                        encoding,
                        exact,
                        note: String::new(),
                    },
                )
            }
            Row::Noted(prefix, encoding, note) => (
                prefix,
                Rule {
                    encoding,
                    exact: false,
                    note,
                },
            ),
        };
        table.rules.into_iter().map(rule).collect()
    })
}

/// The rule of the longest prefix that fits the model's name.
///
/// Providers' paths (`openai/…`, `accounts/x/models/…`), the fine-tuning prefix `ft:` and dotted vendors
/// (`us.anthropic.…`) are read past; dates and sizes behind the family are ignored.
pub(crate) fn find(model: &str) -> Option<&'static Rule> {
    let lower = model.trim().to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    let name = name.strip_prefix("ft:").unwrap_or(name);
    longest(name).or_else(|| {
        let vendors = name.match_indices('.').map(|(at, _)| &name[at + 1..]);
        vendors
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
            .find_map(longest)
    })
}

fn longest(name: &str) -> Option<&'static Rule> {
    let fitting = rules().iter().filter(|(prefix, _)| fits(prefix, name));
    fitting
        .max_by_key(|(prefix, _)| prefix.trim_end_matches('*').len())
        .map(|(_, rule)| rule)
}

fn fits(prefix: &str, name: &str) -> bool {
    if let Some(open) = prefix.strip_suffix('*') {
        return name.starts_with(open);
    }
    name.strip_prefix(prefix).is_some_and(|rest| {
        let mut after = rest.bytes();
        match after.next() {
            None => true,
            Some(b'.') => !after.next().is_some_and(|b| b.is_ascii_digit()),
            Some(b) => !b.is_ascii_alphanumeric(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Case {
        model: String,
        encoding: Option<String>,
        exact: bool,
    }

    #[test]
    fn models_get_the_encoding_that_the_rows_say() {
        let rows: Vec<Case> =
            serde_json::from_str(include_str!("../../tests/cases/models.json")).expect("rows");
        assert!(rows.len() > 30);
        for row in rows {
            let rule = find(&row.model);
            let got = (
                rule.and_then(|r| r.encoding.as_deref()),
                rule.is_some_and(|r| r.exact),
            );
            assert_eq!(got, (row.encoding.as_deref(), row.exact), "{}", row.model);
        }
    }

    #[test]
    fn every_rule_names_an_encoding_that_ships_or_says_why_not() {
        assert!(rules().len() > 40);
        for (prefix, rule) in rules() {
            match &rule.encoding {
                Some(name) => assert!(
                    crate::tokens::encodings::find(name).is_some(),
                    "{prefix}: {name}"
                ),
                None => assert!(!rule.note.is_empty(), "{prefix}"),
            }
        }
    }
}
