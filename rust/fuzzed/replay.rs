//! Every input that ever failed, and mutated ones, on stable Rust; `make fuzz-rust` goes on with coverage as its guide.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::TARGETS;

/// What `make fuzz-rust` keeps of what failed: a folder for each target.
fn kept() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/found/rust");
    let mut found = Vec::new();
    for folder in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            found.push((name.clone(), file.path()));
        }
    }
    found.sort();
    found
}

#[test]
fn what_once_failed_does_not_fail_again() {
    for (name, path) in kept() {
        let (_, target) = TARGETS
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap_or_else(|| panic!("{}: no such target", path.display()));
        target(&fs::read(&path).expect("a kept input"));
    }
}

#[test]
fn every_target_has_its_program_and_every_program_its_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/rust/targets");
    let mut programs: Vec<String> = fs::read_dir(folder)
        .expect("programs")
        .flatten()
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    programs.sort();
    let named: Vec<String> = TARGETS
        .iter()
        .map(|(name, _)| format!("{name}.rs"))
        .collect();
    assert_eq!(programs, named);
}

/// Words that the targets are about, with separators between: what random bytes seldom are.
fn words() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        proptest::sample::select(vec![
            "宝玉",
            "贾宝玉",
            "Bao",
            "e\u{301}va",
            "ＥＶＡ",
            "민수",
            "\n",
            "\n\n",
            " ",
            "。",
            "“",
            "”",
            "class A:\n  ",
            "def f(x):\n",
            "{",
            "}",
            "fn go() ",
            "//",
            "'''",
            "🇨🇳",
            "\u{200d}",
            "ß",
            "İ",
            "(a|b)+",
            "12",
            "\r\n",
            "é",
        ])
        .prop_map(|word| word.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn mutated_inputs_break_no_target(front in proptest::collection::vec(any::<u8>(), 0..8), rest in words()) {
        let data = [front, rest].concat();
        for (_, target) in TARGETS {
            target(&data);
        }
    }
}
