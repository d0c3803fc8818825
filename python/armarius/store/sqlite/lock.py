"""The lock that says who has an index open: shared by its users, exclusive while one of them makes or seals it.

The lock file stays empty, so nothing in it can be damaged. The system releases the lock when its holder ends.
"""

import os
import stat
import sys
import time
from pathlib import Path
from typing import Final

from armarius.errors import StoreBusy
from armarius.io import open_lock_file

__all__ = ["PlaceLock"]

_PATIENCE_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 0.01

if sys.platform == "win32":
    import ctypes
    import msvcrt

    _KERNEL = ctypes.WinDLL("kernel32", use_last_error=True)

    def _lock(descriptor: int, *, exclusive: bool) -> bool:
        """LockFileEx, because `msvcrt.locking` has no shared lock; 32 zero bytes are an OVERLAPPED at offset 0."""
        _unlock(descriptor)  # a handle does not convert its lock
        flags = 0x1 | (0x2 if exclusive else 0)  # LOCKFILE_FAIL_IMMEDIATELY, LOCKFILE_EXCLUSIVE_LOCK
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
        return bool(_KERNEL.LockFileEx(handle, flags, 0, 1, 0, ctypes.create_string_buffer(32)))

    def _unlock(descriptor: int) -> None:
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
        _KERNEL.UnlockFileEx(handle, 0, 1, 0, ctypes.create_string_buffer(32))
else:
    import fcntl

    def _lock(descriptor: int, *, exclusive: bool) -> bool:
        """`flock`: it belongs to the open file, so that two stores of one process exclude each other too."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class PlaceLock:
    """The lock of one index; not thread safe.

    Args:
        path: The lock file; its folder is there.
        below: The trusted folder that it is reached from; see `armarius.io.opened_folder`.
    """

    def __init__(self, path: Path, *, below: Path | None = None) -> None:
        self.path = path
        self._below = below
        self._descriptor: int | None = None

    def enter(self) -> bool:
        """Lock exclusively if nobody holds the lock, else share it.

        Returns:
            Whether the lock is exclusive; then `settle` must follow.

        Raises:
            StoreBusy: Another process has held it exclusively for ten seconds.
            Refused, OSError: The lock file cannot be opened.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            descriptor = open_lock_file(self.path, below=self._below)
            for exclusive in (True, False):
                if _lock(descriptor, exclusive=exclusive):
                    if self._is_of(descriptor):
                        self._descriptor = descriptor
                        return exclusive
                    break  # deleted or replaced meanwhile: others would lock another file
            os.close(descriptor)
            if time.monotonic() > deadline:
                raise StoreBusy(f"{self.path}: another process has been opening the index for too long")
            time.sleep(_RETRY_SECONDS)

    def settle(self) -> None:
        """Share the lock that was exclusive.

        Raises:
            StoreBusy: Another process has taken it in that moment, and held it exclusively for ten seconds.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self._descriptor is not None and not _lock(self._descriptor, exclusive=False):
            if time.monotonic() > deadline:
                raise StoreBusy(f"{self.path}: another process has been opening the index for too long")
            time.sleep(_RETRY_SECONDS)

    def alone(self) -> bool:
        """Whether nobody else holds the lock; it is exclusive then, and may be lost otherwise: `leave` must follow."""
        return self._descriptor is not None and _lock(self._descriptor, exclusive=True)

    def leave(self) -> None:
        """Release the lock. Twice is fine."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            _unlock(descriptor)  # for a forked child too, which has the same open file
            os.close(descriptor)

    def _is_of(self, descriptor: int) -> bool:
        try:
            there, held = os.lstat(self.path), os.fstat(descriptor)
        except OSError:
            return False
        return stat.S_ISREG(there.st_mode) and (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)
