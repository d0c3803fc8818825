"""One process at a time: a lock file that the system releases when its holder dies."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["LockBusy", "locked"]


class LockBusy(Exception):
    """Another process held the lock for longer than the timeout."""


@contextmanager
def locked(path: Path, *, timeout: float) -> Iterator[None]:
    """Hold the lock file at `path`, made when missing; it stays behind, empty and unlocked.

    Raises:
        LockBusy: Not free within `timeout` seconds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        give_up = time.monotonic() + timeout
        while not _try(descriptor):
            if time.monotonic() >= give_up:
                raise LockBusy(f"{path} is held by another process")
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


if os.name == "nt":  # pragma: no cover - not reached where the tests run
    import msvcrt

    def _try(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
