//! Walk a project: regular files only, `.gitignore` and `.ignore` honoured, links never followed.

use std::error::Error;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use rustc_hash::FxHashSet;

use crate::files::events::EventQueue;
use crate::files::ignored::Ignored;
use crate::files::seen::Seen;

/// A regular file with what tells whether it changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalkedFile {
    /// Relative to the root.
    pub path: PathBuf,
    /// Size in bytes.
    pub size: u64,
    /// Changes with every write, rename over, and change of times; opaque, compare for equality only.
    pub stamp: String,
    /// Nanoseconds since the epoch of the latest change, by whichever clock of the file says so.
    pub changed_ns: i64,
}

/// The reason for which a folder with a dot before its name is refused.
pub const HIDDEN: &str = "hidden folder";

/// Something that cannot be a document, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refused {
    /// Relative to the root where known.
    pub path: PathBuf,
    /// One line.
    pub reason: String,
}

/// All files below `root` in path order, what was refused, and what all of that rests on.
///
/// Hidden files are left out unless a pattern of `opened` matches them; a hidden folder that is left out is refused as
/// [`HIDDEN`]. Ignore files above `root` and the user's global ones are not read: the
/// same folder gives the same answer on every machine. With `only` not empty, entries that are
/// neither above nor below one of those relative paths are left out without being looked at, whose number
/// does not matter: an entry costs a look-up per folder it lies in. An ignore file that is a link, no regular file or
/// larger than 1 MiB is refused, and its patterns are not heeded.
///
/// With a `queue` for the folders that are entered, what the walk rests on is later checked without a stat per file.
///
/// `go_on` is asked before every entry; once it says no, what has been found so far is the answer.
///
/// # Errors
/// A pattern of `exclude` or `opened` that is not a gitignore pattern.
pub fn walk(
    root: &Path,
    exclude: &[String],
    only: &[PathBuf],
    opened: &[String],
    queue: Option<Arc<EventQueue>>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(Vec<WalkedFile>, Vec<Refused>, Seen), ignore::Error> {
    let mut overrides = OverrideBuilder::new(root);
    for pattern in exclude {
        overrides.add(&format!("!{pattern}"))?;
    }
    let wanted: FxHashSet<PathBuf> = only.iter().map(|path| root.join(path)).collect();
    let above: FxHashSet<PathBuf> = only
        .iter()
        .flat_map(|path| path.ancestors().map(|part| root.join(part)))
        .collect();
    let ignored = Arc::new(Mutex::new(
        Ignored::new(root, false).reported(queue).opening(opened)?,
    ));
    let rules = Arc::clone(&ignored);
    let walker = WalkBuilder::new(root)
        .standard_filters(false)
        .overrides(overrides.build()?)
        .follow_links(false)
        .filter_entry(move |entry| {
            (wanted.is_empty()
                || above.contains(entry.path())
                || entry.path().ancestors().any(|part| wanted.contains(part)))
                && !rules
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .skips(entry)
        })
        .build();
    let (mut found, mut refused, mut files) = (Vec::new(), Vec::new(), Vec::new());
    let mut missed = false;
    for entry in walker {
        if !go_on() {
            missed = true;
            break;
        }
        match entry {
            Ok(entry) => {
                let path = entry
                    .path()
                    .strip_prefix(root)
                    .unwrap_or(entry.path())
                    .to_path_buf();
                let Some(kind) = entry.file_type() else {
                    continue;
                };
                if kind.is_dir() || path.as_os_str().is_empty() {
                    continue;
                }
                if kind.is_symlink() {
                    refused.push(refuse(path, "symbolic link"));
                } else if !kind.is_file() {
                    refused.push(refuse(path, "not a regular file"));
                } else {
                    match entry.metadata() {
                        Ok(meta) => {
                            files.push((entry.into_path(), meta.clone()));
                            found.push(describe(path, &meta));
                        }
                        Err(error) => {
                            missed = true;
                            refused.push(refuse(path, &said(&error)));
                        }
                    }
                }
            }
            Err(error) => {
                missed = true;
                refused.push(refuse(path_of(&error, root), &said(&error)));
            }
        }
    }
    let mut rules = ignored.lock().unwrap_or_else(PoisonError::into_inner);
    let hidden = rules.hidden();
    let (unheeded, mut seen) = rules.finish();
    drop(rules);
    for (path, meta) in files {
        seen.found(&path, &meta);
    }
    if missed || !only.is_empty() {
        seen.missed(); // of a part of a folder nothing can be told
    }
    refused.extend(hidden.into_iter().map(|path| refuse(path, HIDDEN)));
    refused.extend(
        unheeded
            .into_iter()
            .map(|(path, reason)| Refused { path, reason }),
    );
    found.sort_unstable();
    refused.sort_unstable();
    Ok((found, refused, seen))
}

fn refuse(path: PathBuf, reason: &str) -> Refused {
    Refused {
        path,
        reason: reason.to_owned(),
    }
}

/// What went wrong, without the way to it: the text travels. A walk wraps what the system said in words that name it.
pub(super) fn said(error: &ignore::Error) -> String {
    let Some(io) = error.io_error() else {
        return error.to_string();
    };
    let mut cause: &dyn Error = io;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

pub(super) fn path_of(error: &ignore::Error, root: &Path) -> PathBuf {
    match error {
        ignore::Error::WithPath { path, .. } => {
            let path = path.strip_prefix(root).unwrap_or(path);
            if path.as_os_str().is_empty() {
                return PathBuf::from(".");
            }
            path.to_path_buf()
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err, root)
        }
        _ => PathBuf::new(),
    }
}

#[cfg(unix)]
fn describe(path: PathBuf, meta: &Metadata) -> WalkedFile {
    use std::os::unix::fs::MetadataExt;
    let modified = meta.mtime() * 1_000_000_000 + meta.mtime_nsec();
    let changed = meta.ctime() * 1_000_000_000 + meta.ctime_nsec();
    WalkedFile {
        path,
        size: meta.size(),
        stamp: format!("{}:{modified}:{changed}:{}", meta.size(), meta.ino()),
        changed_ns: modified.max(changed),
    }
}

#[cfg(not(unix))]
fn describe(path: PathBuf, meta: &Metadata) -> WalkedFile {
    let modified = meta
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .map_or(0, |age| i64::try_from(age.as_nanos()).unwrap_or(i64::MAX));
    WalkedFile {
        path,
        size: meta.len(),
        stamp: format!("{}:{modified}", meta.len()),
        changed_ns: modified,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(root: &Path, exclude: &[String], only: &[PathBuf]) -> Vec<String> {
        let (found, _, _) =
            walk(root, exclude, only, &[], None, &mut || true).expect("patterns are valid");
        found
            .into_iter()
            .map(|file| file.path.to_string_lossy().replace('\\', "/"))
            .collect()
    }

    #[test]
    fn a_folder_that_is_gone_is_refused_without_saying_where_it_was() {
        let root = std::env::temp_dir().join("armarius-walk-that-nobody-made");
        let (found, refused, _) =
            walk(&root, &[], &[], &[], None, &mut || true).expect("no patterns");
        assert!(found.is_empty());
        let [one] = refused.as_slice() else {
            panic!("{refused:?}");
        };
        assert_eq!(one.path, Path::new("."));
        assert!(!one.reason.contains("armarius-walk"), "{}", one.reason);
        assert!(!one.reason.is_empty());
    }

    #[test]
    fn ignored_hidden_and_excluded_files_are_left_out() {
        let root = std::env::temp_dir().join(format!("armarius-walk-{}", std::process::id()));
        for (path, text) in [
            ("a.md", ""),
            ("b/c.md", ""),
            ("b/d.tmp.md", ""),
            (".hidden/x.md", ""),
            ("old/y.md", ""),
            (".gitignore", "*.tmp.md\n"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("has a parent")).expect("can create");
            fs::write(path, text).expect("can write");
        }
        assert_eq!(names(&root, &[], &[]), ["a.md", "b/c.md", "old/y.md"]);
        assert_eq!(names(&root, &["old/**".into()], &[]), ["a.md", "b/c.md"]);
        assert_eq!(names(&root, &[], &["b/c.md".into()]), ["b/c.md"]);
        assert_eq!(names(&root, &[], &["b".into()]), ["b/c.md"]);
        fs::remove_dir_all(root).expect("can remove");
    }

    #[test]
    fn a_hidden_folder_is_left_out_and_named_unless_a_pattern_opens_it() {
        let root = std::env::temp_dir().join(format!("armarius-hidden-{}", std::process::id()));
        for path in ["a.md", ".story/b.md", ".story/.deep/c.md", ".other/d.md"] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("has a parent")).expect("can create");
            fs::write(path, "").expect("can write");
        }
        let opened = ["/.story".to_owned()];
        let (found, refused, _) =
            walk(&root, &[], &[], &opened, None, &mut || true).expect("patterns are valid");
        let paths: Vec<_> = found.iter().map(|file| file.path.as_path()).collect();
        assert_eq!(paths, [Path::new(".story/b.md"), Path::new("a.md")]);
        let hidden = [".other", ".story/.deep"].map(|path| refuse(path.into(), HIDDEN));
        assert_eq!(refused, hidden);
        fs::remove_dir_all(root).expect("can remove");
    }

    #[test]
    fn folders_that_programs_fill_are_left_out_unless_a_rule_brings_them_back() {
        let root = std::env::temp_dir().join(format!("armarius-built-{}", std::process::id()));
        for (path, text) in [
            ("a.md", ""),
            ("node_modules/x/README.md", ""),
            ("out/of/chapter.md", ""),
            ("app/package.json", ""),
            ("app/dist/x.md", ""),
            ("app/notes/y.md", ""),
            ("env/venv/pyvenv.cfg", ""),
            ("env/venv/z.md", ""),
            ("cut/old.md", ""),
            (".armariusignore", "cut/\n*.json\n*.cfg\n"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("has a parent")).expect("can create");
            fs::write(path, text).expect("can write");
        }
        let writers = ["a.md", "app/notes/y.md", "out/of/chapter.md"];
        assert_eq!(names(&root, &[], &[]), writers);
        fs::write(
            root.join(".armariusignore"),
            "!node_modules\n*.json\n*.cfg\n",
        )
        .expect("can write");
        assert!(names(&root, &[], &[]).contains(&"node_modules/x/README.md".to_owned()));
        fs::remove_dir_all(root).expect("can remove");
    }
}
