"""Where an index lives, and whether the file found there is the one this installation left behind.

An index is a cache file that SQLite parses, so only a file that this installation wrote is opened: its identity is
claimed in the user's cache directory when it is created. While a process has the index open it holds a shared lock;
the last one to close leaves a seal, the digest of the whole file. A sealed index that still has its digest is sound;
any other is checked page by page before it is used. SQLite's own `quick_check` misses most damage, the digest misses
none.
"""

import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path

import apsw
import platformdirs

from armarius.errors import StoreFull
from armarius.store.sqlite.connection import translated

__all__ = ["Place", "cache_root", "place_for"]

_REMOTE = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse.sshfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)


def cache_root() -> Path:
    """The folder of all indexes: `ARMARIUS_CACHE`, else the user's cache directory, else (remote) a temporary one."""
    if chosen := os.environ.get("ARMARIUS_CACHE"):
        return Path(chosen)
    root = Path(platformdirs.user_cache_dir("armarius", appauthor=False))
    if not is_remote(root):
        return root
    return Path(tempfile.gettempdir()) / f"armarius-{os.getuid() if hasattr(os, 'getuid') else 'user'}"


def is_remote(path: Path, mounts: str = "/proc/self/mountinfo") -> bool:
    """Whether `path` lies on a network drive, where SQLite's write-ahead log does not work; False when unknown."""
    if not sys.platform.startswith("linux"):
        return str(path).startswith("\\\\")
    best, remote = -1, False
    try:
        lines = Path(mounts).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False
    wanted = os.path.realpath(path)
    for line in lines:
        fields = line.split()
        mount = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
        inside = wanted == mount or wanted.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= best:
            best, remote = len(mount), fields[fields.index("-") + 1] in _REMOTE
    return remote


def place_for(root: Path, index_dir: str | os.PathLike[str] | None = None) -> "Place":
    """The place of a project's index.

    Args:
        root: The project folder; its resolved path names the index.
        index_dir: Another folder, relative to the project; ignored when it is on a network drive.
    """
    resolved = Path(os.path.realpath(root))
    if index_dir is not None and not is_remote(resolved / index_dir):
        return Place(resolved / index_dir)
    slug = re.sub(r"[^\w-]+", "-", resolved.name)[:40] or "project"
    digest = hashlib.blake2b(os.fsencode(resolved), digest_size=8).hexdigest()
    return Place(cache_root() / f"{slug}-{digest}")


class Place:
    """The files of one index, its claim, its seal and the lock that tells who has it open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = folder / "index.sqlite"
        self.seal = folder / "index.seal"
        self._lock: apsw.Connection | None = None
        name = hashlib.blake2b(os.fsencode(os.path.realpath(self.index)), digest_size=16).hexdigest()
        self._claim = cache_root() / "claims" / name

    def enter(self) -> bool:
        """Lock the place against being checked or replaced by others.

        Returns:
            True when nobody else has the index open: then `settle` must follow once it is checked.

        Raises:
            StoreFull: The folder cannot be made or written.
            StoreBusy: Another process has been checking it for too long.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreFull(f"{self.folder}: cannot be made: {error.strerror}") from error
        with translated(self.folder / "index.lock"):
            self._lock = apsw.Connection(str(self.folder / "index.lock"))
            return self._take()

    def settle(self) -> None:
        """The index is checked: let others in."""
        if self._lock is not None and self._lock.in_transaction:
            self._lock.execute("COMMIT")
        self._share()

    def alone(self) -> bool:
        """Take the place for oneself if nobody else is in it; `settle` or `leave` gives it back."""
        if self._lock is None:
            return False
        with translated(self.folder / "index.lock"):
            if self._lock.in_transaction:
                self._lock.execute("COMMIT")
            self._lock.set_busy_timeout(0)
            return self._take()

    def leave(self) -> None:
        """Give up the lock."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _take(self) -> bool:
        """The lock for oneself at once, or shared with whoever holds it."""
        assert self._lock is not None
        try:
            self._lock.execute("BEGIN EXCLUSIVE")
            return True
        except (apsw.BusyError, apsw.LockedError):
            self._lock.set_busy_timeout(10_000)
            self._share()
            return False

    def _share(self) -> None:
        assert self._lock is not None
        with translated(self.folder / "index.lock"):
            self._lock.execute("BEGIN")
            self._lock.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def identity(self) -> str:
        """Device and inode of the index file, "" when there is none: a renamed or replaced file is another."""
        try:
            info = self.index.stat(follow_symlinks=False)
        except OSError:
            return ""
        return f"{info.st_dev}:{info.st_ino}"

    def is_ours(self) -> bool:
        """Whether this installation created the file that lies there."""
        try:
            return self._claim.read_text("utf-8") == self.identity() != ""
        except OSError:
            return False

    def is_stub(self) -> bool:
        """Too short to hold even a header: SQLite would take it for a new, empty database."""
        return self.index.stat().st_size < 512 if self.index.exists() else False

    def claim(self) -> None:
        """Remember the file that lies there as created by this installation."""
        try:
            self._claim.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._claim.write_text(self.identity(), "utf-8")
        except OSError as error:
            raise StoreFull(f"{self._claim}: cannot be written: {error.strerror}") from error

    def is_sealed(self) -> bool | None:
        """True: unchanged since it was closed. False: changed. None: it was not closed, only left."""
        try:
            expected = self.seal.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        if any(path.stat().st_size for suffix in ("-wal",) if (path := Path(f"{self.index}{suffix}")).exists()):
            return None
        return self._digest() == expected

    def write_seal(self) -> None:
        """Seal the index as it lies on the disk; only the last process to close may."""
        part = self.seal.with_suffix(".part")
        part.write_text(self._digest(), "utf-8")
        part.replace(self.seal)

    def break_seal(self) -> None:
        """The index is about to change."""
        self.seal.unlink(missing_ok=True)

    def discard(self) -> None:
        """Delete the index; only while alone, or when it is already known to be unusable."""
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{self.index}{suffix}").unlink(missing_ok=True)
        self.break_seal()

    def size(self) -> int:
        """Bytes of the index with its write-ahead log."""
        paths = (Path(f"{self.index}{suffix}") for suffix in ("", "-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def _digest(self) -> str:
        digest = hashlib.blake2b(digest_size=32)
        with self.index.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()
