"""Files: opening files and folders without following links, bounded reads, members of ZIP archives, checks of paths.

From a trusted folder downwards each part is opened by its name in the folder before, never through a link. Without
`below` the folder itself is what the caller trusts: links on the way to it are the user's own (`/home` may be one).
"""

import errno
import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Final

import armarius._core as _core
from armarius.errors import BookError, ProjectError
from armarius.validation import near, shown, suggestion
from armarius.warnings import ContextWarning

_BY_DESCRIPTOR = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FILE_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_REPARSE_LINKS = frozenset({0xA000000C, 0xA0000003})  # Windows: symbolic links and junctions


class Refused(OSError):
    """What lies at a name is not what may be opened there; `strerror` says what it is."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(errno.ELOOP, what, name)


def is_passing(error: object) -> bool:
    """Whether reading failed for what the system had, not for what lies there: the next try may well go.

    >>> is_passing(OSError(errno.EMFILE, "Too many open files")), is_passing(Refused("symbolic link", "a.toml"))
    (True, False)
    """
    return isinstance(error, OSError) and not isinstance(error, Refused | FileNotFoundError | NotADirectoryError)


def refusal(info: os.stat_result) -> str:
    """Why something is not opened as a file, "" for a regular file."""
    if stat.S_ISLNK(info.st_mode) or getattr(info, "st_reparse_tag", 0) in _REPARSE_LINKS:
        return "symbolic link"
    return "" if stat.S_ISREG(info.st_mode) else "not a regular file"


class Folder:
    """Names of one folder; made by `opened_folder`. Methods take a name, never a path, and follow no link.

    Attributes:
        path: Of the folder.
        descriptor: For `dir_fd`; None where the system has no descriptors of folders.
    """

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self.descriptor = descriptor

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """A descriptor of `name`, opened without waiting and without following a link.

        Raises:
            Refused: It is a link. A folder, a pipe or a device is opened if the flags allow: look before you leap.
            OSError: As `os.open`.
        """
        try:
            if self.descriptor is None:
                # Windows has no O_NOFOLLOW: between this look and the opening a link may still be put in the place.
                self._refuse_link(name)
            return os.open(self.at(name), flags | _FILE_FLAGS | _NOFOLLOW, mode, dir_fd=self.descriptor)
        except OSError:
            self._refuse_link(name)
            raise

    def lstat(self, name: str) -> os.stat_result | None:
        """What lies at `name`, itself and not what it leads to; None when there is nothing."""
        try:
            return os.stat(self.at(name), dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def regular(self, name: str) -> os.stat_result | None:
        """As `lstat`, of a regular file alone.

        Raises:
            Refused: Something else lies there.
        """
        info = self.lstat(name)
        if info is not None and (what := refusal(info)):
            raise Refused(what, name)
        return info

    def replace(self, name: str, target: str) -> None:
        """Put `name` in the place of `target`, in one step."""
        at = self.descriptor
        os.replace(self.at(name), self.at(target), src_dir_fd=at, dst_dir_fd=at)

    def unlink(self, name: str) -> None:
        """Remove a name that is no folder; of a link, the link."""
        os.unlink(self.at(name), dir_fd=self.descriptor)

    def inner(self, name: str, *, make: bool, mode: int) -> "Folder":
        """The folder `name` of this one, made when `make` and it is not there.

        Raises:
            Refused: It is a link, or no folder.
        """
        if make and self.lstat(name) is None:
            with suppress(FileExistsError):
                os.mkdir(self.at(name), mode, dir_fd=self.descriptor)
                self.sync()
        path = self.path / name
        if self.descriptor is None:
            self._refuse_link(name)
            if not path.is_dir():
                raise _not_a_folder(path)
            return Folder(path, None)
        try:
            return Folder(path, os.open(name, _FOLDER_FLAGS | _NOFOLLOW, dir_fd=self.descriptor))
        except NotADirectoryError:  # what Linux says of a link here, too
            self._refuse_link(name)
            raise _not_a_folder(path) from None
        except OSError:
            self._refuse_link(name)
            raise

    def sync(self) -> None:
        """Make what happened to the names durable. Windows cannot open folders; its renames are journalled."""
        if self.descriptor is not None:
            os.fsync(self.descriptor)

    def status(self) -> os.stat_result:
        """Of the folder itself."""
        return os.lstat(self.path) if self.descriptor is None else os.fstat(self.descriptor)

    def close(self) -> None:
        """Let the folder go; twice is fine."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def at(self, name: str) -> str | Path:
        """`name` for a system call with `dir_fd`, which is None where the system has no descriptors of folders."""
        return name if self.descriptor is not None else self.path / name

    def _refuse_link(self, name: str) -> None:
        info = self.lstat(name)
        if info is not None and refusal(info) == "symbolic link":
            raise Refused("symbolic link", name)


@contextmanager
def opened_folder(path: Path, *, below: Path | None = None, make: bool = False, mode: int = 0o777) -> Iterator[Folder]:
    """Open a folder.

    Args:
        path: The folder.
        below: A folder that is trusted and must be there: each part of `path` below it is a real folder, not a link.
        make: Make what is not there, below `below`; without `below`, with all its parents.
        mode: Of the folders that are made.

    Raises:
        Refused: A part is a link or no folder, or `path` does not lie below `below`.
        FileNotFoundError: It is not there.
        OSError: It cannot be made or opened.

    Cost: one system call a part.
    """
    parts = _parts(path, below)
    if make and below is None:
        path.mkdir(mode=mode, parents=True, exist_ok=True)
    start = path if below is None else below
    folder = _open_trusted(start)
    try:
        for part in parts:
            inner = folder.inner(part, make=make, mode=mode)
            folder.close()
            folder = inner
        yield folder
    finally:
        folder.close()


def _open_trusted(path: Path) -> Folder:
    if _BY_DESCRIPTOR:
        return Folder(path, os.open(path, _FOLDER_FLAGS))
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if not path.is_dir():
        raise _not_a_folder(path)
    return Folder(path, None)


def _parts(path: Path, below: Path | None) -> tuple[str, ...]:
    if below is None:
        return ()
    try:
        parts = path.relative_to(below).parts
    except ValueError:
        parts = ("..",)
    if ".." in parts or "\0" in str(path):
        raise Refused("not a path inside the folder", path.name)
    return parts


def _not_a_folder(path: Path) -> Refused:
    return Refused("not a folder", path.name)


_SHOWN = 120
_LONGEST_PART, _LONGEST = 255, 4096  # bytes, as on Linux; macOS and Windows allow less, and say so when it is used


def project_folder(root: str | PathLike[str]) -> Path:
    """The folder of a project.

    Raises:
        ProjectError: The path is empty, invalid, or not a folder.
    """
    if problem := no_path(root):
        raise ProjectError(f"not a project folder: {problem}")
    if not os.fspath(root):
        raise ProjectError('the project folder is an empty path; the working directory is "."')
    folder = Path(root)
    try:
        is_folder = folder.is_dir()
        if is_folder and not folder.is_absolute():
            Path.cwd()  # raises here, not later, if the working directory was deleted
    except OSError as error:
        raise ProjectError(f"not a project folder: {folder}: {error.strerror or error}") from None
    if not is_folder:
        absent = f"there is no such folder{suggestion(near_entries(folder)) or '; create it first'}"
        raise ProjectError(f"not a project folder: {folder}: {'it is a file' if folder.exists() else absent}")
    return folder


def near_entries(path: Path) -> tuple[str, ...]:
    """Paths near one that does not exist: of its folder, or of that of the first folder that is missing."""
    try:
        while not path.parent.is_dir() and path.parent != path:
            path = path.parent
        return tuple(str(path.parent / name) for name in near(path.name, os.listdir(path.parent)))  # noqa: PTH208
    except (OSError, ValueError):  # no folder that can be read, or no path
        return ()


def project_name(folder: Path) -> str:
    """The default name of a project: that of its folder, with undecodable bytes as escapes."""
    return folder.resolve().name.encode("utf-8", "backslashreplace").decode()


def no_path(path: object) -> str:
    """Why this is not a valid path, "" if it is; no I/O."""
    text = os.fspath(path) if isinstance(path, str | PathLike) else path
    if not isinstance(text, str):
        return f"expected a path, got {shown(path)}"
    what = repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
    if "\0" in text:
        return f"{what} holds a NUL character"
    try:
        data = os.fsencode(text)
    except UnicodeEncodeError:
        return f"{what} is not valid Unicode"
    if len(data) > _LONGEST or any(len(part) > _LONGEST_PART for part in data.split(os.sep.encode())):
        return f"{what} is too long"
    return ""


_PART = r"[^\s'\":,;)\]]+"
_ABSOLUTE: Final = re.compile(
    r"(?P<quote>['\"`])(?:file://)?(?:/|[A-Za-z]:\\|\\\\)(?P<inside>[^'\"`\n]+)(?P=quote)"  # white space is of the path
    rf"|file://{_PART}"
    rf"|(?<![\w./\\])(?:(?<!:)|(?!//))(?:/{_PART}|[A-Za-z]:\\{_PART}|\\\\{_PART})"
)
_SEPARATOR: Final = re.compile(r"[/\\]")
_LONGEST_MESSAGE: Final = 600


def without_paths(text: str, *, root: Path | None = None, longest: int | None = _LONGEST_MESSAGE) -> str:
    """`text` with paths made relative to the project folder and other absolute paths cut to their last part.

    Args:
        text: A message.
        root: The project folder.
        longest: Maximum length in code points; None is unlimited.
    """
    if root is not None:
        resolved = Path(os.path.realpath(root))
        for form in {str(root), root.as_posix(), str(resolved), resolved.as_posix(), resolved.as_uri()}:
            text = text.replace(f"{form}/", "").replace(f"{form}\\", "")
            text = re.sub(rf"{re.escape(form)}(?![\w-]|\.\w)", ".", text)
    text = _ABSOLUTE.sub(_last_part, text)
    return text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…"


def warnings_without_paths(warnings: Iterable[ContextWarning], root: Path | None) -> tuple[ContextWarning, ...]:
    """The same warnings, with messages safe to send."""
    return tuple(replace(item, message=without_paths(item.message, root=root, longest=None)) for item in warnings)


def answer_without_paths(answer: Any, root: Path | None) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """Remove absolute paths from the `warnings` of a JSON response and of its layers.

    Cost: linear in the warnings; other members are not copied.
    """
    if not isinstance(answer, Mapping):
        return answer
    changed: dict[str, Any] = {}
    if isinstance(messages := answer.get("warnings"), list | tuple) and messages:
        changed["warnings"] = [without_paths(str(item), root=root, longest=None) for item in messages]
    for name in ("layers", "layersDetail"):
        if isinstance(layers := answer.get(name), Mapping):
            changed[name] = {layer: answer_without_paths(body, root) for layer, body in layers.items()}
    return {**answer, **changed} if changed else answer


def _last_part(match: re.Match[str]) -> str:
    quote, path = match["quote"] or "", (match["inside"] or match.group()).rstrip("/\\")
    return f"{quote}{_SEPARATOR.split(path)[-1] or '.'}{quote}"


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
            folder.regular(path.name)
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
