//! What a walk rested on, so that it can be told without another walk whether one would answer the same.
//!
//! A walk depends on the names in the folders it entered, on its ignore files, and on what it says of each file. A name
//! that comes or goes changes the times of its folder. So a few stats of what is known take the place of opening,
//! reading, matching and sorting: 120 files in a tenth of a millisecond. Where the kernel reports changes
//! ([`EventQueue`]), an empty queue takes the place of the stats: any number of files in a few microseconds.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(unix)]
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};
#[cfg(unix)]
use std::{
    os::unix::fs::MetadataExt,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::files::events::{EventQueue, is_local};

/// The count of a queue at which nothing was proven.
const NEVER: u64 = u64::MAX;

/// Nanoseconds: a change this soon after another may leave the same times behind, as clocks of file systems tick.
#[cfg(unix)]
const RACY: i64 = 50_000_000;
/// The same where times have no digits below a millisecond (FAT).
#[cfg(unix)]
const COARSE: i64 = 2_000_000_000;

/// What the file system says of an entry; any change of it, or another in its place, changes this.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    size: u64,
    modified: i64,
    changed: i64,
    inode: u64,
    device: u64,
    mode: u32,
}

#[cfg(not(unix))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark;

impl Mark {
    /// Device and inode.
    #[cfg(unix)]
    fn place(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    #[cfg(not(unix))]
    fn place(&self) -> (u64, u64) {
        (0, 0)
    }
}

/// What one walk looked at. Folders and ignore files are noted before they are read, files with what was told of them.
#[derive(Debug, Default)]
pub struct Seen {
    root: PathBuf,
    /// Folders with what was noted in each; one that was noted in twice, with others between, stands twice.
    folders: Vec<Folder>,
    /// Something could not be noted, or changed too shortly before to be sure: only another walk can tell.
    doubtful: bool,
    /// Has every folder noted; None where a change may come without an event.
    queue: Option<Arc<EventQueue>>,
    /// The count of the queue at which all of this held.
    proven: AtomicU64,
}

#[derive(Debug)]
#[cfg_attr(not(unix), expect(dead_code, reason = "nothing holds there"))]
struct Folder {
    path: PathBuf,
    /// Names in it; no name is the folder itself, whose path may be a link, as its user gave it.
    entries: Vec<(OsString, Mark)>,
}

impl Seen {
    pub(super) fn of(root: &Path, queue: Option<Arc<EventQueue>>) -> Self {
        let queue = queue.filter(|_| is_local(root));
        let mut seen = Self {
            root: root.to_path_buf(),
            proven: AtomicU64::new(queue.as_ref().map_or(NEVER, |queue| *queue.count())),
            queue,
            ..Self::default()
        };
        seen.rests_on(root);
        seen
    }

    /// Note a folder or an ignore file, before it is read.
    pub(super) fn rests_on(&mut self, path: &Path) {
        let reported = self.queue.as_ref().is_none_or(|queue| queue.add(path));
        let Some(mark) = mark_of(&self.root, path) else {
            self.doubtful = true;
            return;
        };
        if !(reported && self.is_on_device(&mark)) && path.is_dir() {
            self.queue = None;
        }
        self.doubtful |= !is_settled(&mark);
        self.note(path, mark);
    }

    /// Note a file that was found, with what was told of it: when it was told too soon to be sure, its stamp says so.
    pub(super) fn found(&mut self, path: &Path, meta: &std::fs::Metadata) {
        #[cfg(unix)]
        if meta.nlink() > 1 {
            self.queue = None;
        }
        match mark(meta) {
            Some(mark) => self.note(path, mark),
            None => self.doubtful = true,
        }
    }

    fn note(&mut self, path: &Path, mark: Mark) {
        let place = if path == self.root {
            Some((path, OsString::new()))
        } else {
            path.parent().zip(path.file_name().map(OsString::from))
        };
        let Some((folder, name)) = place else {
            self.doubtful = true;
            return;
        };
        match self.folders.last_mut() {
            Some(last) if last.path == folder => last.entries.push((name, mark)),
            _ => self.folders.push(Folder {
                path: folder.to_path_buf(),
                entries: vec![(name, mark)],
            }),
        }
    }

    /// Something could not be looked at.
    pub(super) fn missed(&mut self) {
        self.doubtful = true;
    }

    /// Whether another walk would answer the same; false also when that cannot be told.
    ///
    /// Always false where folders have no reliable times (Windows): there every look is a walk.
    ///
    /// With `by_stats` all stats are compared, which shows also what the kernel does not report: writes through mapped
    /// memory, or through a hard link that was made since.
    ///
    /// Cost: a stat per file and folder, 1 to 3 µs each; 3 µs for all when the kernel reports changes and there was none.
    #[must_use]
    pub fn holds(&self, by_stats: bool) -> bool {
        if self.doubtful {
            return false;
        }
        let Some(queue) = &self.queue else {
            return self.is_equal();
        };
        let count = queue.count(); // before the stats: what changes during them is in the queue for the next question
        if !by_stats && self.proven.load(Ordering::Relaxed) == *count && self.is_in_place() {
            return true;
        }
        let equal = self.is_equal();
        self.proven
            .store(if equal { *count } else { NEVER }, Ordering::Relaxed);
        equal
    }

    fn is_equal(&self) -> bool {
        self.folders.iter().all(Folder::holds)
    }

    /// Whether the root is at its path: no event tells that a folder above it was moved.
    fn is_in_place(&self) -> bool {
        let now = mark_of(&self.root, &self.root);
        now.is_some_and(|now| {
            self.root_mark()
                .is_some_and(|mark| mark.place() == now.place())
        })
    }

    /// Whether a folder is on the file system of the root, of which it is known that the kernel reports every change.
    fn is_on_device(&self, mark: &Mark) -> bool {
        self.root_mark()
            .is_none_or(|root| root.place().0 == mark.place().0)
    }

    fn root_mark(&self) -> Option<&Mark> {
        self.folders.first()?.entries.first().map(|(_, mark)| mark)
    }
}

impl Folder {
    /// The folder is opened, so that the way to it is walked once and not for each name in it.
    #[cfg(unix)]
    fn holds(&self) -> bool {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(open) = openat(CWD, &self.path, flags, Mode::empty()) else {
            return false;
        };
        self.entries.iter().all(|(name, mark)| {
            let now = if name.is_empty() {
                statat(CWD, &self.path, AtFlags::empty())
            } else {
                statat(&open, name, AtFlags::SYMLINK_NOFOLLOW)
            };
            now.is_ok_and(|now| mark_of_stat(&now) == *mark)
        })
    }

    #[cfg(not(unix))]
    fn holds(&self) -> bool {
        false
    }
}

/// Types of its fields differ from system to system.
#[cfg(unix)]
#[allow(
    clippy::unnecessary_cast,
    clippy::useless_conversion,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap
)]
fn mark_of_stat(stat: &rustix::fs::Stat) -> Mark {
    Mark {
        size: stat.st_size as u64,
        modified: stat.st_mtime as i64 * 1_000_000_000 + stat.st_mtime_nsec as i64,
        changed: stat.st_ctime as i64 * 1_000_000_000 + stat.st_ctime_nsec as i64,
        inode: stat.st_ino as u64,
        device: stat.st_dev as u64,
        mode: u32::from(stat.st_mode),
    }
}

/// The root may be a link, as its user gave it; nothing below it is followed.
fn mark_of(root: &Path, path: &Path) -> Option<Mark> {
    let meta = if path == root {
        path.metadata()
    } else {
        path.symlink_metadata()
    };
    meta.ok().and_then(|meta| mark(&meta))
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "there is none on other systems")]
fn mark(meta: &std::fs::Metadata) -> Option<Mark> {
    Some(Mark {
        size: meta.size(),
        modified: meta.mtime() * 1_000_000_000 + meta.mtime_nsec(),
        changed: meta.ctime() * 1_000_000_000 + meta.ctime_nsec(),
        inode: meta.ino(),
        device: meta.dev(),
        mode: meta.mode(),
    })
}

#[cfg(not(unix))]
fn mark(_: &std::fs::Metadata) -> Option<Mark> {
    None
}

#[cfg(unix)]
fn is_settled(mark: &Mark) -> bool {
    let last = mark.modified.max(mark.changed);
    let racy = if last % 1_000_000 == 0 { COARSE } else { RACY };
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .is_ok_and(|now| i64::try_from(now.as_nanos()).is_ok_and(|now| now - last > racy))
}

#[cfg(not(unix))]
fn is_settled(_: &Mark) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::events::EventQueue;
    use super::super::walk::walk;
    use std::fs;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::Duration;

    /// A folder with a few documents, all of it written long ago.
    fn project(name: &str) -> PathBuf {
        let root =
            std::env::temp_dir().join(format!("armarius-seen-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (path, text) in [
            ("a.md", "one"),
            ("b/c.md", "two"),
            ("b/venv/d.md", "three"),
            ("hidden/.ignore", "x.md\n"),
            ("hidden/x.md", "four"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("has a parent")).expect("can create");
            fs::write(path, text).expect("can write");
        }
        std::thread::sleep(Duration::from_millis(60));
        root
    }

    #[test]
    fn what_a_walk_rested_on_holds_until_anything_of_it_changes() {
        type Change = fn(&PathBuf);
        let changes: [(&str, Change); 9] = [
            ("written", |root| {
                fs::write(root.join("b/c.md"), "TWO").expect("can write");
            }),
            ("created", |root| {
                fs::write(root.join("b/new.md"), "").expect("can write");
            }),
            ("removed", |root| {
                fs::remove_file(root.join("a.md")).expect("can remove");
            }),
            ("renamed", |root| {
                fs::rename(root.join("a.md"), root.join("z.md")).expect("can rename");
            }),
            ("folder", |root| {
                fs::create_dir(root.join("empty")).expect("can create");
            }),
            ("moved in", |root| {
                fs::create_dir(root.join("b/e")).expect("can create");
                fs::rename(root.join("a.md"), root.join("b/e/a.md")).expect("can rename");
            }),
            ("rule changed", |root| {
                fs::write(root.join("hidden/.ignore"), "y.md\n").expect("can write");
            }),
            ("rule new", |root| {
                fs::write(root.join(".gitignore"), "b/\n").expect("can write");
            }),
            ("built", |root| {
                fs::write(root.join("b/venv/pyvenv.cfg"), "").expect("can write");
            }),
        ];
        for (name, change) in changes {
            let root = project(name);
            for queue in [None, EventQueue::create().map(Arc::new)] {
                let (_, _, seen) =
                    walk(&root, &[], &[], &[], queue, &mut || true).expect("no patterns");
                assert!(seen.holds(false), "{name}: nothing has changed");
                change(&root);
                assert!(!seen.holds(false), "{name}");
                assert!(
                    !seen.holds(false),
                    "{name}: its event was read, and the change stands"
                );
                fs::remove_dir_all(&root).expect("can remove");
                assert_eq!(project(name), root);
            }
            fs::remove_dir_all(root).expect("can remove");
        }
    }

    #[test]
    fn a_write_that_sets_the_old_time_again_is_seen() {
        let root = project("times");
        let path = root.join("a.md");
        let before = fs::metadata(&path)
            .and_then(|meta| meta.modified())
            .expect("has a time");
        let (_, _, seen) = walk(&root, &[], &[], &[], None, &mut || true).expect("no patterns");
        fs::write(&path, "ONE").expect("can write");
        let file = fs::File::options()
            .write(true)
            .open(&path)
            .expect("can open");
        file.set_modified(before).expect("can set");
        assert!(!seen.holds(true));
        fs::remove_dir_all(root).expect("can remove");
    }

    #[test]
    fn a_folder_that_changed_just_now_is_walked_again() {
        let root = project("fresh");
        fs::write(root.join("b/new.md"), "").expect("can write");
        let (found, _, seen) = walk(&root, &[], &[], &[], None, &mut || true).expect("no patterns");
        assert_eq!(found.len(), 4);
        assert!(
            !seen.holds(true),
            "another file may come within the same tick of the clock"
        );
        fs::remove_dir_all(root).expect("can remove");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_event_that_changes_nothing_of_the_walk_leaves_it_standing() {
        let root = project("events");
        let queue = EventQueue::create().map(Arc::new);
        let (_, _, seen) = walk(&root, &[], &[], &[], queue, &mut || true).expect("no patterns");
        fs::write(root.join("hidden/x.md"), "ignored").expect("can write");
        assert!(seen.holds(false));
        fs::write(root.join("b/c.md"), "changed").expect("can write");
        assert!(!seen.holds(false));
        fs::remove_dir_all(root).expect("can remove");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_has_another_name_elsewhere_is_compared_each_time() {
        let root = project("linked");
        let elsewhere = root.with_extension("elsewhere");
        let _ = fs::remove_file(&elsewhere);
        fs::hard_link(root.join("a.md"), &elsewhere).expect("can link");
        std::thread::sleep(Duration::from_millis(60));
        let queue = EventQueue::create().map(Arc::new);
        let (_, _, seen) = walk(&root, &[], &[], &[], queue, &mut || true).expect("no patterns");
        assert!(seen.holds(false));
        fs::write(&elsewhere, "ONE").expect("can write");
        assert!(
            !seen.holds(false),
            "no folder of the walk has an event of it"
        );
        fs::remove_file(elsewhere).expect("can remove");
        fs::remove_dir_all(root).expect("can remove");
    }

    #[test]
    fn a_folder_swapped_for_another_is_seen() {
        let root = project("swapped");
        let other = project("swapped-other");
        let queue = EventQueue::create().map(Arc::new);
        let (_, _, seen) = walk(&root, &[], &[], &[], queue, &mut || true).expect("no patterns");
        let aside = root.with_extension("aside");
        let _ = fs::remove_dir_all(&aside);
        fs::rename(&root, &aside).expect("can rename");
        fs::rename(&other, &root).expect("can rename");
        assert!(!seen.holds(false));
        let queue = EventQueue::create().map(Arc::new);
        let (_, _, seen) = walk(&root, &[], &[], &[], queue, &mut || true).expect("no patterns");
        fs::remove_dir_all(&root).expect("can remove");
        assert!(!seen.holds(false), "gone is changed");
        fs::remove_dir_all(aside).expect("can remove");
    }
}
