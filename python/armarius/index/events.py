"""The operating system's events below one folder, or the reason why there are none.

A user has so many instances of inotify, and so many watches, one for each folder; when they are used up, an observer
may fail, and may also say nothing and lack some folders. So after each step it is tried whether one more could be had.
"""

import ctypes
import errno
import logging
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

__all__ = ["Events", "is_room"]

logger = logging.getLogger("armarius")

_IGNORED = frozenset({"opened", "closed_no_write", "attrib"})
_IN_CREATE = 0x100
# watchdog says so as an error when its reader wakes up after it was stopped, as it always may.
_STOPPED = "queue_events() called when the thread is inactive"
# What it has to say is for a host that listens to logs, and for nobody's terminal.
logging.getLogger("watchdog").addHandler(logging.NullHandler())
logging.getLogger("watchdog.observers.inotify").addFilter(lambda record: _STOPPED not in record.getMessage())


class Events:
    """Events of a folder and all below it, as paths.

    Args:
        root: The folder.
        mark: Called with an absolute path, from a thread of its own.
        lost: Called when events were lost.

    Attributes:
        trouble: Why no events come, "" while they do, or while nobody has asked for them.
    """

    def __init__(self, root: Path, mark: Callable[[str], None], lost: Callable[[], None]) -> None:
        self._root = root
        self._mark = mark
        self._overflow = _OverflowHandler(lost)
        self._observer: BaseObserver | None = None
        self._grown = threading.Event()  # folders came: each needs a watch
        self._complained = False
        self.trouble = ""
        logging.getLogger("watchdog.observers").addHandler(self._overflow)

    @property
    def blind(self) -> bool:
        """No events come."""
        return self._observer is None

    def begin(self) -> None:
        """Ask for events, anew where they come already; `trouble` says whether they come."""
        self.end()
        self._grown.clear()
        try:
            observer = Observer()  # asks for an instance of inotify: a user has 128 of them, unless told otherwise
            observer.schedule(_Handler(self._mark, self._grown), str(self._root), recursive=True)
            observer.start()
        except (OSError, RuntimeError) as error:  # no instances, watches or threads; or no such folder at the moment
            self._failed(getattr(error, "strerror", None) or str(error))
            return
        self._observer, self.trouble = observer, ""
        self._check_room()

    def check(self) -> None:
        """See that folders that came since have a watch too."""
        if self._observer is not None and self._grown.is_set():
            self._grown.clear()
            self._check_room()

    def end(self) -> None:
        """Ask for no more events."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join(timeout=5)

    def close(self) -> None:
        """`end`, for good."""
        logging.getLogger("watchdog.observers").removeHandler(self._overflow)
        self.end()

    def _check_room(self) -> None:
        if not is_room(self._root):
            self.end()
            self._failed("inotify watch limit reached")

    def _failed(self, why: str) -> None:
        self.trouble = why
        if not self._complained and self._root.is_dir():
            self._complained = True
            logger.warning("%s: not followed but compared, every second or so: %s", self._root.name, why)


def is_room(root: Path) -> bool:
    """Whether one more watch could be had; True where that cannot be tried.

    inotify(7): a watch over the limit of the user is ENOSPC. macOS and Windows have no such limit.
    """
    if sys.platform != "linux":
        return True
    libc = ctypes.CDLL(None, use_errno=True)
    instance = libc.inotify_init1(os.O_CLOEXEC)
    if instance < 0:
        return True
    try:
        watch = libc.inotify_add_watch(instance, os.fsencode(root), _IN_CREATE)
        return watch >= 0 or ctypes.get_errno() != errno.ENOSPC
    finally:
        os.close(instance)


class _Handler(FileSystemEventHandler):
    def __init__(self, mark: Callable[[str], None], grown: threading.Event) -> None:
        self._mark = mark
        self._grown = grown

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Mark both ends of whatever happened; a folder that merely lists other files now says nothing new."""
        if event.event_type in _IGNORED or (event.is_directory and event.event_type == "modified"):
            return
        if event.is_directory and event.event_type in ("created", "moved"):
            self._grown.set()
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
