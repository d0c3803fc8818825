"""One reader: what it opens is a regular file of a bounded size, or an error says what it is instead."""

import io
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import armarius._core as _core
from armarius.files.folder import Refused, opened_folder, refusal

__all__ = ["TooLarge", "is_regular", "names_in", "open_file", "read_file", "read_files", "stat_of"]


class TooLarge(Refused):
    """A file above the limit; `size` is None when it grew beyond it while being read."""

    def __init__(self, name: str, limit: int, size: int | None) -> None:
        found = "grew while being read" if size is None else f"{size} bytes"
        super().__init__(f"too large: {found}, at most {limit} bytes are read", name)
        self.limit = limit
        self.size = size


@contextmanager
def open_file(
    path: Path, *, limit: int | None = None, below: Path | None = None, follow: bool = False
) -> Iterator[io.BufferedReader]:
    """Open a regular file for reading, as a stream of bytes.

    A pipe, a device, a socket or a folder is refused, not waited for. The caller says what that means, with an error of
    its own that names the file.

    Args:
        path: The file.
        limit: Bytes that it may have; None for files that are read in pieces whatever their size.
        below: A trusted folder; see `opened_folder`. Without it the file's own folder is trusted.
        follow: A link is followed to a regular file, where the user chose the path: model caches are made of links.

    Raises:
        FileNotFoundError: There is nothing.
        Refused: A link, or not a regular file.
        TooLarge: Above the limit.
        OSError: It cannot be read.

    Cost: one system call a part of the path below the trusted folder, and three for the file.
    """
    with opened_folder(path.parent, below=below) as folder:
        if follow:
            # No links below a trusted folder: the two arguments exclude each other.
            if not path.is_file():  # a first look, for opening a device may already have an effect
                raise _missing_or_refused(path)
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
        else:
            info = folder.lstat(path.name)
            if info is not None and (what := refusal(info)):
                raise Refused(what, path.name)
            descriptor = folder.open(path.name, os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise Refused("not a regular file", path.name)
        if limit is not None and info.st_size > limit:
            raise TooLarge(path.name, limit, info.st_size)
        yield file


def read_file(path: Path, *, limit: int, below: Path | None = None, follow: bool = False) -> bytes:
    """The bytes of a regular file; arguments and errors as `open_file`."""
    with open_file(path, limit=limit, below=below, follow=follow) as file:
        size = min(os.fstat(file.fileno()).st_size, limit)
        data = file.read(size + 1)
        if size < len(data) <= limit:  # it grows while it is read
            data += file.read(limit + 1 - len(data))
    if len(data) > limit:
        raise TooLarge(path.name, limit, None)
    return data


def read_files(root: Path, paths: Sequence[str], *, limit: int) -> list[bytes | OSError]:
    """The bytes of regular files below a trusted folder, each reached through no link; see `opened_folder`.

    Args:
        root: The folder.
        paths: Relative to it, none empty.
        limit: Bytes that each may have.

    Returns:
        Of each path what `read_file` would give or raise.

    Cost: four system calls a file, and one a folder where the last path lay in another; without the GIL.
    """
    return _core.read_files(root, list(paths), limit)


def is_regular(path: Path, *, below: Path | None = None) -> bool:
    """Whether a regular file lies there and no link leads to it below the trusted folder."""
    info = stat_of(path, below=below)
    return info is not None and not refusal(info)


def stat_of(path: Path, *, below: Path | None = None) -> os.stat_result | None:
    """What lies there, itself and not what it leads to; None when there is nothing or the way to it is a link."""
    try:
        with opened_folder(path.parent, below=below) as folder:
            return folder.lstat(path.name)
    except (OSError, ValueError):
        return None


def names_in(path: Path, *, below: Path | None = None) -> list[str]:
    """The names in a folder, sorted; [] when there is none, it cannot be read, or the way to it is a link."""
    try:
        with opened_folder(path, below=below) as folder:
            names = os.listdir(folder.path if folder.descriptor is None else folder.descriptor)  # noqa: PTH208
            return sorted(names)
    except (OSError, ValueError):
        return []


def _missing_or_refused(path: Path) -> OSError:
    return Refused("not a regular file", path.name) if path.exists() else FileNotFoundError(2, "not there", str(path))
