//! The hot paths of the core, each once, in a function of its own whose instructions `scripts/count_instructions.py` counts.
//!
//! A path is made ready outside the function that is counted. Tokens are counted of text that nobody has counted before,
//! since what was counted is remembered. Run by itself the program prints what each path answered, which the counts are
//! recorded with: a path that answers something else is not the same path.

mod inputs;
mod paths;

use std::process::ExitCode;

fn main() -> ExitCode {
    let answers = match paths::all() {
        Ok(answers) => answers,
        Err(error) => {
            eprintln!("instructions: {error}");
            return ExitCode::FAILURE;
        }
    };
    for (path, bytes, answer) in answers {
        println!("{path} {bytes} {answer}");
    }
    ExitCode::SUCCESS
}
