"""Writing and deleting: atomic replacement, edits of the user's files, exclusive creation, private folders, removal.

No link is followed.

Below: the cache folder, which holds only derived data.
"""

import base64
import errno
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from armarius.errors import ContractError, FileProtected, PageChanged, StoreConflict, StoreFull
from armarius.io.files import Folder, Refused, opened_folder, read_file, read_files, refusal

_LEFT_SECONDS = 3600.0  # no writer takes so long: what is older belongs to one that was killed
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_ELSEWHERE = re.compile(r"[\\:\0\ud800-\udfff]|(?:^|/)(?:/|$|\.(?!armarius/))")  # or a folder of another program
_LONGEST_PATH = 1024  # bytes, as on a server; the system opens no path of 4,096
_MOST_HELD = 64 * 1024 * 1024  # bytes of a file of records
Changes = dict[Path, bytes | None]
_CHANGES: ContextVar[Changes | None] = ContextVar("_CHANGES", default=None)


@contextmanager
def changed_files() -> Iterator[Changes]:
    """The files that `write_atomic` and `remove_file` change inside the block, with what each held before it.

    None stands for a file that was not there. Threads count that were given this context, such as those of
    `asyncio.to_thread`.
    """
    changes: Changes = {}
    around = _CHANGES.get()
    token = _CHANGES.set(changes)
    try:
        yield changes
    finally:
        _CHANGES.reset(token)
        if around is not None:
            around |= {path: data for path, data in changes.items() if path not in around}


class Step(NamedTuple):
    """What was changed at once: the files of a folder, each with what it held before and after, None for no file."""

    files: dict[str, tuple[bytes | None, bytes | None]]

    @classmethod
    def of(cls, changes: Mapping[Path, bytes | None], root: Path) -> "Step":
        """The step that `changed_files` noted, without what lies elsewhere."""
        below = {path: data for path, data in changes.items() if path.is_relative_to(root)}
        return cls({path.relative_to(root).as_posix(): (data, _read_bytes(path, root)) for path, data in below.items()})

    @classmethod
    def from_json(cls, text: bytes) -> "Step":
        """What `to_json` wrote.

        Raises:
            ValueError: It is something else.
        """
        try:
            pairs = {
                path: [None if data is None else base64.b64decode(data) for data in pair]
                for path, pair in json.loads(text).items()
            }
        except (AttributeError, TypeError) as error:
            raise ValueError(str(error)) from None
        if not all(map(is_project_path, pairs)):
            raise ValueError("a file that no edit writes")
        return cls({path: (before, after) for path, (before, after) in pairs.items()})

    def to_json(self) -> bytes:
        """As a file can keep it."""
        files = self.files.items()
        return json.dumps(
            {path: [None if data is None else base64.b64encode(data).decode() for data in pair] for path, pair in files}
        ).encode()

    def undo(self, root: Path) -> None:
        """Give all files what they held before; hold `folder_lock` around it.

        Raises:
            PageChanged: A file holds something else than the step left; names it. Nothing is written.
            StoreFull: As `write_atomic`.
        """
        for path, (_, after) in self.files.items():
            if _read_bytes(root / path, root) != after:
                raise PageChanged(f"{path}: changed meanwhile, so nothing was written; look at it again")
        for path, (before, after) in self.files.items():
            if before is None:
                remove_file(root / path, below=root)
            else:
                write_atomic(root / path, before, below=root, before=after or b"")


def _read_bytes(path: Path, root: Path) -> bytes | None:
    try:
        return read_file(path, limit=_MOST_HELD, below=root)
    except FileNotFoundError:
        return None


@contextmanager
def _note_change(folder: Folder, path: Path) -> Iterator[None]:
    """Note that the block changes a file, if it does."""
    changes, data = _CHANGES.get(), None
    if changes is not None and path not in changes and folder.lstat(path.name) is not None:
        with os.fdopen(folder.open(path.name, os.O_RDONLY), "rb") as file:
            data = file.read()
    yield
    if changes is not None:
        changes.setdefault(path, data)


def write_atomic(
    path: Path,
    data: bytes | bytearray,
    *,
    below: Path | None = None,
    make: bool = True,
    before: bytes | None = None,
    mode: int = 0o666,
) -> None:
    """Replace `path` by `data`: write a draft in the same folder, fsync, rename, fsync the folder.

    The draft has a random name and is created exclusively; the target must be a regular file or absent. It keeps its
    mode, its extended attributes (access control lists are such), and as far as the process may its owner. If several
    processes may write, hold `folder_lock` around reading and writing.

    Args:
        path: The file.
        data: All of it.
        below: A trusted folder that must be there; see `opened_folder`. Without it the file's own folder is trusted.
        make: Create the file's folder if it does not exist.
        before: What the file must hold when the draft is finished, b"" also for one that is not there. Such a file is
            the user's: a read-only one and one with a second hard link are refused.
        mode: Of a file that is not there yet, less the umask.

    Raises:
        StoreFull: The disk is full, the folder is read-only or gone, or the path has a link or a non-file; the old
            file is unchanged. The message names the file.
        FileProtected: The user's file is read-only or has a second hard link.
        StoreConflict: The file does not hold `before`; it is unchanged.

    Cost: two fsyncs, and a listing of the folder, to remove drafts of killed writers after an hour.
    """
    try:
        with opened_folder(path.parent, below=below, make=make) as folder:
            there = folder.regular(path.name)
            if before is not None and there is not None and (what := _why_protected(folder, path.name, there)):
                raise _Protected(what, path.name)
            draft = f".{path.name}.{os.urandom(8).hex()}.tmp"
            descriptor = folder.open(draft, _NEW, mode if there is None else 0o600)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    if there is not None:
                        _keep_attributes(folder, path.name, there, file.fileno())
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                if before is not None and _first_bytes(folder, path.name, len(before) + 1) != before:
                    raise StoreConflict(f"{path.name}: changed meanwhile, so nothing was written")
                with _note_change(folder, path):
                    folder.replace(draft, path.name)
            except BaseException:
                with suppress(OSError):
                    folder.unlink(draft)
                raise
            folder.sync()
            _clear_drafts(folder, path.name)
    except OSError as error:
        raise write_error(_place(path, below), error, below) from error


_TRIES = 50  # of an edit while another program saves the file again and again


def rewrite_file(path: Path, change: Callable[[bytes], bytes], *, limit: int, below: Path) -> None:
    """Replace a file that the user edits too by `change` of its bytes, b"" where it is not there.

    When another program saves the file before it is replaced, `change` is called again with the new bytes. Hold
    `folder_lock` around it: that is what our own processes wait for.

    Args:
        path: The file.
        change: Returns the new bytes; for the same ones nothing is written. What it raises is raised, nothing written.
        limit: Bytes that the file may have.
        below: A trusted folder that must be there; see `opened_folder`.

    Raises:
        StoreFull, FileProtected: As `write_atomic`.
        StoreConflict: The file was saved by others at each of 50 tries.
        TooLarge, OSError: It cannot be read.
    """
    for left in reversed(range(_TRIES)):
        try:
            before = read_file(path, limit=limit, below=below)
        except FileNotFoundError:
            before = b""
        if (after := change(before)) == before:
            return
        try:
            write_atomic(path, after, below=below, before=before)
        except StoreConflict:
            if not left:
                raise
        else:
            return


class _Protected(Refused):
    """The user does not want the file replaced."""


def _why_protected(folder: Folder, name: str, info: os.stat_result) -> str:
    """Why a file of the user's is not replaced, or ""."""
    if not info.st_mode & 0o222 or not os.access(folder.at(name), os.W_OK, dir_fd=folder.descriptor):
        return "read-only"
    return "it has a second hard link, which would keep the old text" if info.st_nlink > 1 else ""


def _keep_attributes(folder: Folder, name: str, info: os.stat_result, draft: int) -> None:
    """Give a draft the owner, the mode and the extended attributes of the file that it replaces, as far as allowed."""
    if sys.platform == "win32":  # a new file has the access rights of its folder
        return
    for owner in ((info.st_uid, info.st_gid), (-1, info.st_gid)):
        with suppress(OSError):
            os.fchown(draft, *owner)
            break
    with suppress(OSError):  # a file system without modes
        os.fchmod(draft, stat.S_IMODE(info.st_mode))
    if sys.platform == "linux":
        with suppress(PermissionError), os.fdopen(folder.open(name, os.O_RDONLY), "rb") as old:
            for key in os.listxattr(old.fileno()):
                try:
                    os.setxattr(draft, key, os.getxattr(old.fileno(), key))
                except OSError as error:  # those of the system (security.*), or another file system
                    if error.errno not in (errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.ENODATA):
                        raise


def _first_bytes(folder: Folder, name: str, size: int) -> bytes:
    """The first bytes of a file; b"" where it is not there."""
    try:
        with os.fdopen(folder.open(name, os.O_RDONLY), "rb") as file:
            return file.read(size)
    except FileNotFoundError:
        return b""


def move_atomic(source: Path, target: Path, *, below: Path | None = None) -> None:
    """Put a finished file of ours in the place of `target` on the same file system, durably.

    Raises:
        StoreFull: As `write_atomic`.
    """
    try:
        with opened_folder(target.parent, below=below, make=True) as folder:
            folder.regular(target.name)
            with source.open("r+b") as file:  # Windows syncs only what may be written
                os.fsync(file.fileno())
            source.replace(target)
            folder.sync()
    except OSError as error:
        raise write_error(_place(target, below), error, below) from error


def create_empty(path: Path, *, below: Path | None = None) -> int:
    """Make an empty file where there is nothing, for this user alone; a descriptor of it.

    Raises:
        FileExistsError, Refused: There is something, a link to nowhere included.
        OSError: It cannot be made.
    """
    with opened_folder(path.parent, below=below) as folder:
        return folder.open(path.name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)


def make_folder(path: Path, *, below: Path | None = None, mode: int = 0o777) -> None:
    """Make a folder, with what lies between `below` and it; one that is there is fine.

    Raises:
        StoreFull: It cannot be made, or a link or a file lies on the way; the message names it.
    """
    try:
        with opened_folder(path, below=below, make=True, mode=mode):
            pass
    except OSError as error:
        raise StoreFull(f"{path}: cannot be made: {error.strerror or error}") from error


def private_folder(path: Path) -> None:
    """Make a folder in a place that everybody may write to (the temporary one), or see that it is ours alone.

    Raises:
        StoreFull: It is a link, no folder, or belongs to or is open to somebody else.
    """
    try:
        with opened_folder(path, below=path.parent, make=True, mode=0o700) as folder:
            info = folder.status()
            # Windows: the temporary folder is the user's own, and modes say nothing there.
            if hasattr(os, "geteuid") and (info.st_uid != os.geteuid() or stat.S_IMODE(info.st_mode) & 0o022):
                raise Refused("belongs to somebody else, or others may write to it", path.name)
    except OSError as error:
        raise StoreFull(f"{path}: not used: {error.strerror or error}") from error


def is_project_path(path: object) -> bool:
    """Whether it leads to a place in the project, and into no folder of another program."""
    return isinstance(path, str) and not _ELSEWHERE.search(path) and len(path.encode()) <= _LONGEST_PATH


def fill_folder(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a new folder of ours, whose loss harms nobody: nothing is synced.

    Raises:
        StoreFull: A file cannot be written; some are there.
    """
    for path, data in files.items():
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        except OSError as error:
            raise write_error(path, error, root) from error


def write_files(root: Path, files: Mapping[str, bytes], gone: Iterable[str] = ()) -> None:
    """Write and remove files of a project, all of them or none; hold `folder_lock` around it.

    A file that holds the bytes already is not written.

    Raises:
        ContractError: A path leads out of the project, or into a folder of another program; nothing is changed.
        StoreFull: A file cannot be written or removed; what was written before it is undone.
    """
    gone = list(gone)
    for path in (*files, *gone):
        if not is_project_path(path):
            raise ContractError(
                f"path: {path!r:.200} is no path in the project: at most {_LONGEST_PATH:,} bytes, no \\ and no :, "
                "parts between /, none empty or hidden"
            )
    with changed_files() as changes:
        try:
            there = read_files(root, [*files], limit=_MOST_HELD)
            for (path, data), before in zip(files.items(), there, strict=True):
                if data != before:
                    write_atomic(root / path, data, below=root)
            for path in gone:
                try:
                    remove_file(root / path, below=root)
                except OSError as error:
                    raise write_error(path, error, root) from error
        except BaseException:
            Step.of(changes, root).undo(root)
            raise


@contextmanager
def scratch_folder(inside: Path | None = None) -> Iterator[Path]:
    """A new folder of a random name, for this user alone, that is gone with all in it at the end.

    Args:
        inside: Where; the system's temporary folder when not given.

    Raises:
        StoreFull: It cannot be made.
    """
    import tempfile  # with all that it brings: only a build needs it

    try:
        if inside is not None:
            inside.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(prefix="armarius-", dir=inside, ignore_cleanup_errors=True)
    except OSError as error:
        raise StoreFull(f"no temporary folder: {error.strerror or error}") from error
    with scratch as name:
        yield Path(name)


def _place(path: Path, below: Path | None) -> str:
    return path.relative_to(below).as_posix() if below is not None and below in path.parents else path.name


def write_error(name: str, error: OSError, below: Path | None) -> StoreFull:
    """The error of a file or lock that could not be written; `name` is below the project, never where that is."""
    if below is not None and isinstance(error, FileNotFoundError) and not below.exists():
        return StoreFull(f"{name}: not written: the folder {below.name} is gone")
    kind = FileProtected if isinstance(error, _Protected) else StoreFull
    return kind(f"{name}: not written: {error.strerror or error}")


def _clear_drafts(folder: Folder, name: str) -> None:
    """Remove drafts of `name` that killed writers left: only regular files with a draft's name, after an hour."""
    ours = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{16}}\.tmp")
    with suppress(OSError):  # the file is written; the next writer tries again
        for entry in os.listdir(folder.path if folder.descriptor is None else folder.descriptor):  # noqa: PTH208 - held open
            info = folder.lstat(entry) if ours.fullmatch(entry) else None
            if info is not None and not refusal(info) and time.time() - info.st_mtime > _LEFT_SECONDS:
                folder.unlink(entry)


def remove_file(path: Path, *, below: Path | None = None) -> bool:
    """Remove a regular file.

    Args:
        path: The file.
        below: A trusted folder; see `opened_folder`. Without it the file's own folder is trusted.

    Returns:
        Whether there was one.

    Raises:
        Refused: A link, folder, pipe or device, or a path with a link; nothing is removed.
        OSError: It cannot be removed.
    """
    try:
        with opened_folder(path.parent, below=below) as folder:
            if folder.regular(path.name) is None:
                return False
            # A link put there since the look is removed itself: unlink never follows.
            with _note_change(folder, path):
                folder.unlink(path.name)
            return True
    except FileNotFoundError:
        return False


def remove_any(path: Path, *, below: Path | None = None) -> None:
    """Remove a path of any type: a file, a pipe, a link (not its target), a folder with its contents.

    Raises:
        OSError: It cannot be removed.
    """
    with suppress(FileNotFoundError), opened_folder(path.parent, below=below) as folder:
        info = folder.lstat(path.name)
        if info is not None and stat.S_ISDIR(info.st_mode) and not refusal(info).startswith("symbolic"):
            if not remove_folder(path, below=path.parent if below is None else below):
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path.name)
        elif info is not None:
            folder.unlink(path.name)


def remove_folder(path: Path, *, below: Path) -> bool:
    """Remove a folder with its contents; links in it are removed, not followed.

    Returns:
        Whether the folder is gone.

    Raises:
        Refused: A link, or not a folder; nothing is removed.
    """
    with opened_folder(path.parent, below=below) as folder:
        info = folder.lstat(path.name)
        if info is None:
            return True
        if not stat.S_ISDIR(info.st_mode) or refusal(info).startswith("symbolic"):
            raise Refused("not a folder", path.name)
        if folder.descriptor is None:  # Windows: by path; rmtree refuses a link in the place of the folder
            shutil.rmtree(path, ignore_errors=True)
        else:
            shutil.rmtree(path.name, ignore_errors=True, dir_fd=folder.descriptor)
        return folder.lstat(path.name) is None


_REMOTE = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse.sshfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)


def cache_root() -> Path:
    """The folder of all indexes: `ARMARIUS_CACHE`, else the user's cache directory, or a temporary one if it is remote.

    Raises:
        StoreFull: The temporary folder belongs to another user.
    """
    if chosen := os.environ.get("ARMARIUS_CACHE"):
        return Path(chosen)
    import platformdirs

    root = Path(platformdirs.user_cache_dir("armarius", appauthor=False))
    if not is_remote(root):
        return root
    import tempfile

    temporary = Path(tempfile.gettempdir()) / f"armarius-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    private_folder(temporary)  # its parent is writable by all users
    return temporary


def cache_of(root: Path, what: str) -> Path:
    """The folder for `what` of a project in the cache, such as `code/<name>-<digest>`."""
    key = hashlib.blake2b(os.fsencode(root.resolve()), digest_size=6).hexdigest()
    return cache_root() / what / f"{root.resolve().name}-{key}"


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
