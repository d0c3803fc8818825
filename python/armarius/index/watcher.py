"""File events of one folder, or of many folders in one parent folder.

Events are hints: the operating system drops, repeats or delays some. So an event only marks a path. After 100 ms
without events (15 ms for a single save, 2 s at most) the marked paths are compared with the index. The whole tree is
compared after long bursts, which may overflow the event queue, when the root was replaced, and every minute.
Without a watcher every request compares the tree, so results are the same.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from armarius._core import EventQueue

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

logger = logging.getLogger("armarius")

# A save is one burst of a few milliseconds. Longer series of events (a copy, a branch switch) are collected longer, so
# that the index is not refreshed once per file.
_QUIET_SECONDS: Final = 0.1
_ALONE_SECONDS: Final = 0.015
_REST_SECONDS: Final = 0.2  # a burst so long after the last one was read is a save
_LONGEST_SECONDS: Final = 2.0
_SWEEP_SECONDS: Final = 60.0
_BLIND_SWEEP_SECONDS: Final = 1.0  # when the operating system gives no events
_BLIND_SHARE: Final = 20  # and at least so many times what a sweep took: 5 % of one core
_MANY: Final = 1000  # paths of one burst: inotify keeps 16,384 events for us, and drops what comes after
_IGNORED: Final = frozenset({"opened", "closed_no_write", "attrib"})
_TELLING: Final = frozenset({".gitignore", ".ignore", ".armarius"})  # hidden files that change what the index holds

# Without a handler, logging would print watchdog's warnings to the terminal of a host that configures no logging.
logging.getLogger("watchdog").addHandler(logging.NullHandler())


class Followed:
    """A watched folder with its marked paths. Thread-safe.

    Args:
        root: The folder, with all links resolved.
        watcher: Its watcher; without events it compares the tree about once per second.
        changed: Called from the watcher's thread with relative paths of files or folders that may have changed, or
            with None for the whole tree; must not raise.

    Attributes:
        swept: Time (monotonic) of the last comparison of the whole tree.
        is_hidden: Whether a hidden path is outside the project; asked for hidden paths alone.
    """

    def __init__(self, root: Path, watcher: "Watcher", changed: Callable[[set[str] | None], None]) -> None:
        self.root = root
        self.changed = changed
        self.swept = time.monotonic()
        self.is_hidden: Callable[[str], bool] = lambda _: True
        self.watcher = watcher
        self._paths: set[str] = set()
        self._everything = False
        self._first = self._last = 0.0
        self._settled = float("-inf")
        self._identity = _identity(root)

    @property
    def pending(self) -> bool:
        """Whether a path is marked, or the folder was replaced (which gives no event). Cost: one stat."""
        if _identity(self.root) != self._identity:
            self.mark_everything()
        return bool(self._paths or self._everything)

    def mark(self, path: str) -> None:
        """Mark one absolute path."""
        relative = os.path.relpath(path, self.root).replace(os.sep, "/")
        parts = relative.split("/")
        hidden = any(part.startswith(".") and part not in _TELLING for part in parts if part != ".")
        if parts[0] == ".." or (hidden and self.is_hidden(relative)):
            return
        if parts[0] == ".armarius" and len(parts) > 2:  # a database, not a record
            return
        self._mark_path(relative, everything=relative in (".", "armarius.toml") or parts[-1] in _TELLING)

    def mark_everything(self) -> None:
        """Mark the whole tree."""
        self._mark_path(None, everything=True)

    def due(self) -> float | None:
        """Time (monotonic) to hand marked paths over, None without any. Requires the watcher's lock."""
        if not (self._paths or self._everything):
            return None
        rested = self._first - self._settled >= _REST_SECONDS
        alone = bool(self._paths) and rested and self._last - self._first < _QUIET_SECONDS
        return min(self._last + (_ALONE_SECONDS if alone else _QUIET_SECONDS), self._first + _LONGEST_SECONDS)

    def hand_over(self) -> float:
        """Pass the marked paths, or None, to `changed`. Returns seconds since the first mark, 0 without any."""
        with self.watcher.wake:
            first, paths, whole = self._first, self._paths, self._everything or not 0 < len(self._paths) <= _MANY
            self._paths, self._everything, self._first = set(), False, 0.0
        if (identity := _identity(self.root)) != self._identity:
            self._identity, whole = identity, True
        if whole:
            self.swept = time.monotonic()
        self.changed(None if whole else paths)
        self._settled = time.monotonic()
        return self._settled - first if first else 0.0

    def stop(self) -> None:
        """Stop. Marked paths are left to the next comparison."""
        self.watcher.unfollow(self)

    def _mark_path(self, path: str | None, *, everything: bool) -> None:
        with self.watcher.wake:
            self._everything |= everything
            if path is not None:
                self._paths.add(path)
            self._last = time.monotonic()
            self._first = self._first or self._last
            self.watcher.wake.notify()


class Watcher:
    """Watches `root`, or many folders directly in it, with one thread and one subscription to events.

    Args:
        root: A folder.
        many: Watch folders in `root`, each by itself. Otherwise the watcher stops when `root` is unfollowed.

    Attributes:
        lag: Seconds from the first mark to the comparison, of the last change.
        trouble: Why there are no events, "" if there are or no folder is watched.
        wake: Condition that guards the marks; notified of every mark.
        queue: Receives the events of the same folders, for answers, which cannot wait for a thread; may be None.
    """

    def __init__(self, root: Path, *, many: bool = False) -> None:
        self.lag = 0.0
        self.trouble = ""
        self.wake = threading.Condition()
        self._root = Path(os.path.realpath(root))
        self.queue = EventQueue.create()
        self._many = many
        self._identity = _identity(self._root)
        self._followed: dict[str, list[Followed]] = {}
        self._observer: BaseObserver | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._stopped = self._complained = False
        self._sweep_cost = self._tried = 0.0

    @property
    def blind(self) -> bool:
        """Whether there are no events."""
        return self._observer is None

    def follow(self, folder: Path, changed: Callable[[set[str] | None], None]) -> Followed:
        """Watch `folder`. The tree is compared once: it may have changed before the subscription."""
        followed = Followed(Path(os.path.realpath(folder)), self, changed)
        with self.wake:
            self._followed.setdefault(str(followed.root), []).append(followed)
        with self._starting:
            if self._thread is None and not self._stopped:
                if not self._many:  # a tree of hundreds takes its time: until then each answer compares
                    self._begin()
                self._thread = threading.Thread(target=self._run, name="armarius-watcher", daemon=True)
                self._thread.start()
        followed.mark_everything()
        return followed

    def unfollow(self, followed: Followed) -> None:
        """Stop watching one folder."""
        key = str(followed.root)
        with self.wake:
            here = [folder for folder in self._followed.pop(key, []) if folder is not followed]
            if here:
                self._followed[key] = here
        if not self._many:
            self.stop()

    def stop(self) -> None:
        """Stop; the watcher cannot be started again."""
        with self.wake:
            self._stopped = True
            self.wake.notify()
        self._end()
        thread = self._thread
        if thread is not None and thread.is_alive() and thread is not threading.current_thread():
            thread.join(timeout=5)

    def dispatch(self, event: "FileSystemEvent") -> None:
        """Mark source and destination of an event; a changed folder listing is redundant with its files' events."""
        if event.event_type in _IGNORED or (event.is_directory and event.event_type == "modified"):
            return
        for path in (event.src_path, event.dest_path):
            if path:
                self.mark(os.fsdecode(path))

    def mark(self, path: str) -> None:
        """Mark an absolute path in the watched folder that contains it."""
        concerned = self._all_folders()
        if self._many and (name := os.path.relpath(path, self._root).split(os.sep, 1)[0]) != os.curdir:
            with self.wake:
                concerned = list(self._followed.get(str(self._root / name), ()))
        for folder in concerned:
            folder.mark(path)

    def _all_folders(self) -> list[Followed]:
        with self.wake:
            return [folder for here in self._followed.values() for folder in here]

    def _begin(self) -> None:
        """Subscribe to events, again if already subscribed."""
        self._end()
        self._identity, self._tried = _identity(self._root), time.monotonic()
        from watchdog.observers import Observer  # not for a process that never watches

        try:
            observer = Observer()  # takes an inotify instance; the default limit is 128 per user
            handler: Any = self  # `dispatch` is the one method of a handler that is called
            observer.schedule(handler, str(self._root), recursive=True)
            observer.start()
            self._observer, self.trouble = observer, ""
        except (OSError, RuntimeError) as error:  # no instances, watches or threads; or no such folder at the moment
            self.trouble = getattr(error, "strerror", None) or str(error)
            self._sweep_cost = max(self._sweep_cost, time.monotonic() - self._tried)
            if not self._complained and self._root.is_dir():
                self._complained = True
                why = self.trouble
                logger.warning("%s: not followed but compared, every second or so: %s", self._root.name, why)

    def _end(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join(timeout=5)

    def _run(self) -> None:
        if self._many:
            self._begin()
            for folder in self._all_folders():
                folder.mark_everything()
        while True:
            with self.wake:
                while not self._stopped and (delay := self._delay()) > 0:
                    self.wake.wait(delay)
                if self._stopped:
                    return
            self._look()
            for folder in self._all_folders():
                self._report_changes(folder)

    def _sweep_interval(self) -> float:
        return max(_BLIND_SWEEP_SECONDS, _BLIND_SHARE * self._sweep_cost) if self.blind else _SWEEP_SECONDS

    def _due_time(self, folder: Followed) -> float:
        due = folder.due()
        return folder.swept + self._sweep_interval() if due is None else due

    def _delay(self) -> float:
        """Seconds until the next action. Requires the lock."""
        now = time.monotonic()
        times = [self._tried + self._sweep_interval()] if self.blind else []
        times += [self._due_time(folder) for here in self._followed.values() for folder in here]
        return min(times, default=now + _SWEEP_SECONDS) - now

    def _look(self) -> None:
        """Subscribe again if the folder was replaced, or if the last subscription failed."""
        replaced = _identity(self._root) != self._identity
        if replaced or (self.blind and time.monotonic() >= self._tried + self._sweep_interval()):
            was_blind = self.blind
            self._begin()
            if replaced or (was_blind and not self.blind):
                for folder in self._all_folders():
                    folder.mark_everything()

    def _report_changes(self, folder: Followed) -> None:
        with self.wake:
            if time.monotonic() < self._due_time(folder):
                return
        began = time.monotonic()
        waited = folder.hand_over()
        if waited:
            self.lag = waited
        else:
            self._sweep_cost = time.monotonic() - began


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        info = root.stat()
    except OSError:
        return None
    return (info.st_dev, info.st_ino)
