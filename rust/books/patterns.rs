//! One regular expression of a lorebook: linear time where it can be, a number of steps where it cannot.
//!
//! The `regex` crate runs in time linear in the text. What it cannot express (look-around, back-references) goes to a
//! backtracking engine that gives up after a number of steps, so an expression that blows up costs a bounded time.

/// Steps of the backtracking engine for one search: about 20 ms.
pub const STEPS: usize = 200_000;
const COMPILED_BYTES: usize = 1 << 20;

/// How an expression reads its text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    /// Case does not count.
    pub ignore_case: bool,
    /// `^` and `$` stand at every line.
    pub multi_line: bool,
    /// `.` is also a line end.
    pub dot_all: bool,
}

/// A compiled expression.
pub enum Pattern {
    /// Time linear in the text.
    Linear(regex::Regex),
    /// Backtracking, with a limit.
    Stepping(Box<fancy_regex::Regex>),
}

/// What a search says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It matches; the byte offset of the first match.
    At(usize),
    /// It does not.
    Nowhere,
    /// The limit of steps was reached: nobody knows.
    GaveUp,
}

impl Pattern {
    /// Compile; the error says what is wrong with the expression.
    pub fn new(pattern: &str, flags: Flags) -> Result<Self, String> {
        let linear = regex::RegexBuilder::new(pattern)
            .case_insensitive(flags.ignore_case)
            .multi_line(flags.multi_line)
            .dot_matches_new_line(flags.dot_all)
            .size_limit(COMPILED_BYTES)
            .dfa_size_limit(COMPILED_BYTES)
            .build();
        let error = match linear {
            Ok(regex) => return Ok(Self::Linear(regex)),
            Err(error @ regex::Error::CompiledTooBig(_)) => return Err(error.to_string()),
            Err(error) => error,
        };
        let mut set = String::new();
        for (on, letter) in [
            (flags.ignore_case, 'i'),
            (flags.multi_line, 'm'),
            (flags.dot_all, 's'),
        ] {
            if on {
                set.push(letter);
            }
        }
        let whole = if set.is_empty() {
            pattern.to_owned()
        } else {
            format!("(?{set}){pattern}")
        };
        fancy_regex::RegexBuilder::new(&whole)
            .backtrack_limit(STEPS)
            .delegate_size_limit(COMPILED_BYTES)
            .delegate_dfa_size_limit(COMPILED_BYTES)
            .build()
            .map(|regex| Self::Stepping(Box::new(regex)))
            .map_err(|_| error.to_string())
    }

    /// Where it first matches.
    pub fn search(&self, text: &str) -> Answer {
        match self {
            Self::Linear(regex) => regex
                .find(text)
                .map_or(Answer::Nowhere, |hit| Answer::At(hit.start())),
            Self::Stepping(regex) => match regex.find(text) {
                Ok(hit) => hit.map_or(Answer::Nowhere, |hit| Answer::At(hit.start())),
                Err(_) => Answer::GaveUp, // the limit of steps, or of the stack
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(pattern: &str, text: &str) -> Answer {
        Pattern::new(pattern, Flags::default())
            .expect("an expression")
            .search(text)
    }

    #[test]
    fn what_the_linear_engine_knows_is_linear() {
        let pattern = Pattern::new("(a+)+b", Flags::default()).expect("an expression");
        assert!(matches!(pattern, Pattern::Linear(_)));
        assert_eq!(pattern.search(&"a".repeat(100_000)), Answer::Nowhere);
    }

    #[test]
    fn look_around_is_known_too() {
        assert_eq!(search("(?<!no )dragon", "no dragon"), Answer::Nowhere);
        assert_eq!(search("(?<!no )dragon", "a dragon"), Answer::At(2));
    }

    #[test]
    fn an_expression_that_blows_up_gives_up() {
        let text = "a".repeat(60);
        assert_eq!(search(r"(?=a)(a|a|aa)*\1c", &text), Answer::GaveUp);
    }

    #[test]
    fn a_giant_is_refused_when_it_is_made() {
        assert!(Pattern::new("((a{100}){100}){100}", Flags::default()).is_err());
    }

    #[test]
    fn flags_reach_both_engines() {
        let flags = Flags {
            ignore_case: true,
            multi_line: true,
            dot_all: true,
        };
        for pattern in ["^dragon.end$", "^(?=d)dragon.end$"] {
            let found = Pattern::new(pattern, flags).expect("an expression");
            assert_eq!(found.search("x\nDRAGON\nEND"), Answer::At(2), "{pattern}");
        }
    }
}
