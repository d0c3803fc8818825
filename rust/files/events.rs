//! `EventQueue`: whether anything happened in some folders since the last question, from the queue of the kernel.
//!
//! A write, rename or removal puts its event into the queue before its system call returns. So a reader that finds the
//! queue empty knows, at the price of one system call, that every change that had returned before is accounted for.
//! A thread that waits for events (the watcher) cannot know this: it may not have run yet.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(target_os = "linux")]
use std::{
    os::fd::OwnedFd,
    sync::atomic::{AtomicUsize, Ordering},
};

#[cfg(target_os = "linux")]
use rustix::{
    fs::inotify::{CreateFlags, WatchFlags, add_watch, init},
    io::{Errno, read},
};

/// Queues of this process; a user has 128 by default, for all programs.
#[cfg(target_os = "linux")]
const MOST: usize = 16;
#[cfg(target_os = "linux")]
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// File systems that only this machine writes: ext2 to ext4, XFS, Btrfs, Bcachefs, F2FS, ZFS, tmpfs, ramfs, overlayfs,
/// FAT, exFAT and NTFS of the kernel. Of others (NFS, SMB, FUSE) changes are made elsewhere, and calls may hang.
#[cfg(target_os = "linux")]
const LOCAL: [u32; 13] = [
    0xEF53,
    0x5846_5342,
    0x9123_683E,
    0xCA45_1A4E,
    0xF2F5_2010,
    0x2FC1_2FC1,
    0x0102_1994,
    0x8584_58F6,
    0x794C_7630,
    0x4D44,
    0x2011_BAB0,
    0x7366_746E,
    0x5346_544E,
];

/// Whether a folder lies on a file system of this machine, whose calls return. Where the system does not say, it does.
#[cfg(target_os = "linux")]
#[must_use]
pub fn is_local(folder: &Path) -> bool {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "its type differs by architecture"
    )]
    rustix::fs::statfs(folder).is_ok_and(|system| LOCAL.contains(&(system.f_type as u32)))
}

/// Whether a folder lies on a file system of this machine, whose calls return. Where the system does not say, it does.
#[cfg(target_os = "macos")]
#[must_use]
pub fn is_local(folder: &Path) -> bool {
    const MNT_LOCAL: u32 = 0x1000;
    rustix::fs::statfs(folder).is_ok_and(|system| system.f_flags & MNT_LOCAL != 0)
}

/// Whether a folder lies on a file system of this machine, whose calls return. Where the system does not say, it does.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
#[must_use]
pub fn is_local(_: &Path) -> bool {
    true
}

/// A queue of the events of the folders that are added to it.
///
/// It misses what is written through mapped memory or through a hard link in another folder.
#[derive(Debug)]
pub struct EventQueue {
    #[cfg(target_os = "linux")]
    queue: OwnedFd,
    /// How often something was in the queue.
    count: Mutex<u64>,
}

impl EventQueue {
    /// A queue. None on systems other than Linux, and when the user or this process has too many.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn create() -> Option<Self> {
        if OPEN.load(Ordering::Relaxed) >= MOST {
            return None;
        }
        let queue = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        OPEN.fetch_add(1, Ordering::Relaxed);
        Some(Self {
            queue,
            count: Mutex::new(0),
        })
    }

    /// None: there is no such queue on this system.
    #[cfg(not(target_os = "linux"))]
    #[must_use]
    pub fn create() -> Option<Self> {
        None
    }

    /// Add a folder, not those in it; false if that failed. Adding one twice is harmless.
    #[cfg(target_os = "linux")]
    pub(super) fn add(&self, folder: &Path) -> bool {
        let flags = WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        add_watch(&self.queue, folder, flags).is_ok()
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn add(&self, _: &Path) -> bool {
        false
    }

    /// How often something was in the queue, now included; empties it.
    ///
    /// The guard keeps other threads from asking until the caller has looked at what changed.
    pub(super) fn count(&self) -> MutexGuard<'_, u64> {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += u64::from(self.empty());
        count
    }

    /// Whether something was in the queue.
    #[cfg(target_os = "linux")]
    fn empty(&self) -> bool {
        let mut buffer = [0_u8; 4096];
        let mut any = false;
        loop {
            match read(&self.queue, &mut buffer) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return any,
                Ok(1..) => any = true,
                Ok(0) | Err(_) => return true,
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn empty(&self) -> bool {
        true
    }
}

#[cfg(target_os = "linux")]
impl Drop for EventQueue {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}
