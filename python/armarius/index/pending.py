"""What of a folder has been marked as maybe changed, and when that is due to be looked at."""

import os
import threading
import time
from pathlib import Path

__all__ = ["Pending"]

# A save is one burst of events, over in a few milliseconds. What goes on changing (a copy, a switch of branches) is
# waited for longer, so that it is not read once for every file.
_QUIET_SECONDS = 0.1
_ALONE_SECONDS = 0.015
_REST_SECONDS = 0.2  # a burst so long after the last one was read is a save
_LONGEST_SECONDS = 2.0
# Hidden files that change what the index holds.
_TELLING = frozenset({".gitignore", ".ignore", ".armarius"})


class Pending:
    """Marks of one folder. Threads may share it.

    Args:
        root: The folder, every link in its path followed.
        wake: Told of every mark.
    """

    def __init__(self, root: Path, wake: threading.Condition) -> None:
        self.root = root
        self.wake = wake
        self.swept = time.monotonic()
        self._paths: set[str] = set()
        self._everything = False
        self._first = self._last = 0.0
        self._settled = float("-inf")
        self._identity = self._root_identity()

    def mark(self, path: str) -> None:
        """Mark one absolute path."""
        relative = os.path.relpath(path, self.root).replace(os.sep, "/")
        parts = relative.split("/")
        if parts[0] == ".." or any(part.startswith(".") and part not in _TELLING for part in parts if part != "."):
            return
        if parts[0] == ".armarius" and len(parts) > 2:  # a database, not a record
            return
        with self.wake:
            if relative == "." or relative.rsplit("/", 1)[-1] in _TELLING or relative == "armarius.toml":
                self._everything = True
            self._paths.add(relative)
            self._touch()

    def mark_everything(self) -> None:
        """Mark the whole tree."""
        with self.wake:
            self._everything = True
            self._touch()

    def is_empty(self) -> bool:
        """Nothing is marked, and the same folder lies there. Cost: one stat: no event tells of a root renamed."""
        if self.is_replaced():
            self.mark_everything()
        with self.wake:
            return not (self._paths or self._everything)

    def due(self) -> float | None:
        """When what is marked is to be handed over, None when nothing is; ask with `wake` held."""
        if not (self._paths or self._everything):
            return None
        rested = self._first - self._settled >= _REST_SECONDS
        alone = bool(self._paths) and rested and self._last - self._first < _QUIET_SECONDS
        return min(self._last + (_ALONE_SECONDS if alone else _QUIET_SECONDS), self._first + _LONGEST_SECONDS)

    @property
    def age(self) -> float:
        """Seconds since the first of the marks."""
        return time.monotonic() - self._first if self._first else 0.0

    def take(self) -> set[str] | None:
        """What is marked, None for everything; nothing is afterwards. Ask with `wake` held."""
        paths = None if self._everything or not self._paths else self._paths
        self._paths, self._everything, self._first = set(), False, 0.0
        if paths is None:
            self.swept = time.monotonic()
        return paths

    def settle(self) -> None:
        """What was taken has been read."""
        self._settled = time.monotonic()

    def is_replaced(self) -> bool:
        """Whether another folder lies there than when `renew` was called last, or none."""
        return self._root_identity() != self._identity

    def renew(self) -> bool:
        """Take what lies there for the folder; False when nothing does."""
        self._identity = self._root_identity()
        return self._identity is not None

    def _touch(self) -> None:
        self._last = time.monotonic()
        self._first = self._first or self._last
        self.wake.notify()

    def _root_identity(self) -> tuple[int, int] | None:
        try:
            info = self.root.stat()
        except OSError:
            return None
        return (info.st_dev, info.st_ino)
