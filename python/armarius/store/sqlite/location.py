"""The folder of an index, the lock of its users, and the check whether its file is intact.

The folder is named by this package alone, so its contents may be replaced. The last process to close an index writes
a seal, the SHA-256 of the file. An index with a matching seal is opened; one that a live process has open is joined;
any other is rebuilt in a new file. A digest detects all damage; SQLite's `quick_check` misses most.

The lock file stays empty, so nothing in it can be damaged. The system releases the lock when its holder ends.
"""

import hashlib
import os
import re
import stat
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from armarius.errors import StoreBusy, StoreError, StoreFull
from armarius.io import (
    Refused,
    create_empty,
    make_folder,
    move_atomic,
    names_in,
    open_file,
    open_lock_file,
    read_file,
    refusal,
    remove_any,
    stat_of,
    write_atomic,
)
from armarius.io.processes import try_lock, unlock
from armarius.io.write import cache_root, is_remote
from armarius.store.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION

_PATIENCE_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 0.01


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
                if try_lock(descriptor, exclusive=exclusive):
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
        while self._descriptor is not None and not try_lock(self._descriptor, exclusive=False):
            if time.monotonic() > deadline:
                raise StoreBusy(f"{self.path}: another process has been opening the index for too long")
            time.sleep(_RETRY_SECONDS)

    def alone(self) -> bool:
        """Whether nobody else holds the lock; it is exclusive then, and may be lost otherwise: `leave` must follow."""
        return self._descriptor is not None and try_lock(self._descriptor, exclusive=True)

    def leave(self) -> None:
        """Release the lock. Twice is fine."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            unlock(descriptor)  # for a forked child too, which has the same open file
            os.close(descriptor)

    def _is_of(self, descriptor: int) -> bool:
        try:
            there, info = os.lstat(self.path), os.fstat(descriptor)
        except OSError:
            return False
        return stat.S_ISREG(there.st_mode) and (there.st_dev, there.st_ino) == (info.st_dev, info.st_ino)


PlaceState = Literal["absent", "closed", "left", "foreign"]
"""`closed`: the seal matches. `left`: not closed, damaged, or of an earlier schema. `foreign`: another program's."""

_FOLDER: Final = "armarius-index"  # inside `index_dir`


def place_for(
    root: Path, index_dir: str | os.PathLike[str] | None = None, *, others: Sequence[Path] = ()
) -> "IndexPlace":
    """The folder of a project's index: `<index_dir>/armarius-index/<name>-<digest>/`, or `<cache>/<name>-<digest>/`.

    Args:
        root: The project folder; its resolved path names the index.
        index_dir: The chosen folder, relative to the project; ignored when it is on a network drive.
        others: The other folders of a series; each set of folders has an index of its own.

    Raises:
        StoreError: `index_dir` is not a path.
    """
    resolved = Path(os.path.realpath(root))
    if index_dir is not None and "\0" in os.fspath(index_dir):
        raise StoreError(f"index_dir: not a path: {os.fspath(index_dir)!r}")
    slug = re.sub(r"[^\w-]+", "-", resolved.name)[:40] or "project"
    every = b"\0".join(os.fsencode(os.path.realpath(path)) for path in (resolved, *others))
    name = f"{slug}-{hashlib.blake2b(every, digest_size=8).hexdigest()}"
    if index_dir is None or is_remote(resolved / index_dir):
        return IndexPlace(cache_root() / name, is_cache=True)
    for start in (resolved, Path(os.path.abspath(root))):  # noqa: PTH100 - not resolved: links below are refused
        chosen = Path(os.path.normpath(start / index_dir))
        if chosen.is_relative_to(start):
            return IndexPlace(resolved / chosen.relative_to(start) / _FOLDER / name, project=resolved)
    return IndexPlace(resolved / index_dir / _FOLDER / name)


class IndexPlace:
    """The folder of one index: the file, its seal, and the lock of its users.

    Args:
        folder: Folder of this index alone; created by `enter`.
        project: The project folder, if it contains `folder`; no link below it is followed.
        is_cache: The folder is in the cache folder, where every file is derived data.

    Attributes:
        below: The trusted folder above `folder`; see `armarius.io.opened_folder`.
        lock: Held from `enter` until its `leave`.
    """

    def __init__(self, folder: Path, *, project: Path | None = None, is_cache: bool = False) -> None:
        self.folder = folder
        self.is_cache = is_cache
        self.below = _chosen(folder) if project is None else project
        self.index = folder / "index.sqlite"
        self.seal = folder / "index.seal"
        self.lock = PlaceLock(folder / "index.lock", below=self.below)
        self._is_chosen = project is None

    def enter(self) -> bool:
        """Create the folder and lock it, so that no other process can seal or replace the index.

        Returns:
            True when no other store has the index open: then `lock.settle` must follow once it is opened.

        Raises:
            StoreFull: The folder cannot be created or written, or is a link.
            StoreBusy: Another process holds the exclusive lock for too long.
        """
        if self._is_chosen:
            make_folder(self.below, mode=0o700)
        make_folder(self.folder, below=self.below, mode=0o700)
        try:
            try:
                return self.lock.enter()
            except Refused:
                self._remove(self.lock.path)
                return self.lock.enter()
        except OSError as error:
            raise StoreFull(f"{self.lock.path}: cannot be written: {error.strerror or error}") from error

    def state(self) -> PlaceState:
        """State of the index file.

        Call only without other users: closing a file drops the locks that SQLite holds on it in this process.

        Cost: reads the whole file if its size is the sealed one: about 10 ms for 10 MB.
        """
        info = stat_of(self.index, below=self.below)
        if info is None:
            return "absent"
        if refusal(info) or info.st_nlink > 1:  # under a second name it may be a file of the user's
            return "left"
        try:
            seal = read_file(self.seal, limit=4096, below=self.below).decode("ascii").split()
        except (OSError, UnicodeDecodeError):
            seal = []
        try:
            with open_file(self.index, below=self.below) as file:
                header = file.read(100)
            if seal[1:] != [str(info.st_size)]:  # not read: another size cannot match
                return "foreign" if _is_anothers(header, info.st_size) else "left"
            is_old = int.from_bytes(header[60:64], "big") < SCHEMA_VERSION
            return "left" if is_old or self._has_log() or self._digest() != seal else "closed"
        except OSError:  # replaced by something that is not a readable file
            return "left"

    def draft(self) -> Path:
        """Create an empty file in the folder, to be built and then passed to `replace`.

        Raises:
            StoreFull: It cannot be created.
        """
        path = self.folder / f".{self.index.name}.{os.urandom(8).hex()}.tmp"
        try:
            os.close(create_empty(path, below=self.below))
        except OSError as error:
            raise StoreFull(f"{path}: cannot be made: {error.strerror or error}") from error
        return path

    def replace(self, draft: Path, *, alone: bool) -> None:
        """Replace the index by a draft, and delete the files of the old one.

        Args:
            draft: A closed database.
            alone: No other process has the index open: everything else in the folder is deleted too.

        Raises:
            StoreFull: A file cannot be deleted or moved.
        """
        self.break_seal()
        self.clear_side_files()
        for name in names_in(self.folder, below=self.below) if alone else [self.index.name]:
            info = stat_of(self.folder / name, below=self.below)
            is_replaced = name == self.index.name and info is not None and not refusal(info)
            if name not in (draft.name, self.lock.path.name) and not is_replaced:
                self._remove(self.folder / name)
        move_atomic(draft, self.index, below=self.below)

    def put(self, database: bytes) -> None:
        """Write a closed index where there is none, with its seal.

        Raises:
            StoreFull: It cannot be written.
        """
        make_folder(self.folder, below=self.below, mode=0o700)
        write_atomic(self.index, database, below=self.below, mode=0o600)
        self.write_seal()

    def discard(self, draft: Path) -> None:
        """Delete a draft that was not finished.

        Raises:
            StoreFull: It cannot be deleted.
        """
        self._remove(draft)

    def clear_side_files(self) -> None:
        """Delete the files that SQLite would read with the index: log, shared memory, journal.

        Raises:
            StoreFull: One of them cannot be deleted.
        """
        for suffix in ("-wal", "-shm", "-journal"):
            self._remove(self._side_file(suffix))

    def may_be_read(self, *, alone: bool) -> bool:
        """Whether SQLite may read an unsealed index; deletes its shared memory and journal first if `alone`.

        Raises:
            StoreFull: One of them cannot be deleted.
        """
        if alone:
            self._remove(self._side_file("-shm"))
            self._remove(self._side_file("-journal"))
        there = (stat_of(self._side_file(suffix), below=self.below) for suffix in ("", "-wal"))
        return self.exists() and not any(refusal(info) or info.st_nlink > 1 for info in there if info is not None)

    def exists(self) -> bool:
        """Whether the index file, or anything else of its name, exists."""
        return stat_of(self.index, below=self.below) is not None

    def is_sealed(self) -> bool:
        """Whether there is a seal; `state` tells whether it matches."""
        return stat_of(self.seal, below=self.below) is not None

    def write_seal(self) -> None:
        """Write the seal of the index file; only the last process to close may call it."""
        write_atomic(self.seal, " ".join(self._digest()).encode("ascii"), below=self.below)

    def break_seal(self) -> None:
        """Delete the seal before the index changes.

        Raises:
            StoreFull: The folder cannot be written.
        """
        self._remove(self.seal)

    def size(self) -> int:
        """Bytes of the index with its write-ahead log."""
        infos = (stat_of(path, below=self.below) for path in (self.index, self._side_file("-wal")))
        return sum(info.st_size for info in infos if info is not None)

    def _has_log(self) -> bool:
        """Whether there is a journal or a non-empty log: a process ended without closing."""
        log = stat_of(self._side_file("-wal"), below=self.below)
        journal = stat_of(self._side_file("-journal"), below=self.below)
        return journal is not None or (log is not None and log.st_size > 0)

    def _side_file(self, suffix: str) -> Path:
        return self.folder / f"{self.index.name}{suffix}"

    def _remove(self, path: Path) -> None:
        try:
            remove_any(path, below=self.below)
        except OSError as error:
            raise StoreFull(f"{path}: cannot be deleted: {error.strerror or error}") from error

    def _digest(self) -> list[str]:
        """Hash and size in bytes of the index file. SHA-256 has hardware support."""
        digest, size = hashlib.sha256(), 0
        with open_file(self.index, below=self.below) as file:
            while block := file.read(1 << 20):
                digest.update(block)
                size += len(block)
        return [digest.hexdigest(), str(size)]


def _chosen(folder: Path) -> Path:
    """The folder above the parts that this package names: `index_dir`, or the cache."""
    return folder.parent.parent if folder.parent.name == _FOLDER else folder.parent


def _is_anothers(header: bytes, size: int) -> bool:
    """Whether this is a consistent database header (https://sqlite.org/fileformat.html) with another application id.

    An inconsistent header is taken for a damaged index of ours.
    """
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        return False

    def number(at: int) -> int:
        return int.from_bytes(header[at : at + 4], "big")

    page = int.from_bytes(header[16:18], "big")
    whole = number(28) * (65536 if page == 1 else page) == size and number(24) == number(92)
    return whole and number(68) != APPLICATION_ID
