"""What may lie where a file or a folder of the project should be. Each kind removes what is there and puts itself."""

import contextlib
import os
import shutil
import socket
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.place import CANARY, Place, put

HUGE = 16 << 30  # bytes of a file without content: read whole, it is more than a case may use

Put = Callable[[Place, Path], object]


def clear(path: Path) -> None:
    """Remove what is at `path`, and see that its folder is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)


def _twin(place: Place, path: Path) -> Path:
    """A file of the user that would pass for the one at `path`, or that is just the user's."""
    content = path.read_bytes() if path.is_file() else b""
    if path.suffix in (".md", ".txt", "") or not content:
        content += f"\n{CANARY}\n".encode()
    elif path.suffix in (".toml", ".py"):
        content += f"\n# {CANARY}\n".encode()
    return put(place.outside / "twins" / path.name, content)


def _double(place: Place, path: Path) -> Path:
    """A folder of the user that would pass for the one at `path`."""
    double = place.outside / "doubles" / path.name
    if path.is_dir():
        shutil.copytree(path, double)
    for name in ("mine.md", "mine.py"):
        put(double / name, CANARY)
    return double


def _link(source: Callable[[Place, Path], Path | str], *, up: bool = False) -> Put:
    """A link to what `source` names; `up`: relative, over another folder of the project and out of it."""

    def link(place: Place, path: Path) -> None:
        target = source(place, path)
        clear(path)
        chapters = place.project / "chapters"
        path.symlink_to(
            Path(os.path.relpath(chapters, path.parent), os.path.relpath(target, chapters)) if up else target
        )

    return link


def _to(name: str) -> Put:
    return _link(lambda place, path: place.base / name)


def _hard_link(place: Place, path: Path) -> None:
    """It cannot be told from a file of the project when it is read; only writing through it is an effect outside."""
    twin = put(place.outside / "twins" / path.name, path.read_bytes() if path.is_file() else b"")
    clear(path)
    os.link(twin, path)


def _fifo(place: Place, path: Path) -> None:
    clear(path)
    os.mkfifo(path)


def _socket(place: Place, path: Path) -> None:
    clear(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:  # over the descriptor: the address of a socket has at most 108 bytes
        with socket.socket(socket.AF_UNIX) as listener:
            here = f"/proc/self/fd/{folder}" if Path("/proc/self/fd").exists() else str(path.parent)
            listener.bind(f"{here}/{path.name}")
    finally:
        os.close(folder)


def _device(place: Place, path: Path) -> None:
    clear(path)
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    except (PermissionError, AttributeError):  # only root makes devices
        path.symlink_to("/dev/zero")


def _huge(place: Place, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.truncate(HUGE)


def _unreadable(place: Place, path: Path) -> None:
    if not path.exists():
        put(path, CANARY)
    path.chmod(0)


def _folder(place: Place, path: Path) -> None:
    clear(path)
    put(path / "inside.md", "里面。")


def _file(place: Place, path: Path) -> None:
    clear(path)
    put(path, "是文件，不是文件夹。\n")


FILES: dict[str, Put] = {
    "a link to a file outside": _link(_twin),
    "a link up and out": _link(_twin, up=True),
    "a link to a folder outside": _to("outside/book"),
    "a dangling link": _to("outside/new"),
    "a link to itself": _link(lambda place, path: path),
    "a link to a chapter": _to("project/chapters/ch002.md"),
    "a hard link to a file outside": _hard_link,
    "a FIFO": _fifo,
    "a socket": _socket,
    "a device": _device,
    "a link to /dev/zero": _to("/dev/zero"),
    "a link to /dev/tty": _to("/dev/tty"),
    "huge": _huge,
    "unreadable": _unreadable,
    "a folder": _folder,
}
FOLDERS: dict[str, Put] = {
    "a link to a folder outside": _link(_double),
    "a link up and out": _link(_double, up=True),
    "a link to a file outside": _to("outside/mine.txt"),
    "a dangling link": _to("outside/new"),
    "a link to itself": _link(lambda place, path: path),
    "a link to a folder inside": _to("project/spec"),
    "a FIFO": _fifo,
    "a device": _device,
    "unreadable": _unreadable,
    "a file": _file,
}
OFTEN = {
    "file": {"a link to a file outside", "a FIFO", "a device", "huge", "a folder"},
    "folder": {"a link to a folder outside", "a link up and out", "a dangling link", "a FIFO", "a file"},
}
"""In the quick suite for every target."""


def _swap_for_twin(place: Place, path: Path) -> None:
    clear(path)
    path.symlink_to(place.outside / "twins" / path.name)


def _swap_for_double(place: Place, path: Path) -> None:
    if path.exists():
        path.rename(path.with_name(f"{path.name}.was"))
    path.symlink_to(place.outside / "doubles" / path.name)


@dataclass(frozen=True)
class Swap:
    """What is put at a path while it is asked for: the worst that a race can bring.

    Attributes:
        pattern: Of the path, as in `Place.path`.
        put: Puts it there.
        prepare: Makes what must lie outside before.
        flickers: It comes and goes all the time, in a thread; else once, at the moment that Python opens the path.
    """

    pattern: str
    put: Put
    prepare: Put
    flickers: bool = False

    def watcher(self, place: Place) -> Callable[[object], None]:
        """What to call with each name that is about to be opened, renamed or made."""
        path, waiting = place.path(self.pattern), [True]

        def seen(name: object) -> None:
            if not waiting or not isinstance(name, str | bytes | os.PathLike):
                return
            text = os.fsdecode(name)  # relative to a descriptor it is a bare name
            if text in (path.name, str(path)) or text.startswith(f"{path}/"):
                waiting.clear()
                self.put(place, path)

        return seen

    @contextlib.contextmanager
    def flickering(self, place: Place, period_s: float = 0.0005):
        """A thread that puts it and what is at the path in turn, as fast as it can."""
        path, stop = place.path(self.pattern), threading.Event()
        kept, hostile = path.with_name(".kept"), path.with_name(".hostile")

        def exchange(source: Path, middle: Path, target: Path) -> None:
            with contextlib.suppress(OSError):  # the package is at it as well
                middle.rename(target)
                source.rename(middle)

        def run() -> None:
            path.rename(kept)
            self.put(place, path)
            while not stop.wait(period_s):
                exchange(kept, path, hostile)
                if not stop.wait(period_s):
                    exchange(hostile, path, kept)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def swaps(pattern: str, *, folder: bool) -> dict[str, Swap]:
    """The races for a path, by name."""
    if folder:
        return {"swapped for a link when something in it is opened": Swap(pattern, _swap_for_double, _double)}
    return {
        "swapped for a link when it is opened": Swap(pattern, _swap_for_twin, _twin),
        "swapped for a FIFO when it is opened": Swap(pattern, _fifo, lambda place, path: None),
    }
