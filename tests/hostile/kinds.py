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

Put = Callable[[Place, Path], None]


def _nothing(place: Place, path: Path) -> None:
    """No preparation."""


@dataclass(frozen=True)
class Kind:
    """A kind by its name.

    Attributes:
        put: Puts it at a path.
        often: In the quick suite for every target.
        prepare: For kinds that are put there in the middle of a life: makes what must lie outside before it.
    """

    name: str
    put: Put
    often: bool = False
    prepare: Put = _nothing


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


def _link(source: Callable[[Place, Path], Path]) -> Put:
    def link(place: Place, path: Path) -> None:
        target = source(place, path)
        clear(path)
        path.symlink_to(target)

    return link


def _link_up(source: Callable[[Place, Path], Path]) -> Put:
    """Relative, over another folder of the project and out of it."""

    def link(place: Place, path: Path) -> None:
        target = source(place, path)
        clear(path)
        ways = os.path.relpath(place.project / "chapters", path.parent)
        path.symlink_to(Path(ways, os.path.relpath(target, place.project / "chapters")))

    return link


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
    path.write_bytes("是文件，不是文件夹。\n".encode())


def _to(name: str) -> Callable[[Place, Path], Path]:
    return lambda place, path: place.outside / name


FILES = (
    Kind("a link to a file outside", _link(_twin), often=True),
    Kind("a link up and out", _link_up(_twin)),
    Kind("a link to a folder outside", _link(_to("book"))),
    Kind("a dangling link", _link(_to("new"))),
    Kind("a link to itself", _link(lambda place, path: path)),
    Kind("a link to a chapter", _link(lambda place, path: place.project / "chapters/ch002.md")),
    Kind("a hard link to a file outside", _hard_link),
    Kind("a FIFO", _fifo, often=True),
    Kind("a socket", _socket),
    Kind("a device", _device, often=True),
    Kind("a link to /dev/zero", _link(lambda place, path: Path("/dev/zero"))),
    Kind("a link to /dev/tty", _link(lambda place, path: Path("/dev/tty"))),
    Kind("huge", _huge, often=True),
    Kind("unreadable", _unreadable),
    Kind("a folder", _folder, often=True),
)

FOLDERS = (
    Kind("a link to a folder outside", _link(_double), often=True),
    Kind("a link up and out", _link_up(_double), often=True),
    Kind("a link to a file outside", _link(_to("mine.txt"))),
    Kind("a dangling link", _link(_to("new")), often=True),
    Kind("a link to itself", _link(lambda place, path: path)),
    Kind("a link to a folder inside", _link(lambda place, path: place.project / "spec")),
    Kind("a FIFO", _fifo, often=True),
    Kind("a device", _device),
    Kind("unreadable", _unreadable),
    Kind("a file", _file, often=True),
)


def _swap_for_twin(place: Place, path: Path) -> None:
    clear(path)
    path.symlink_to(place.outside / "twins" / path.name)


def _swap_for_double(place: Place, path: Path) -> None:
    if path.exists():
        path.rename(path.with_name(f"{path.name}.was"))
    path.symlink_to(place.outside / "doubles" / path.name)


SWAPS = (
    Kind("swapped for a link when it is opened", _swap_for_twin, True, lambda place, path: _twin(place, path) and None),
    Kind("swapped for a FIFO when it is opened", _fifo, True),
)
FOLDER_SWAPS = (
    Kind(
        "swapped for a link when something in it is opened",
        _swap_for_double,
        True,
        lambda place, path: _double(place, path) and None,
    ),
)


class Swapper:
    """Puts `kind` at `path` at the very moment that something asks for it: the worst that a race can bring.

    An audit hook calls `seen`, so that only what Python opens is raced with; `flicker` races with everything.
    """

    def __init__(self, place: Place, path: Path, kind: Kind) -> None:
        self._place, self._path, self._kind = place, path, kind
        self._done = False

    def seen(self, name: object) -> None:
        """Something is about to be opened, renamed or made under this name."""
        if self._done or not isinstance(name, str | bytes | os.PathLike):
            return
        text = os.fsdecode(name)  # relative to a descriptor it is a bare name
        if text in (self._path.name, str(self._path)) or text.startswith(f"{self._path}/"):
            self._done = True
            self._kind.put(self._place, self._path)


@contextlib.contextmanager
def flicker(place: Place, path: Path, kind: Kind, period_s: float = 0.0005):
    """A thread that puts `kind` and what is at `path` in turn, as fast as it can."""
    stop = threading.Event()
    kept, hostile = path.with_name(".kept"), path.with_name(".hostile")

    def exchange(source: Path, middle: Path, target: Path) -> None:
        with contextlib.suppress(OSError):  # the package is at it as well
            middle.rename(target)
            source.rename(middle)

    def run() -> None:
        path.rename(kept)
        kind.put(place, path)
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
