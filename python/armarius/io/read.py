"""Reading: bounded reads of regular files only, `stat`, folder listings, and members of ZIP archives."""

import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import armarius._core as _core
from armarius.errors import BookError
from armarius.io.folder import Refused, opened_folder, refusal


class TooLarge(Refused):
    """A file above the limit; `size` is None when it grew beyond it while being read."""

    def __init__(self, name: str, limit: int, size: int | None) -> None:
        detail = "grew while being read" if size is None else f"{size} bytes"
        super().__init__(f"too large: {detail}, at most {limit} bytes are read", name)
        self.limit = limit
        self.size = size


@contextmanager
def open_file(
    path: Path, *, limit: int | None = None, below: Path | None = None, follow: bool = False
) -> Iterator[io.BufferedReader]:
    """Open a regular file for reading, as a stream of bytes.

    Pipes, devices, sockets and folders are refused without blocking. The caller translates the error and names the
    file.

    Args:
        path: The file.
        limit: Maximum size in bytes; None is unlimited, for files that are read in pieces.
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
                raise (
                    Refused("not a regular file", path.name)
                    if path.exists()
                    else FileNotFoundError(2, "not there", str(path))
                )
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


def files_in(root: Path) -> dict[str, bytes]:
    """The bytes of the regular files in a folder, by path; links are left out. Cost: reads all of them."""
    paths = [(Path(at) / name).relative_to(root).as_posix() for at, _, names in os.walk(root) for name in names]
    read = zip(paths, read_files(root, paths, limit=MAX_BYTES), strict=True)
    return {path: data for path, data in read if isinstance(data, bytes)}


MAX_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one file, of one member of an archive, and of the decoded text of a picture."""
MAX_UNPACKED: Final = 256 * 1024 * 1024
"""Bytes that the members of one archive may have together."""
MAX_MEMBERS: Final = 20_000
"""Members of one archive, files of one vault."""

_FRONT = 16 * 1024 * 1024  # a picture may stand before the archive
_SIGNATURE = b"PK\x03\x04"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def check_size(size: int, name: str, limit: int = MAX_BYTES) -> None:
    """Refuse what is above a limit.

    Raises:
        BookError: Name, size and limit.
    """
    if size > limit:
        raise BookError(f"{name}: {size:,} bytes, at most {limit:,} are read")


def looks_like_archive(data: bytes) -> bool:
    """Whether a zip begins at the front or behind something else."""
    return data.find(_SIGNATURE, 0, _FRONT) >= 0 and data.rfind(b"PK\x05\x06", max(0, len(data) - 66_000)) >= 0


def pack_zip(members: Mapping[str, bytes]) -> bytes:
    """A zip of these members. Cost: 50 MB/s."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for name, data in members.items():
            target.writestr(name, data)
    return made.getvalue()


class Archive:
    """A zip that was looked at: names, sizes, and members on demand.

    Raises:
        BookError: It is damaged, has too many members, or they would be too large together. Nothing is unpacked.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._data = data
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            infos = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError, OverflowError) as error:
            raise BookError(f"{name}: not a readable archive: {error}") from None
        except Exception as error:  # noqa: BLE001 - a damaged directory raises struct.error and others
            raise BookError(f"{name}: not a readable archive: {type(error).__name__}") from None
        if len(infos) > MAX_MEMBERS:
            raise BookError(f"{name}: {len(infos):,} members, at most {MAX_MEMBERS:,} are read")
        check_size(sum(info.file_size for info in infos), f"{name}: unpacked", MAX_UNPACKED)
        self._infos = {info.filename: info for info in infos}
        self.outside = tuple(member for member in self._infos if _leaves_folder(member))
        self.names = tuple(member for member in self._infos if not _leaves_folder(member))

    def read(self, member: str) -> bytes:
        """The bytes of one member.

        Raises:
            BookError: It is not there, too large, encrypted, packed in a way that is not read, or damaged.
        """
        info = self._infos.get(member)
        if info is None:
            raise BookError(f"{self.name}: no member {member!r}")
        check_size(info.file_size, f"{self.name}: {member}")
        if info.flag_bits & 1 or info.compress_type not in _METHODS:
            raise BookError(f"{self.name}: {member}: encrypted, or packed in a way that is not read")
        try:
            with self._zip.open(info) as file:
                data = file.read(min(info.file_size, MAX_BYTES) + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError) as error:
            raise BookError(f"{self.name}: {member}: damaged: {error}") from None
        except Exception as error:  # noqa: BLE001 - as above
            raise BookError(f"{self.name}: {member}: damaged: {type(error).__name__}") from None
        if len(data) > info.file_size:
            raise BookError(f"{self.name}: {member}: more than the {info.file_size:,} bytes it declares")
        return data

    def changed(self, members: Mapping[str, bytes]) -> bytes:
        """The archive with other bytes for these members; what stands before it, order and attributes stay.

        Raises:
            BookError: A member that is kept cannot be read.
        """
        infos = self._zip.infolist()
        # Offsets of the first member count from the start of the file: what lies before is not the archive's.
        front = self._data[: min((info.header_offset for info in infos), default=0)]
        made = io.BytesIO()
        made.write(front)
        with zipfile.ZipFile(made, "a") as target:
            target.comment = self._zip.comment
            for info in infos:
                data = members[info.filename] if info.filename in members else self.read(info.filename)
                method = info.compress_type if info.compress_type in _METHODS else zipfile.ZIP_DEFLATED
                try:
                    target.writestr(info, data, compress_type=method)
                except (ValueError, OverflowError, NotImplementedError, zipfile.LargeZipFile, struct.error) as error:
                    raise BookError(f"{self.name}: {info.filename}: not written: {error}") from None
        return made.getvalue()


def _leaves_folder(name: str) -> bool:
    """Whether a member would lie outside of the folder it is unpacked to."""
    parts = name.replace("\\", "/").split("/")
    return name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\0" in name
