"""What this installation made: the claim on an index file, kept in the user's cache where no project writes.

A claim names device and inode of the file, and a mark that a later file with the same inode has not (file systems give
the number of a deleted file to the next one): a random attribute of the file where there are such (Linux), else the
time of its birth where that is told (macOS, Windows), else nothing. A file that was copied, moved to another disk or
restored from a backup is another file.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from armarius.io import make_folder, read_file, refusal, stat_of, write_atomic

__all__ = ["Claim"]

_MAX_BYTES = 4096
_ATTRIBUTE = "user.armarius"
_ANNOUNCED = "new"


class Claim:
    """The claim on the index file `index`.

    Args:
        cache: The folder of all indexes; trusted.
        index: The file.
        below: The trusted folder that it is reached from; see `opened_folder`.
    """

    def __init__(self, cache: Path, index: Path, below: Path | None) -> None:
        self._cache = cache
        self._index = index
        self._below = below
        name = hashlib.blake2b(os.fsencode(os.path.realpath(index.parent) + os.sep + index.name), digest_size=16)
        self._file = cache / "claims" / name.hexdigest()
        self.lock = self._file.with_suffix(".lock")

    def make_room(self) -> None:
        """Make the folder of the claims.

        Raises:
            StoreFull: It cannot be made.
        """
        make_folder(self._cache, mode=0o700)
        make_folder(self._file.parent, below=self._cache, mode=0o700)

    def exists(self) -> bool:
        """Whether there was an index of this installation at this path, whatever lies there now."""
        return bool(self._read())

    def holds(self) -> bool:
        """Whether the file that lies there is the one that was claimed. It is not opened: that would drop its locks."""
        info = stat_of(self._index, below=self._below)
        if info is None or refusal(info):
            return False
        text = self._read()
        if text == _ANNOUNCED:  # a crash between the two steps of making it: nothing was in it yet
            return info.st_size == 0
        identity, _, mark = text.partition(" ")
        if identity != identity_of(info):
            return False
        return not mark or mark == _mark_of(self._index, info)

    def announce(self) -> None:
        """An index is about to be made where nothing is.

        Raises:
            StoreFull: The claim cannot be written.
        """
        self._write(_ANNOUNCED)

    def take(self, descriptor: int) -> None:
        """Claim the file of an open descriptor, empty as yet.

        Raises:
            StoreFull: The claim cannot be written.
        """
        info = os.fstat(descriptor)
        with suppress(OSError, AttributeError):  # no such attributes on this file system, or in this system
            os.setxattr(descriptor, _ATTRIBUTE, os.urandom(16).hex().encode())
        self._write(f"{identity_of(info)} {_mark_of(self._index, info)}".strip())

    def marks(self, beside: Path) -> bool:
        """Whether a file that SQLite made beside the index carries its mark; True where there are no such marks."""
        mark = self._mark()
        return not mark or _attribute(beside) == mark

    def mark(self, beside: Path) -> None:
        """Mark a file that SQLite made beside the index."""
        if mark := self._mark():
            with suppress(OSError):
                os.setxattr(beside, _ATTRIBUTE, mark.encode(), follow_symlinks=False)

    def _mark(self) -> str:
        """The random attribute of the claim, "" without one."""
        mark = self._read().partition(" ")[2]
        return "" if mark.startswith("born") else mark

    def _read(self) -> str:
        """The claim; "" when there is none, or something that is none."""
        try:
            return read_file(self._file, limit=_MAX_BYTES, below=self._cache).decode("ascii")
        except (OSError, UnicodeDecodeError):
            return ""

    def _write(self, text: str) -> None:
        write_atomic(self._file, text.encode("ascii"), below=self._cache)


def identity_of(info: os.stat_result) -> str:
    """Device and inode: a renamed or replaced file is another while the old one is open."""
    return f"{info.st_dev}:{info.st_ino}"


def _mark_of(path: Path, info: os.stat_result) -> str:
    if found := _attribute(path):
        return found
    born = getattr(info, "st_birthtime", None)
    return f"born:{born}" if born else ""


def _attribute(path: Path) -> str:
    try:
        return os.getxattr(path, _ATTRIBUTE, follow_symlinks=False).decode("ascii")
    except (OSError, AttributeError, UnicodeDecodeError):
        return ""
