//! Open a file of a project: below a folder that is trusted, through no link, without waiting, of a bounded size.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Component, Path};

/// A regular file below `root`, ready for reading.
///
/// Each folder on the way is opened by its name in the one before, so that a path that changes meanwhile leads nowhere
/// else.
///
/// # Errors
/// `relative` is absolute, empty or holds `..`; nothing is there; a link is on the way or in its place; it is no regular
/// file, which is not waited for; it has more than `limit` bytes.
pub fn open_below(root: &Path, relative: &Path, limit: u64) -> Result<File> {
    let (folders, name) = parts_of(relative)?;
    let file = regular(&system::Folder::open(root, &folders)?, name)?;
    within(file.metadata()?.len(), limit)?;
    Ok(file)
}

/// Why a file was not read.
#[derive(Debug)]
pub enum Unread {
    /// More than the limit; the bytes it has, None when it grew beyond it while it was read.
    TooLarge(Option<u64>),
    /// Anything else, as [`open_below`] has it.
    Failed(Error),
}

impl From<Error> for Unread {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The bytes of regular files below `root`, as [`read_below`] of each; a folder stays open from one file to the next in it.
pub fn read_many_below(
    root: &Path,
    relatives: &[impl AsRef<Path>],
    limit: u64,
) -> Vec<std::result::Result<Vec<u8>, Unread>> {
    let mut held: Option<(Vec<&OsStr>, system::Folder)> = None;
    relatives
        .iter()
        .map(|relative| {
            let (folders, name) = parts_of(relative.as_ref())?;
            let folder = match held.take() {
                Some((path, folder)) if path == folders => folder,
                _ => system::Folder::open(root, &folders)?,
            };
            let (_, folder) = held.insert((folders, folder));
            let mut file = regular(folder, name)?;
            let size = file.metadata()?.len();
            if size > limit {
                return Err(Unread::TooLarge(Some(size)));
            }
            let mut data = Vec::with_capacity(size as usize + 1);
            file.by_ref().take(limit + 1).read_to_end(&mut data)?;
            if data.len() as u64 > limit {
                return Err(Unread::TooLarge(None));
            }
            Ok(data)
        })
        .collect()
}

/// The folders on the way to a file, and its name.
fn parts_of(relative: &Path) -> Result<(Vec<&OsStr>, &OsStr)> {
    let mut names = Vec::new();
    for part in relative.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            _ => return Err(Error::other("leads out of the project")),
        }
    }
    let name = names
        .pop()
        .ok_or_else(|| Error::other("not a regular file"))?;
    Ok((names, name))
}

fn regular(folder: &system::Folder, name: &OsStr) -> Result<File> {
    let file = folder.file(name)?;
    if !file.metadata()?.is_file() {
        return Err(Error::other("not a regular file"));
    }
    Ok(file)
}

/// The bytes of a regular file below `root`; arguments and errors as [`open_below`].
///
/// # Errors
/// Also when it grows beyond `limit` while it is read.
pub fn read_below(root: &Path, relative: &Path, limit: u64) -> Result<Vec<u8>> {
    read(open_below(root, relative, limit)?, limit)
}

/// The bytes of a regular file that is the user's own: links are followed.
///
/// # Errors
/// Nothing is there, it is no regular file, or it has more than `limit` bytes.
pub fn read_own(path: &Path, limit: u64) -> Result<Vec<u8>> {
    // A first look: opening a pipe waits, and opening a device may already do something.
    if !path.metadata()?.is_file() {
        return Err(Error::other("not a regular file"));
    }
    let file = system::open_own(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(Error::other("not a regular file"));
    }
    within(found.len(), limit)?;
    read(file, limit)
}

fn read(file: File, limit: u64) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    file.take(limit + 1).read_to_end(&mut data)?;
    within(data.len() as u64, limit)?;
    Ok(data)
}

fn within(size: u64, limit: u64) -> Result<()> {
    if size > limit {
        let what = format!("too large: {size} bytes, at most {limit} are read");
        return Err(Error::new(ErrorKind::FileTooLarge, what));
    }
    Ok(())
}

#[cfg(unix)]
mod system {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::{Error, Result};
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
    use rustix::io::Errno;

    const FOLDER: OFlags = OFlags::RDONLY
        .union(OFlags::DIRECTORY)
        .union(OFlags::CLOEXEC);
    const FILE: OFlags = OFlags::RDONLY
        .union(OFlags::NONBLOCK)
        .union(OFlags::CLOEXEC);

    /// A folder held open: its names are reached from there.
    pub(super) struct Folder(OwnedFd);

    impl Folder {
        pub(super) fn open(root: &Path, folders: &[&OsStr]) -> Result<Self> {
            let mut at = openat(CWD, root, FOLDER, Mode::empty())?;
            for folder in folders {
                let next = openat(&at, *folder, FOLDER | OFlags::NOFOLLOW, Mode::empty());
                at = next.map_err(|error| refusal(&at, folder, error))?;
            }
            Ok(Self(at))
        }

        pub(super) fn file(&self, name: &OsStr) -> Result<File> {
            let at = &self.0;
            // A first look: opening a device may already do something.
            let found = statat(at, name, AtFlags::SYMLINK_NOFOLLOW)?;
            match FileType::from_raw_mode(found.st_mode) {
                FileType::RegularFile => {}
                FileType::Symlink => return Err(Error::other("symbolic link")),
                _ => return Err(Error::other("not a regular file")),
            }
            let file = openat(at, name, FILE | OFlags::NOFOLLOW, Mode::empty());
            Ok(File::from(file.map_err(|error| refusal(at, name, error))?))
        }
    }

    pub(super) fn open_own(path: &Path) -> Result<File> {
        Ok(File::from(openat(CWD, path, FILE, Mode::empty())?))
    }

    /// Systems disagree on the error number of a link that is not followed.
    fn refusal(at: &OwnedFd, name: &OsStr, error: Errno) -> Error {
        match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Symlink => {
                Error::other("symbolic link")
            }
            _ => error.into(),
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::{Error, Result};
    use std::path::{Path, PathBuf};

    // Windows has no opening relative to a folder: between the look and the opening a link may still be put there.
    pub(super) struct Folder(PathBuf);

    impl Folder {
        pub(super) fn open(root: &Path, folders: &[&OsStr]) -> Result<Self> {
            let mut path = root.to_path_buf();
            for folder in folders {
                path.push(folder);
                no_link(&path)?;
            }
            Ok(Self(path))
        }

        pub(super) fn file(&self, name: &OsStr) -> Result<File> {
            let path = self.0.join(name);
            no_link(&path)?;
            if !path.is_file() {
                return Err(Error::other("not a regular file"));
            }
            File::open(path)
        }
    }

    fn no_link(path: &Path) -> Result<()> {
        if path.symlink_metadata()?.is_symlink() {
            return Err(Error::other("symbolic link"));
        }
        Ok(())
    }

    pub(super) fn open_own(path: &Path) -> Result<File> {
        File::open(path)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn said(result: Result<Vec<u8>>) -> String {
        match result {
            Ok(data) => String::from_utf8(data).expect("is text"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn only_a_regular_file_below_the_root_is_opened() {
        let base = std::env::temp_dir().join(format!("armarius-open-{}", std::process::id()));
        let root = base.join("novel");
        fs::create_dir_all(root.join("a")).expect("can create");
        fs::write(root.join("a/x.md"), "within").expect("can write");
        fs::write(base.join("secret.md"), "secret").expect("can write");
        symlink("../secret.md", root.join("link.md")).expect("can link");
        symlink("a", root.join("way")).expect("can link");
        symlink("..", root.join("out")).expect("can link");
        let cases = [
            ("a/x.md", "within"),
            ("./a/x.md", "within"),
            ("link.md", "symbolic link"),
            ("way/x.md", "symbolic link"),
            ("out/secret.md", "symbolic link"),
            ("../secret.md", "leads out of the project"),
            ("a/../../secret.md", "leads out of the project"),
            ("/dev/zero", "leads out of the project"),
            ("", "not a regular file"),
            ("a", "not a regular file"),
        ];
        for (path, expected) in cases {
            assert_eq!(
                said(read_below(&root, Path::new(path), 10)),
                expected,
                "{path}"
            );
        }
        let large = said(read_below(&root, Path::new("a/x.md"), 3));
        assert_eq!(large, "too large: 6 bytes, at most 3 are read");
        assert_eq!(said(read_own(&root.join("link.md"), 10)), "secret");
        assert_eq!(
            said(read_own(Path::new("/dev/zero"), 10)),
            "not a regular file"
        );
        fs::remove_dir_all(base).expect("can remove");
    }
}
