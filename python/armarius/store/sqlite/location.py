"""Where an index lives, and whether the file found there is the one this installation left behind.

An index is a cache file that SQLite parses, so only a file that this installation wrote is opened: it is claimed in the
user's cache directory before anything is in it (`claim.py`). In a folder that somebody chose, what carries no claim is
refused and left as it is; in the folder of the user's cache that only we name, it is replaced. While a process has the
index open it holds a shared lock beside the claim; the last one to close leaves a seal, the digest of the whole file. A
sealed index that still has its digest is sound; any other is checked page by page before it is used. SQLite's own
`quick_check` misses most damage, the digest misses none.

SQLite opens by path. Every folder below the trusted one and every file of the index is looked at first, links in the
place of a file are refused by SQLite too (NOFOLLOW, and always for its log), and what was opened is compared with the
claim. What is left to a race is a folder above that is swapped for a link between look and opening, by somebody who
writes to the project at that moment: SQLite then opens an `index.sqlite` elsewhere and it is let go unchanged, since it
carries no claim. The default place is in the user's cache, where nobody else writes.
"""

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from armarius.errors import StoreError, StoreFull
from armarius.io import (
    Refused,
    create_empty,
    is_regular,
    make_folder,
    open_file,
    read_file,
    refusal,
    remove_file,
    remove_other,
    stat_of,
    write_atomic,
)
from armarius.io.cache import cache_root, is_remote
from armarius.store.sqlite.claim import Claim, identity_of
from armarius.store.sqlite.lock import PlaceLock
from armarius.store.sqlite.schema import APPLICATION_ID

__all__ = ["Place", "place_for"]


def place_for(
    root: Path,
    index_dir: str | os.PathLike[str] | None = None,
    *,
    shared: bool = False,
    besides: Sequence[Path] = (),
) -> "Place":
    """The place of a project's index.

    Args:
        root: The project folder; its resolved path names the index.
        index_dir: Another folder, relative to the project; ignored when it is on a network drive.
        shared: Whether `index_dir` holds a folder for each project, as the cache does.
        besides: Other folders that the index holds too: each set of them has an index of its own.

    Raises:
        StoreError: `index_dir` is no path.
    """
    resolved = Path(os.path.realpath(root))
    if index_dir is not None and "\0" in os.fspath(index_dir):
        raise StoreError(f"index_dir: not a path: {os.fspath(index_dir)!r}")
    slug = re.sub(r"[^\w-]+", "-", resolved.name)[:40] or "project"
    every = b"\0".join(os.fsencode(os.path.realpath(one)) for one in (resolved, *besides))
    digest = hashlib.blake2b(every, digest_size=8).hexdigest()
    if index_dir is not None and not is_remote(resolved / index_dir):
        if shared:
            return Place(resolved / index_dir / f"{slug}-{digest}")
        index_dir = Path(index_dir, f"with-{digest}") if besides else Path(index_dir)
        folder = _inside(Path(root), resolved, index_dir)
        return Place(folder, below=resolved) if folder is not None else Place(resolved / index_dir)
    cache = cache_root()
    return Place(cache / f"{slug}-{digest}", below=cache, own=True)


def _inside(root: Path, resolved: Path, index_dir: Path) -> Path | None:
    """`index_dir` as a path below the resolved project; None when it is a folder elsewhere."""
    for start in (resolved, Path(os.path.abspath(root))):  # noqa: PTH100 - not resolved: links below are refused
        wanted = Path(os.path.normpath(start / index_dir))
        if wanted.is_relative_to(start):
            return resolved / wanted.relative_to(start)
    return None


class Place:
    """The files of one index, its claim, its seal and the lock that tells who has it open.

    Args:
        folder: Where the index lies; made by `enter`.
        below: A folder that is trusted, from which `folder` is reached without following a link; None trusts `folder`.
        own: A folder of the user's cache that only this package names: all that lies there under our names is ours.

    Attributes:
        own: As given.
        lock: Held from `enter` until its `leave`.
    """

    def __init__(self, folder: Path, *, below: Path | None = None, own: bool = False) -> None:
        self.folder = folder
        self.below = below
        self.index = folder / "index.sqlite"
        self.seal = folder / "index.seal"
        self.own = own
        self._claim = Claim(cache_root(), self.index, below)
        self.lock = PlaceLock(self._claim.lock)

    def enter(self) -> bool:
        """Lock the place against being checked or replaced by others.

        Returns:
            True when nobody else has the index open: then `lock.settle` must follow once it is checked.

        Raises:
            StoreFull: The folder cannot be made or written, or a link leads to it out of the project.
            StoreBusy: Another process has been checking it for too long.
        """
        self._claim.make_room()
        make_folder(self.folder, below=self.below, mode=0o700)
        return self.lock.enter()

    def check(self, *, alone: bool = False) -> None:
        """Refuse what this installation did not make; until then nothing of it is opened, changed or deleted.

        Args:
            alone: Nobody else has the index open, so that its header may be read: closing a file drops the locks that
                SQLite holds on it.

        Raises:
            StoreError: A file that carries no claim, or no regular file, lies in the place of one of ours.
        """
        if self.own:
            return
        there = {path: info for path in self._files() if (info := stat_of(path, below=self.below)) is not None}
        for path, info in there.items():
            if what := refusal(info):
                raise StoreError(f"{path}: {what} in the place of the index; it is left as it is: delete or move it")
        if self.index in there and not self._claim.holds():
            raise self._foreign(self.index)
        if alone and self.index in there and self._is_anothers():
            raise self._foreign(self.index)
        if there and self.index not in there and not self._claim.exists():
            raise self._foreign(min(there))

    def _is_anothers(self) -> bool:
        """Whether another program's database was written over ours: the same file by its claim, and not its content."""
        try:
            with open_file(self.index, below=self.below) as file:
                header = file.read(100)
        except OSError:
            return True
        if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
            return False  # empty or damaged
        pages, application = (int.from_bytes(header[at : at + 4], "big") for at in (28, 68))
        # Between its first page and its schema an index of ours is nobody's yet.
        return pages > 1 and application != APPLICATION_ID

    def identity(self) -> str:
        """Device and inode of the index file, "" when there is none: a renamed or replaced file is another."""
        try:
            return identity_of(os.lstat(self.index))
        except OSError:
            return ""

    def exists(self) -> bool:
        """Whether anything lies in the place of the index file."""
        return stat_of(self.index, below=self.below) is not None

    def is_ours(self) -> bool:
        """Whether this installation created the file that lies there."""
        return self._claim.holds()

    def is_stub(self) -> bool:
        """Too short to hold even a header: SQLite would take it for a new, empty database."""
        info = stat_of(self.index, below=self.below)
        return info is not None and info.st_size < 512

    def is_forged(self) -> bool:
        """Something lies beside the index that SQLite would stumble over, or play into it and did not leave for us.

        An index has a rollback journal only in the moment of its making, and its write-ahead log carries its mark. None
        of these files has a second name, by which what SQLite writes would reach somebody's file. Asked while alone.
        """
        beside = {path: info for path in self._files()[1:] if (info := stat_of(path, below=self.below)) is not None}
        if any(refusal(info) or info.st_nlink > 1 for info in beside.values()):
            return True
        log, journal = self._beside("-wal"), self._beside("-journal")
        return journal in beside or (log in beside and beside[log].st_size > 0 and not self._claim.marks(log))

    def create(self) -> None:
        """Make an empty index file, claimed before anything is in it.

        Raises:
            StoreError: Something has come to lie there.
            StoreFull: It cannot be made or claimed.
        """
        self._claim.announce()
        try:
            descriptor = create_empty(self.index, below=self.below)
        except (FileExistsError, Refused):
            raise self._foreign(self.index) from None
        except OSError as error:
            raise StoreFull(f"{self.index}: cannot be made: {error.strerror or error}") from error
        try:
            self._claim.take(descriptor)
        finally:
            os.close(descriptor)

    def mark_log(self) -> None:
        """Remember the log that SQLite has made beside the open index as ours."""
        if is_regular(self._beside("-wal"), below=self.below):
            self._claim.mark(self._beside("-wal"))

    def is_sealed(self) -> bool | None:
        """True: unchanged since it was closed. False: changed. None: it was not closed, only left."""
        try:
            expected = read_file(self.seal, limit=4096, below=self.below).decode("ascii").split()
        except (OSError, UnicodeDecodeError):
            return None
        log = stat_of(self._beside("-wal"), below=self.below)
        if log is not None and log.st_size:
            return None
        info = stat_of(self.index, below=self.below)
        if info is None or expected[1:] != [str(info.st_size)]:  # not read whole, however large it was made
            return False
        try:
            return self._digest() == expected
        except OSError:  # something else has come to lie there
            return False

    def write_seal(self) -> None:
        """Seal the index as it lies on the disk; only the last process to close may."""
        write_atomic(self.seal, " ".join(self._digest()).encode("ascii"), below=self.below)

    def break_seal(self) -> None:
        """The index is about to change.

        Raises:
            StoreFull: The folder cannot be written.
        """
        self._remove(self.seal)

    def discard(self) -> None:
        """Delete the index; only while alone, or when it is already known to be unusable.

        Raises:
            StoreError: It is not ours; see `check`.
            StoreFull: It cannot be deleted.
        """
        self.check()
        for path in self._files():
            self._remove(path)

    def size(self) -> int:
        """Bytes of the index with its write-ahead log."""
        found = (stat_of(path, below=self.below) for path in (self.index, self._beside("-wal")))
        return sum(info.st_size for info in found if info is not None)

    def _beside(self, suffix: str) -> Path:
        return self.folder / f"{self.index.name}{suffix}"

    def _files(self) -> list[Path]:
        return [*(self._beside(suffix) for suffix in ("", "-wal", "-shm", "-journal")), self.seal]

    def _remove(self, path: Path) -> None:
        try:
            try:
                remove_file(path, below=self.below)
            except Refused:
                if not self.own or self.below is None:
                    raise
                remove_other(path, below=self.below)
        except OSError as error:
            raise StoreFull(f"{path}: cannot be deleted: {error.strerror or error}") from error

    def _foreign(self, path: Path) -> StoreError:
        return StoreError(
            f"{path}: not made by this installation, so it is neither opened nor deleted. Choose another index folder; "
            "or, if it is an index that was copied, moved or restored, delete it by hand: it is built again"
        )

    def _digest(self) -> list[str]:
        """Of the index file: hash and size in bytes. Processors have instructions for this hash."""
        digest, size = hashlib.sha256(), 0
        with open_file(self.index, below=self.below) as file:
            while block := file.read(1 << 20):
                digest.update(block)
                size += len(block)
        return [digest.hexdigest(), str(size)]
