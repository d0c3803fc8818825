"""Changes of files, as hints: which paths to look at again.

Events get lost, come twice, or name a file that is gone. So an event only marks a path; after 100 ms of quiet (2 s at
most) the marked paths are handed over to be compared with the index. The whole tree is compared when the queue of the
operating system overflowed, when the root was replaced, and every minute. Everything is right with the watcher off.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

__all__ = ["Watcher"]

logger = logging.getLogger("armarius")

_QUIET_SECONDS = 0.1
_LONGEST_SECONDS = 2.0
_SWEEP_SECONDS = 60.0
_BLIND_SWEEP_SECONDS = 1.0  # when the operating system gives no more watches
_IGNORED = frozenset({"opened", "closed_no_write", "attrib"})
# watchdog says so as an error when its reader wakes up after it was stopped, as it always may.
_STOPPED = "queue_events() called when the thread is inactive"
# What it has to say is for a host that listens to logs, and for nobody's terminal.
logging.getLogger("watchdog").addHandler(logging.NullHandler())
logging.getLogger("watchdog.observers.inotify").addFilter(lambda record: _STOPPED not in record.getMessage())
# Hidden files that change what the index holds.
_TELLING = frozenset({".gitignore", ".ignore", ".armarius"})


class Watcher:
    """Watch a folder and call `changed` with relative paths, or with None for "everything", from one thread.

    Args:
        root: The folder.
        changed: Called with paths whose files, or whole folders, may have changed; must not raise.
    """

    def __init__(self, root: Path, changed: Callable[[set[str] | None], None]) -> None:
        self._root = Path(os.path.realpath(root))
        self._changed = changed
        self._pending: set[str] = set()
        self._everything = False
        self._first = self._last = 0.0
        self._wake = threading.Condition()
        self._stopped = False
        self._observer: BaseObserver | None = None
        self._complained = False
        self._identity: tuple[int, int] | None = None
        self._overflow = _OverflowHandler(self.mark_everything)
        self._thread = threading.Thread(target=self._run, name="armarius-watcher", daemon=True)

    @property
    def blind(self) -> bool:
        """No events come: the tree is compared every second instead."""
        return self._observer is None

    @property
    def pending(self) -> bool:
        """Something was marked and is not handed over yet; or another folder lies in the root's place, unannounced.

        Cost: one stat: no event tells of a root that is renamed.
        """
        if self._root_identity() != self._identity:
            self.mark_everything()
        with self._wake:
            return bool(self._pending) or self._everything

    def start(self) -> None:
        """Begin; the tree is compared once, because it may have changed before the first event could come."""
        logging.getLogger("watchdog.observers").addHandler(self._overflow)
        self._observe()
        self.mark_everything()
        self._thread.start()

    def stop(self) -> None:
        """End; what is marked and not handed over is left to the next comparison."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
        logging.getLogger("watchdog.observers").removeHandler(self._overflow)
        self._unobserve()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)

    def mark(self, path: str) -> None:
        """Mark one absolute path."""
        relative = os.path.relpath(path, self._root).replace(os.sep, "/")
        parts = relative.split("/")
        if parts[0] == ".." or any(part.startswith(".") and part not in _TELLING for part in parts if part != "."):
            return
        if parts[0] == ".armarius" and len(parts) > 2:  # a database, not a record
            return
        with self._wake:
            if relative == "." or relative.rsplit("/", 1)[-1] in _TELLING or relative == "armarius.toml":
                self._everything = True
            self._pending.add(relative)
            self._touch()

    def mark_everything(self) -> None:
        """Mark the whole tree."""
        with self._wake:
            self._everything = True
            self._touch()

    def _touch(self) -> None:
        self._last = time.monotonic()
        self._first = self._first or self._last
        self._wake.notify()

    def _run(self) -> None:
        sweep = time.monotonic()
        while True:
            with self._wake:
                while not self._stopped and (delay := self._delay(sweep)) > 0:
                    self._wake.wait(delay)
                if self._stopped:
                    return
                due = bool(self._pending) or self._everything
                paths = None if self._everything or not due else self._pending
                self._pending, self._everything, self._first = set(), False, 0.0
            if self._root_changed():
                self._unobserve()
                self._observe()
                paths = None
            if paths is None:
                sweep = time.monotonic()
            self._changed(paths)

    def _delay(self, sweep: float) -> float:
        now = time.monotonic()
        if self._pending or self._everything:
            return min(self._last + _QUIET_SECONDS, self._first + _LONGEST_SECONDS) - now
        return sweep + (_BLIND_SWEEP_SECONDS if self.blind else _SWEEP_SECONDS) - now

    def _observe(self) -> None:
        self._identity = self._root_identity()
        try:
            observer = Observer()  # asks for an instance of inotify: a user has 128 of them, unless told otherwise
            observer.schedule(_Handler(self.mark), str(self._root), recursive=True)
            observer.start()
        except OSError as error:  # no more instances or watches, or no such folder at the moment
            if not self._complained and self._identity is not None:
                self._complained = True
                logger.warning("%s: not followed but compared every second: %s", self._root.name, error.strerror)
            self._observer = None
        else:
            self._observer = observer

    def _unobserve(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join(timeout=5)

    def _root_identity(self) -> tuple[int, int] | None:
        try:
            info = self._root.stat()
        except OSError:
            return None
        return (info.st_dev, info.st_ino)

    def _root_changed(self) -> bool:
        identity = self._root_identity()
        return identity != self._identity or (self.blind and identity is not None)


class _Handler(FileSystemEventHandler):
    def __init__(self, mark: Callable[[str], None]) -> None:
        self._mark = mark

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Mark both ends of whatever happened; a folder that merely lists other files now says nothing new."""
        if event.event_type in _IGNORED or (event.is_directory and event.event_type == "modified"):
            return
        for path in (event.src_path, event.dest_path):
            if path:
                self._mark(os.fsdecode(path))


class _OverflowHandler(logging.Handler):
    """watchdog says only in its log that the operating system dropped events."""

    def __init__(self, overflowed: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._overflowed = overflowed

    def emit(self, record: logging.LogRecord) -> None:
        """Take the record as the hint it is."""
        if "overflow" in record.getMessage():
            self._overflowed()
