//! The encodings that ship: vocabulary files, splitting grammar, normalization, names.

use std::sync::OnceLock;

use super::bpe::Bpe;
use super::pretokenize::Grammar;
use super::vocab_file::Damaged;

/// One embedded encoding; its tables are built at first use and then kept.
pub(crate) struct Encoding {
    /// The name a counter reports.
    pub(crate) name: &'static str,
    /// Other names that callers use for it.
    pub(crate) aliases: &'static [&'static str],
    files: &'static [&'static [u8]],
    grammar: Grammar,
    composes: bool,
    loaded: OnceLock<Result<Bpe, Damaged>>,
}

impl Encoding {
    const fn new(
        name: &'static str,
        aliases: &'static [&'static str],
        files: &'static [&'static [u8]],
        grammar: Grammar,
    ) -> Self {
        let composes = matches!(grammar, Grammar::Qwen | Grammar::QwenMarks);
        Self {
            name,
            aliases,
            files,
            grammar,
            composes,
            loaded: OnceLock::new(),
        }
    }

    /// The tables, built by the first caller.
    pub(crate) fn bpe(&self) -> Result<&Bpe, &Damaged> {
        self.loaded
            .get_or_init(|| Bpe::load(self.files, self.grammar, self.composes))
            .as_ref()
    }
}

const CL100K: &[u8] = include_bytes!("vocab/cl100k_base.bin");
const GLM4: &[u8] = include_bytes!("vocab/glm4.bin");

/// Every embedded encoding. Provenance and licences: `vocab/NOTICE.md`.
pub(crate) static ENCODINGS: [Encoding; 9] = [
    Encoding::new(
        "o200k_base",
        &["o200k", "o200k_harmony"],
        &[include_bytes!("vocab/o200k_base.bin")],
        Grammar::O200k,
    ),
    Encoding::new("cl100k_base", &["cl100k"], &[CL100K], Grammar::Cl100k),
    Encoding::new(
        "deepseek_v3",
        &["deepseek"],
        &[include_bytes!("vocab/deepseek_v3.bin")],
        Grammar::DeepSeek,
    ),
    Encoding::new(
        "qwen2",
        &["qwen", "qwen3"],
        &[CL100K, include_bytes!("vocab/qwen2.bin")],
        Grammar::Qwen,
    ),
    Encoding::new(
        "qwen35",
        &["qwen3.5"],
        &[CL100K, include_bytes!("vocab/qwen35.bin")],
        Grammar::QwenMarks,
    ),
    Encoding::new("glm4", &["glm"], &[CL100K, GLM4], Grammar::Glm),
    Encoding::new(
        "glm5",
        &[],
        &[CL100K, GLM4, include_bytes!("vocab/glm5.bin")],
        Grammar::Glm,
    ),
    Encoding::new(
        "kimi_k2",
        &["kimi"],
        &[include_bytes!("vocab/kimi_k2.bin")],
        Grammar::Kimi,
    ),
    Encoding::new(
        "mistral_v3",
        &["mistral", "tekken"],
        &[include_bytes!("vocab/mistral_v3.bin")],
        Grammar::Tekken,
    ),
];

/// The encoding of that name or alias, in any case.
pub(crate) fn find(name: &str) -> Option<&'static Encoding> {
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    ENCODINGS
        .iter()
        .find(|e| is(e.name) || e.aliases.iter().any(|a| is(a)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_loads_and_counts() {
        for encoding in &ENCODINGS {
            let bpe = encoding
                .bpe()
                .unwrap_or_else(|e| panic!("{}: {e}", encoding.name));
            assert_eq!(bpe.count(""), 0, "{}", encoding.name);
            assert_eq!(bpe.count("hello world"), 2, "{}", encoding.name);
            assert!(
                (2..=5).contains(&bpe.count("你好世界")),
                "{}",
                encoding.name
            );
        }
    }

    #[test]
    fn names_and_aliases_are_unique() {
        let mut names: Vec<_> = ENCODINGS
            .iter()
            .flat_map(|e| e.aliases.iter().chain([&e.name]))
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
