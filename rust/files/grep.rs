//! The ripgrep engine over a folder: literal or regular expression, line by line.
//!
//! Walks like ripgrep (`.gitignore`, `.ignore`, `.git/info/exclude` and hidden files respected, also
//! those of the folders above, links not followed), but answers the same on every machine: the
//! user's global ignore file is not read and hits come in the order (path, line, start). Files run side by side in blocks, so a limit stops early without
//! changing the order.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks::Bytes};
use ignore::{
    WalkBuilder,
    overrides::{Override, OverrideBuilder},
};
use rayon::prelude::*;

use super::walk::{path_of, said};
use crate::files::ignored::Ignored;
use crate::files::open::open_below;
use crate::threads::spread;

/// Bytes of a file that is searched; a larger one is listed as unread.
const MAX_BYTES: u64 = 1 << 28;

/// Files searched side by side before a limit is looked at again.
const BLOCK: usize = 64;

/// One match: `text[start..end]`, counted in code points, is what matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanHit {
    /// Relative to the root, `/` between parts.
    pub path: String,
    /// 1-based.
    pub line: u64,
    /// First code point of the match in `text`.
    pub start: usize,
    /// One past its last code point.
    pub end: usize,
    /// The line without its line break.
    pub text: String,
}

/// What a scan found, what it could not read, and whether the limit cut it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Sorted by (path, line, start).
    pub hits: Vec<ScanHit>,
    /// `path: reason` of files and folders that could not be read.
    pub unread: Vec<String>,
    /// The limit was reached and more hits may exist.
    pub truncated: bool,
}

/// How to search.
#[derive(Debug, Clone)]
pub struct ScanOptions {
    /// The pattern is a regular expression (Rust syntax), not a literal.
    pub regex: bool,
    /// Upper and lower case differ.
    pub case_sensitive: bool,
    /// ripgrep globs: `*.md` keeps, `!drafts/` drops; ignored files stay ignored.
    pub globs: Vec<String>,
    /// Most hits to return.
    pub limit: Option<usize>,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            regex: false,
            case_sensitive: true,
            globs: Vec::new(),
            limit: None,
        }
    }
}

/// Why a scan could not start.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The pattern is empty, holds a line break, or does not parse.
    #[error("pattern {pattern:?}: {reason}")]
    Pattern {
        /// As given.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A glob does not parse.
    #[error("glob {0:?}: {1}")]
    Glob(String, String),
    /// The root is not a folder that can be read.
    #[error("cannot scan {0}: not a folder")]
    Root(String),
}

/// Search every text file under `root`.
///
/// `go_on` is asked before every entry and every 64 files; once it says no, what has been found so far is the answer.
///
/// # Errors
/// [`ScanError`] when pattern, glob or root are unusable; unreadable files are listed, not fatal.
pub fn scan(
    root: &Path,
    pattern: &str,
    options: &ScanOptions,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Scan, ScanError> {
    let matcher = compile(pattern, options)?;
    let globs = overrides(root, &options.globs)?;
    if !root.is_dir() {
        return Err(ScanError::Root(root.display().to_string()));
    }
    let mut found = Scan::default();
    let files = walk(root, globs, &mut found.unread, go_on);
    for block in files.chunks(BLOCK) {
        if !go_on() {
            break;
        }
        let one = |file: &File| search(root, file, &matcher);
        let results: Vec<_> = spread(|| block.par_iter().map(one).collect());
        for (file, result) in block.iter().zip(results) {
            match result {
                Ok(hits) => found.hits.extend(hits),
                Err(error) => found.unread.push(format!("{}: {error}", file.relative)),
            }
        }
        if let Some(limit) = options.limit
            && found.hits.len() > limit
        {
            found.hits.truncate(limit);
            found.truncated = true;
            break;
        }
    }
    found.unread.sort();
    Ok(found)
}

fn compile(pattern: &str, options: &ScanOptions) -> Result<RegexMatcher, ScanError> {
    let bad = |reason: String| ScanError::Pattern {
        pattern: pattern.to_owned(),
        reason,
    };
    if pattern.is_empty() {
        return Err(bad("must not be empty".to_owned()));
    }
    RegexMatcherBuilder::new()
        .fixed_strings(!options.regex)
        .case_insensitive(!options.case_sensitive)
        .line_terminator(Some(b'\n'))
        .build(pattern)
        .map_err(|error| bad(error.to_string()))
}

fn overrides(root: &Path, globs: &[String]) -> Result<Override, ScanError> {
    let mut builder = OverrideBuilder::new(root);
    for glob in globs {
        builder
            .add(glob)
            .map_err(|error| ScanError::Glob(glob.clone(), error.to_string()))?;
    }
    builder
        .build()
        .map_err(|error| ScanError::Glob(globs.join(" "), error.to_string()))
}

struct File {
    /// Relative to the root.
    path: PathBuf,
    /// The same for people.
    relative: String,
}

/// Regular files in path order. Globs filter on top of the ignore rules; ripgrep lets them override.
fn walk(
    root: &Path,
    globs: Override,
    unread: &mut Vec<String>,
    go_on: &mut dyn FnMut() -> bool,
) -> Vec<File> {
    let ignored = Arc::new(Mutex::new(Ignored::new(root, true).with_above()));
    let rules = Arc::clone(&ignored);
    let walker = WalkBuilder::new(root)
        .standard_filters(false)
        .filter_entry(move |entry| {
            let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let skips = rules
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .skips(entry);
            !skips && (entry.depth() == 0 || !globs.matched(entry.path(), folder).is_ignore())
        })
        .build();
    let mut files = Vec::new();
    for entry in walker {
        if !go_on() {
            break;
        }
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
                files.push(File {
                    path: path.to_path_buf(),
                    relative: shown(path),
                });
            }
            Ok(_) => {}
            Err(error) => unread.push(format!(
                "{}: {}",
                shown(&path_of(&error, root)),
                said(&error)
            )),
        }
    }
    let (unheeded, _) = ignored
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .finish();
    for (path, reason) in unheeded {
        unread.push(format!("{}: {reason}", shown(&path)));
    }
    files.sort_by(|a, b| a.relative.cmp(&b.relative));
    files
}

fn shown(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

fn search(root: &Path, file: &File, matcher: &RegexMatcher) -> std::io::Result<Vec<ScanHit>> {
    let mut hits = Vec::new();
    let sink = Bytes(|line, bytes| {
        matches_in_line(matcher, line, bytes, &file.relative, &mut hits);
        Ok(true)
    });
    let opened = open_below(root, &file.path, MAX_BYTES)?;
    searcher().search_file(matcher, &opened, sink)?;
    Ok(hits)
}

fn searcher() -> Searcher {
    // A NUL byte means binary: such a file has no lines worth showing.
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_number(true)
        .build()
}

fn matches_in_line(
    matcher: &RegexMatcher,
    line: u64,
    bytes: &[u8],
    path: &str,
    hits: &mut Vec<ScanHit>,
) {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    let (mut byte, mut point) = (0, 0);
    let mut count = |to: usize| {
        point += String::from_utf8_lossy(&bytes[byte..to]).chars().count();
        byte = to;
        point
    };
    // The matcher cannot fail on bytes already in memory: its error type is `NoError`.
    let _: Result<(), _> = matcher.find_iter(bytes, |found| {
        if !found.is_empty() {
            let (start, end) = (count(found.start()), count(found.end()));
            hits.push(ScanHit {
                path: path.to_owned(),
                line,
                start,
                end,
                text: text.clone().into_owned(),
            });
        }
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &[u8])]) -> PathBuf {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "armarius-scan-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let root = std::env::temp_dir().join(name);
        for (path, bytes) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("has a parent"))
                .expect("temporary folder");
            std::fs::write(path, bytes).expect("temporary file");
        }
        root
    }

    fn spans(
        root: &Path,
        pattern: &str,
        options: &ScanOptions,
    ) -> Vec<(String, u64, usize, usize)> {
        let found = scan(root, pattern, options, &mut || true).expect("scan");
        for hit in &found.hits {
            assert!(hit.end <= hit.text.chars().count());
        }
        found
            .hits
            .into_iter()
            .map(|hit| (hit.path, hit.line, hit.start, hit.end))
            .collect()
    }

    #[test]
    fn a_limit_keeps_the_first_hits_in_path_order() {
        let root = folder(&[
            ("b.md", "灯灯\n灯".as_bytes()),
            ("a/z.md", "一盏灯\r\n".as_bytes()),
        ]);
        let options = ScanOptions {
            limit: Some(2),
            ..ScanOptions::default()
        };
        let expected = vec![("a/z.md".to_owned(), 1, 2, 3), ("b.md".to_owned(), 1, 0, 1)];
        assert_eq!(spans(&root, "灯", &options), expected);
        assert!(
            scan(&root, "灯", &options, &mut || true)
                .expect("scan")
                .truncated
        );
        std::fs::remove_dir_all(root).expect("clean up");
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_shift_spans() {
        let root = folder(&[("x.txt", b"\xff\xfe\xfdab needle")]);
        // The first two bytes are a UTF-16 mark, so the file is read as UTF-16 and has no needle.
        assert!(spans(&root, "needle", &ScanOptions::default()).is_empty());
        std::fs::write(root.join("x.txt"), b"a\xffb needle").expect("rewrite");
        assert_eq!(
            spans(&root, "needle", &ScanOptions::default()),
            vec![("x.txt".to_owned(), 1, 4, 10)]
        );
        std::fs::remove_dir_all(root).expect("clean up");
    }

    #[test]
    fn empty_and_multi_line_patterns_are_refused() {
        let root = folder(&[("x.txt", b"x")]);
        for pattern in ["", "a\nb"] {
            assert!(matches!(
                scan(&root, pattern, &ScanOptions::default(), &mut || true),
                Err(ScanError::Pattern { .. })
            ));
        }
        std::fs::remove_dir_all(root).expect("clean up");
    }
}
