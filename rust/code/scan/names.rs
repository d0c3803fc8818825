//! Names in source text: the words that an identifier is made of, and what is called.
//!
//! Read from the text alone, in any language: an identifier is a run of letters, digits, `_` and `$`.

/// Words before a bracket that call nothing, in the languages that are read.
const NO_CALL: [&str; 33] = [
    "and", "as", "assert", "await", "case", "catch", "def", "del", "elif", "else", "except", "fn",
    "for", "func", "function", "if", "in", "is", "lambda", "let", "match", "new", "not", "or",
    "return", "sizeof", "super", "switch", "throw", "typeof", "while", "with", "yield",
];
/// Words after which a name is defined and not called.
const DEFINING: [&str; 6] = ["class", "def", "fn", "fun", "func", "function"];

/// Call `found` with each part of every identifier that is written in `camelCase`: `makeHTTPRequest` is `make`, `HTTP`,
/// `Request`. Parts between underscores are words of their own for any reader of text and are not given.
///
/// Cost: one pass.
pub fn each_part(text: &str, mut found: impl FnMut(&str)) {
    for run in text.split(|c: char| !c.is_alphanumeric()) {
        if run.len() > 2 {
            parts_of(run, &mut found);
        }
    }
}

fn parts_of(run: &str, found: &mut impl FnMut(&str)) {
    let bytes = run.as_bytes();
    let mut from = 0;
    for at in 1..bytes.len() {
        let (before, here) = (bytes[at - 1], bytes[at]);
        let after = bytes.get(at + 1).copied().unwrap_or_default();
        let hump = here.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && after.is_ascii_lowercase()));
        if hump {
            found(&run[from..at]);
            from = at;
        }
    }
    if from > 0 {
        found(&run[from..]);
    }
}

/// Call `found` with every name that stands before an opening bracket and is neither a word of the language nor the
/// name of the definition itself, as often as it stands there.
///
/// Cost: one pass over the brackets, each looking back over one name.
pub fn each_call<'t>(text: &'t str, mut found: impl FnMut(&'t str)) {
    let s = text.as_bytes();
    for open in memchr::memchr_iter(b'(', s) {
        let name = name_before(text, open);
        if name.len() < 2 || name.as_bytes()[0].is_ascii_digit() || NO_CALL.contains(&name) {
            continue;
        }
        let start = open - name.len();
        let blank = text[..start].trim_end_matches([' ', '\t']).len();
        if blank < start && DEFINING.contains(&name_before(text, blank)) {
            continue;
        }
        found(name);
    }
}

/// The identifier that ends at `end`; "" when none does.
fn name_before(text: &str, end: usize) -> &str {
    let s = text.as_bytes();
    let mut start = end;
    while start > 0 && (s[start - 1].is_ascii_alphanumeric() || matches!(s[start - 1], b'_' | b'$'))
    {
        start -= 1;
    }
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(text: &str) -> Vec<&str> {
        let mut out = Vec::new();
        each_part(text, |part| out.push(part.to_owned()));
        out.iter()
            .map(|one| &text[text.find(one.as_str()).unwrap_or(0)..][..one.len()])
            .collect()
    }

    fn calls(text: &str) -> Vec<&str> {
        let mut out = Vec::new();
        each_call(text, |name| out.push(name));
        out
    }

    #[test]
    fn a_camel_is_its_humps_and_a_plain_word_has_no_parts() {
        assert_eq!(parts("makeHTTPRequest"), ["make", "HTTP", "Request"]);
        assert_eq!(parts("exit_code MAX_SIZE plain"), Vec::<&str>::new());
        assert_eq!(
            parts("_fooBar utf8Decode"),
            ["foo", "Bar", "utf8", "Decode"]
        );
        assert_eq!(parts("éclairRouge"), ["éclair", "Rouge"]);
    }

    #[test]
    fn what_stands_before_a_bracket_is_called_unless_it_is_being_defined() {
        assert_eq!(
            calls("def run(self):\n    if (x): self.go(y)\n    return Make(a)(b)\n"),
            ["go", "Make"]
        );
        assert_eq!(
            calls("async function load(a) { await fetchAll(); }"),
            ["fetchAll"]
        );
        assert_eq!(calls("((x)) f (y) 3(z)"), Vec::<&str>::new());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[a-zA-Z0-9_$(林é ]{0,40}") {
            each_part(&text, |part| assert!(!part.is_empty() && text.contains(part)));
            each_call(&text, |name| assert!(text.contains(name)));
        }
    }
}
