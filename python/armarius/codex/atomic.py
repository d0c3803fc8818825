"""Writing a small file so that a crash leaves either the old one or the new one, never half of one."""

import contextlib
import os
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from armarius.errors import StoreBusy, StoreFull

LOCK_NAME = ".lock"
_RETRY_S = 0.02


def write_atomic(path: Path, data: bytes) -> None:
    """Replace `path` by `data`: temporary file beside it, fsync, rename, fsync of the folder.

    Raises:
        StoreFull: The disk is full or the folder is read-only; the old file is untouched.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise StoreFull(f"{path.name}: not written: {error.strerror or error}") from error


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":  # Windows cannot open folders; its rename is journalled
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def folder_lock(folder: Path, *, name: str = LOCK_NAME, timeout: float = 5.0) -> Iterator[None]:
    """Hold a lock of `folder`, by default that of its writers; the system releases it when the process ends.

    Raises:
        StoreBusy: Another process holds it for longer than `timeout` seconds.
        StoreFull: The folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / name).open("ab")
    except OSError as error:
        raise StoreFull(f"{folder.name}: cannot be written: {error.strerror or error}") from error
    with file:
        deadline = time.monotonic() + timeout
        while not _try_lock(file):
            if time.monotonic() >= deadline:
                raise StoreBusy(f"{folder.name}: another process has been writing for {timeout:g} s")
            time.sleep(_RETRY_S)
        try:
            yield
        finally:
            _unlock(file)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
