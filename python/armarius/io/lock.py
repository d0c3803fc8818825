"""The lock of a folder's writers: a lock file that the system releases when its holder ends."""

import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from armarius.errors import ProjectGone, StoreBusy
from armarius.io.folder import Folder, Refused, opened_folder, refusal
from armarius.io.write import not_written

LOCK_NAME = ".lock"
_RETRY_S = 0.02
_HELD = threading.local()  # paths of lock files, of this thread


@contextmanager
def folder_lock(
    folder: Path, *, name: str = LOCK_NAME, timeout: float = 5.0, below: Path | None = None
) -> Iterator[None]:
    """Hold a lock of `folder`, by default that of its writers; the system releases it when the process ends.

    The lock file is made when it is not there, stays behind empty, and is never written to. A thread that holds the
    lock may take it again.

    Args:
        folder: Made when it is not there.
        name: Of the lock file.
        timeout: Seconds to wait for others.
        below: A trusted folder that must be there; see `opened_folder`.

    Raises:
        StoreBusy: Another process holds it for longer than `timeout` seconds.
        ProjectGone: `below` is not there.
        StoreFull: The folder cannot be written, or what lies in the place of the lock is not a regular file.
    """
    held: set[Path] = vars(_HELD).setdefault("paths", set())
    if folder / name in held:
        yield
        return
    deadline = time.monotonic() + timeout
    descriptor = None
    while descriptor is None:
        try:
            with opened_folder(folder, below=below, make=True) as opened:
                descriptor = _acquire(opened, name)
        except OSError as error:
            if below is not None and isinstance(error, FileNotFoundError) and not below.exists():
                raise ProjectGone(f"{folder.name}: not written: the folder {below.name} is gone") from error
            raise not_written(f"{folder.name}/{name}", error, below) from error
        if descriptor is None:
            if time.monotonic() >= deadline:
                raise StoreBusy(f"{folder.name}: another process has been writing for {timeout:g} s")
            time.sleep(_RETRY_S)
    held.add(folder / name)
    try:
        yield
    finally:
        held.discard(folder / name)
        unlock(descriptor)
        os.close(descriptor)


def open_lock_file(path: Path, *, below: Path | None = None) -> int:
    """A descriptor of a lock file, made empty when it is not there.

    Raises:
        Refused: What lies there is not a regular file.
        OSError: It cannot be made or opened.
    """
    with opened_folder(path.parent, below=below) as folder:
        return _opened(folder, path.name)


def _opened(folder: Folder, name: str) -> int:
    there = folder.lstat(name)
    if there is not None and (what := refusal(there)):
        raise Refused(what, name)
    descriptor = folder.open(name, os.O_RDWR | os.O_CREAT)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # put there after the look; opening did not wait
        os.close(descriptor)
        raise Refused("not a regular file", name)
    return descriptor


def _acquire(folder: Folder, name: str) -> int | None:
    """A descriptor that holds the lock; None while somebody else does."""
    descriptor = _opened(folder, name)
    try:
        found = os.fstat(descriptor)
        if try_lock(descriptor, exclusive=True):
            now = folder.lstat(name)
            if now is not None and (now.st_dev, now.st_ino) == (found.st_dev, found.st_ino):
                return descriptor
            unlock(descriptor)  # deleted or replaced meanwhile: others would lock another file
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


if sys.platform == "win32":
    import ctypes
    import msvcrt

    _KERNEL = ctypes.WinDLL("kernel32", use_last_error=True)

    def try_lock(descriptor: int, *, exclusive: bool) -> bool:
        """LockFileEx, because `msvcrt.locking` has no shared lock; 32 zero bytes are an OVERLAPPED at offset 0."""
        unlock(descriptor)  # a handle does not convert its lock
        flags = 0x1 | (0x2 if exclusive else 0)  # LOCKFILE_FAIL_IMMEDIATELY, LOCKFILE_EXCLUSIVE_LOCK
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
        return bool(_KERNEL.LockFileEx(handle, flags, 0, 1, 0, ctypes.create_string_buffer(32)))

    def unlock(descriptor: int) -> None:
        """Release the lock."""
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
        _KERNEL.UnlockFileEx(handle, 0, 1, 0, ctypes.create_string_buffer(32))
else:
    import fcntl

    def try_lock(descriptor: int, *, exclusive: bool) -> bool:
        """`flock`: it belongs to the open file, so that two users in one process exclude each other too."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Release the lock."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)
