//! What `.armariusignore`, `.ignore`, `.gitignore` and `.git/info/exclude` leave out, and folders that programs fill; read
//! without following links or opening pipes.
//!
//! The crate `ignore` opens these files by path: a pipe of that name hangs it, a link leads it out, a device has no end.
//! Here its patterns are used and its reading is not. As git does, links in the place of an ignore file are not followed;
//! a `.git` that is a file (a linked worktree, a submodule) names a folder elsewhere and is not followed either.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, Match};

use crate::files::events::EventQueue;
use crate::files::open::{read_below, read_own};
use crate::files::seen::Seen;

/// Bytes of an ignore file; a larger one is not heeded.
const MAX_BYTES: u64 = 1 << 20;

/// Lines of an ignore file that is heeded: 50,000 patterns take seconds to compile.
const MAX_LINES: usize = 10_000;

/// Why an ignore file was not heeded: its path relative to the root, and the reason.
pub(super) type Unheeded = (PathBuf, String);

/// The rules of one folder, strongest first.
type Rules = [Gitignore; KINDS];

const KINDS: usize = 4;

/// Folders that a package manager or a build fills, whatever lies beside them.
const FILLED: [&str; 6] = [
    "node_modules",
    "bower_components",
    "__pycache__",
    "site-packages",
    "__pypackages__",
    "jspm_packages",
];

/// Folders that a build fills where a project of that kind lies beside them, or that say so themselves.
const BUILT: [&str; 5] = ["build", "dist", "out", "target", "venv"];
const BESIDE: [&str; 8] = [
    "package.json",
    "pyproject.toml",
    "setup.py",
    "Cargo.toml",
    "CMakeLists.txt",
    "build.gradle",
    "pom.xml",
    "Makefile",
];
const INSIDE: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

/// The rules of a walk: asked of every entry in the order of a depth-first walk, folders before what is in them.
pub(super) struct Ignored {
    root: PathBuf,
    /// Whether `.git/info/exclude` counts.
    exclude: bool,
    /// The root as its ancestors name it, and their rules from the nearest on.
    above: (PathBuf, Vec<Rules>),
    /// The rules of the folders that lead to the entry asked last, from the root on.
    way: Vec<Rules>,
    /// Hidden entries that are not left out.
    opened: Gitignore,
    /// Folders that were left out because they are hidden, relative to the root.
    hidden: Vec<PathBuf>,
    /// Ignore files that were not heeded.
    unheeded: Vec<Unheeded>,
    /// Folders and ignore files that were read.
    seen: Seen,
}

impl Ignored {
    /// The rules within `root`; `exclude`: those of `.git/info/exclude` too.
    pub(super) fn new(root: &Path, exclude: bool) -> Self {
        Self {
            root: root.to_path_buf(),
            exclude,
            above: (PathBuf::new(), Vec::new()),
            way: Vec::new(),
            opened: Gitignore::empty(),
            hidden: Vec::new(),
            unheeded: Vec::new(),
            seen: Seen::of(root, None),
        }
    }

    /// Let the kernel report changes of the folders that are read.
    pub(super) fn reported(mut self, queue: Option<Arc<EventQueue>>) -> Self {
        self.seen = Seen::of(&self.root, queue);
        self
    }

    /// Do not leave out the hidden entries that these gitignore patterns match.
    pub(super) fn opening(mut self, patterns: &[String]) -> Result<Self, ignore::Error> {
        let mut builder = GitignoreBuilder::new(&self.root);
        for pattern in patterns {
            builder.add_line(None, pattern)?;
        }
        self.opened = builder.build()?;
        Ok(self)
    }

    /// The ignore files that were not heeded, and all that the answers rest on but the files themselves.
    pub(super) fn finish(&mut self) -> (Vec<Unheeded>, Seen) {
        (
            std::mem::take(&mut self.unheeded),
            std::mem::take(&mut self.seen),
        )
    }

    /// The folders that were left out because they are hidden, relative to the root.
    pub(super) fn hidden(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.hidden)
    }

    /// Heed the ignore files of the folders above the root, too. They are the user's own: links are followed.
    pub(super) fn with_above(mut self) -> Self {
        let Ok(root) = self.root.canonicalize() else {
            return self;
        };
        let rules = root.ancestors().skip(1).map(|folder| {
            self.names().map(|name| {
                let data = name.and_then(|name| read_own(&folder.join(name), MAX_BYTES).ok());
                data.and_then(|data| parse(folder, &data).ok())
                    .unwrap_or_else(Gitignore::empty)
            })
        });
        let rules = rules.collect();
        self.above = (root, rules);
        self
    }

    /// Whether an entry is left out, as a hidden one is that no rule brings back.
    pub(super) fn skips(&mut self, entry: &DirEntry) -> bool {
        let Some(folder) = entry.path().parent().filter(|_| entry.depth() > 0) else {
            return false;
        };
        self.way.truncate(entry.depth());
        if self.way.len() < entry.depth() {
            let rules = self.rules_of(folder);
            self.way.push(rules);
        }
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let skipped = match self.matched(entry.path(), is_folder) {
            Match::Ignore(()) => true,
            Match::Whitelist(()) if !is_closed(entry) => false,
            _ => {
                self.is_left_hidden(entry, is_folder) || (is_folder && self.is_built(entry.path()))
            }
        };
        if is_folder && !skipped {
            self.seen.rests_on(entry.path());
        }
        skipped
    }

    fn is_left_hidden(&mut self, entry: &DirEntry, is_folder: bool) -> bool {
        let opened = || self.opened.matched(entry.path(), is_folder).is_ignore();
        if !is_hidden(entry) || (!is_closed(entry) && opened()) {
            return false;
        }
        if is_folder {
            let path = entry.path();
            self.hidden
                .push(path.strip_prefix(&self.root).unwrap_or(path).to_path_buf());
        }
        true
    }

    /// Whether a folder is a program's and not the writer's: its name says so, or its name and what lies beside or in
    /// it.
    fn is_built(&mut self, folder: &Path) -> bool {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else {
            return false;
        };
        if !BUILT.contains(&name) {
            return FILLED.contains(&name);
        }
        self.seen.rests_on(folder); // what lies beside it is in a folder that was noted before
        let there = |path: PathBuf| path.symlink_metadata().is_ok();
        INSIDE.iter().any(|mark| there(folder.join(mark)))
            || BESIDE.iter().any(|mark| there(folder.with_file_name(mark)))
    }

    /// The nearest rule of the strongest kind of file that has one.
    fn matched(&self, path: &Path, is_folder: bool) -> Match<()> {
        let (root, above) = &self.above;
        let from_above = match path.strip_prefix(&self.root) {
            Ok(relative) if !above.is_empty() => root.join(relative),
            _ => PathBuf::new(),
        };
        for kind in 0..KINDS {
            let below = self.way.iter().rev().map(|rules| (&rules[kind], path));
            let above = above.iter().map(|rules| (&rules[kind], &*from_above));
            for (rules, path) in below.chain(above) {
                let found = rules.matched(path, is_folder);
                if !found.is_none() {
                    return found.map(|_| ());
                }
            }
        }
        Match::None
    }

    fn names(&self) -> [Option<&'static str>; KINDS] {
        let exclude = self.exclude.then_some(".git/info/exclude");
        [
            Some(".armariusignore"),
            Some(".ignore"),
            Some(".gitignore"),
            exclude,
        ]
    }

    fn rules_of(&mut self, folder: &Path) -> Rules {
        let within = folder.strip_prefix(&self.root).unwrap_or(folder);
        self.names().map(|name| {
            let Some(name) = name else {
                return Gitignore::empty();
            };
            // Nearly always there is nothing, which one look tells.
            let first = Path::new(name).iter().next().unwrap_or_default();
            let Ok(there) = folder.join(first).symlink_metadata() else {
                return Gitignore::empty();
            };
            if there.is_file() && first != name {
                return Gitignore::empty(); // a repository elsewhere
            }
            self.seen.rests_on(&folder.join(name));
            let path = within.join(name);
            let read = read_below(&self.root, &path, MAX_BYTES);
            let missing = read
                .as_ref()
                .is_err_and(|error| matches!(error.kind(), std::io::ErrorKind::NotFound));
            let rules = read
                .map_err(|error| error.to_string())
                .and_then(|data| parse(folder, &data));
            rules.unwrap_or_else(|reason| {
                if !missing {
                    let reason = format!("its patterns are not heeded: {reason}");
                    self.unheeded.push((path, reason));
                }
                Gitignore::empty()
            })
        })
    }
}

/// Patterns relative to `folder`; as for git, a line that is no pattern is one that matches nothing.
fn parse(folder: &Path, data: &[u8]) -> Result<Gitignore, String> {
    let text = String::from_utf8_lossy(data);
    if text.lines().nth(MAX_LINES).is_some() {
        return Err(format!("more than {MAX_LINES} lines"));
    }
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _: Result<_, _> = builder.add_line(None, line);
    }
    builder.build().map_err(|error| error.to_string())
}

/// Whether nothing opens it, such as `!*/` in a `.gitignore`: it holds passwords of remotes, or what the index has written.
fn is_closed(entry: &DirEntry) -> bool {
    [".git", ".armarius"]
        .iter()
        .any(|name| entry.file_name() == *name)
}

fn is_hidden(entry: &DirEntry) -> bool {
    #[cfg(windows)]
    {
        use std::os::windows::fs::MetadataExt;
        const HIDDEN: u32 = 0x2; // FILE_ATTRIBUTE_HIDDEN
        if entry
            .metadata()
            .is_ok_and(|found| found.file_attributes() & HIDDEN != 0)
        {
            return true;
        }
    }
    entry.file_name().as_encoded_bytes().first() == Some(&b'.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use ignore::WalkBuilder;

    fn paths(walker: ignore::Walk, root: &Path) -> Vec<String> {
        let mut found: Vec<_> = walker
            .map(|entry| entry.expect("can be read").into_path())
            .map(|path| path.strip_prefix(root).expect("is below").to_owned())
            .map(|path| path.to_string_lossy().replace('\\', "/"))
            .collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn where_all_is_well_the_answers_are_those_of_the_crate() {
        let base = std::env::temp_dir().join(format!("armarius-ignored-{}", std::process::id()));
        let root = base.join("novel");
        let files = [
            (".gitignore", "above.md\n/novel/b/only.md\n"),
            (".ignore", "!novel/kept.tmp\n"),
            (
                "novel/.gitignore",
                "\u{feff}*.tmp\n!.shown\ndrafts/\n/top.md\n[\n# x\n",
            ),
            ("novel/.ignore", "!b/x.tmp\nsecret*\r\n"),
            ("novel/.git/info/exclude", "attic/\nb/y.md\n"),
            ("novel/b/.gitignore", "!drafts/\n*.md\n!keep.md\n"),
            ("novel/b/.ignore", "c/**/z.md\n"),
            ("novel/b/c/d/.gitignore", "!z.md\n!y.md\n"),
        ];
        let names = [
            "x.tmp",
            "y.md",
            "z.md",
            "top.md",
            "keep.md",
            "above.md",
            "only.md",
            "kept.tmp",
            ".shown",
            ".hidden",
            "secret.md",
        ];
        for folder in [
            "", "b", "b/c", "b/c/d", "drafts", "b/drafts", "attic", ".deep", "e",
        ] {
            fs::create_dir_all(root.join(folder)).expect("can create");
            for name in names {
                fs::write(root.join(folder).join(name), "").expect("can write");
            }
        }
        for (path, text) in files {
            let path = base.join(path);
            fs::create_dir_all(path.parent().expect("has a parent")).expect("can create");
            fs::write(path, text).expect("can write");
        }
        for (exclude, above) in [(false, false), (true, false), (true, true)] {
            let crates = WalkBuilder::new(&root)
                .git_global(false)
                .require_git(false)
                .git_exclude(exclude)
                .parents(above)
                .build();
            let rules = Ignored::new(&root, exclude);
            let rules = if above { rules.with_above() } else { rules };
            let rules = std::sync::Mutex::new(rules);
            let ours = WalkBuilder::new(&root)
                .standard_filters(false)
                .filter_entry(move |entry| !rules.lock().expect("is whole").skips(entry))
                .build();
            let expected = paths(crates, &root);
            assert!(expected.len() > 10);
            assert_eq!(paths(ours, &root), expected, "{exclude} {above}");
        }
        fs::remove_dir_all(base).expect("can remove");
    }
}
