"""What was touched: the folders before and after, and (Linux) who opened a file between."""

import ctypes
import hashlib
import os
import stat
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

Snapshot = dict[str, tuple[object, ...]]

_HASHED = 1 << 20  # larger files are told by size and time
_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
}
_EVENTS = {
    0x001: "read",
    0x002: "written",
    0x004: "its attributes changed",
    0x020: "opened",
    0x040: "moved away",
    0x080: "moved in",
    0x100: "made",
    0x200: "deleted",
}
_FOLDER = 0x40000000
_LOOKED = 0x001 | 0x020
_NONBLOCK_CLOEXEC = os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)


def snapshot(root: Path, *, without: Iterable[Path] = ()) -> Snapshot:
    """Everything below `root` by relative path: type, mode, size, time, content. Only regular files are opened."""
    left_out = set(without)
    found: Snapshot = {}
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if Path(folder, name) not in left_out)
        for name in (*names, *files):
            path = Path(folder, name)
            if path not in left_out:
                found[os.fsdecode(path.relative_to(root))] = describe(path)
    return found


def describe(path: Path) -> tuple[object, ...]:
    """One entry of a snapshot."""
    try:
        info = path.lstat()
    except OSError as error:  # longer than a path may be
        return ("beyond reach", error.strerror)
    kind = _KINDS.get(stat.S_IFMT(info.st_mode), "other")
    if kind == "link":
        return kind, path.readlink()
    if kind == "folder":
        return kind, stat.S_IMODE(info.st_mode), info.st_mtime_ns
    content = ""
    if kind == "file" and info.st_size <= _HASHED:
        try:
            content = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
        except PermissionError:
            content = "unreadable"
    return kind, stat.S_IMODE(info.st_mode), info.st_size, info.st_mtime_ns, content


def differences(before: Snapshot, after: Snapshot) -> list[str]:
    """What became of entries, in words, by path; the time of a folder is told by what is in it."""
    told = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old is None:
            told.append(f"made {path}")
        elif new is None:
            told.append(f"deleted {path}")
        elif old != new and not (old[0] == new[0] == "folder" and old[1] == new[1]):
            told.append(f"changed {path}" if old[0] == new[0] else f"{path}: a {old[0]} became a {new[0]}")
    return told


class Watch:
    """Notices that something in folders is opened, also by code that is not Python. Blind where there is no inotify.

    One for a process, as there are few to be had: `start`, `events`, `stop` for each case.
    """

    def __init__(self) -> None:
        self._names: dict[int, Path] = {}
        self._descriptor = -1
        if sys.platform.startswith("linux"):
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._descriptor = self._libc.inotify_init1(_NONBLOCK_CLOEXEC)
            if self._descriptor < 0:
                raise OSError(ctypes.get_errno(), "no inotify instance to be had")

    def start(self, folders: Iterable[Path]) -> None:
        """Watch these, and nothing below them."""
        for folder in folders if self._descriptor >= 0 else ():
            mark = self._libc.inotify_add_watch(self._descriptor, os.fsencode(folder), sum(_EVENTS))
            if mark < 0:
                raise OSError(ctypes.get_errno(), f"cannot be watched: {folder}")
            self._names[mark] = folder

    def events(self) -> list[str]:
        """What happened since, once each: `opened /path`; a folder is `listed /path`."""
        told: dict[str, None] = {}
        while self._descriptor >= 0:
            try:
                data = os.read(self._descriptor, 1 << 16)
            except BlockingIOError:
                break
            while data:
                mark, mask, _, length = struct.unpack_from("iIII", data)
                name = data[16 : 16 + length].rstrip(b"\0").decode("utf-8", "backslashreplace")
                data = data[16 + length :]
                if mark in self._names:
                    path = self._names[mark] / name if name else self._names[mark]
                    listed = mask & _FOLDER and mask & _LOOKED
                    done = ["listed"] if listed else [what for bit, what in _EVENTS.items() if mask & bit]
                    told.update(dict.fromkeys(f"{what} {path}" for what in done))
        return list(told)

    def stop(self) -> None:
        """Forget the folders, and what happened to them."""
        for mark in self._names:
            self._libc.inotify_rm_watch(self._descriptor, mark)
        self._names = {}
        self.events()


def folders(root: Path) -> list[Path]:
    """`root` and every folder below it, no link followed."""
    return [Path(folder) for folder, _, _ in os.walk(root)]
