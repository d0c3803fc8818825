"""Who has an index open: a lock beside its claim, shared by those who read and write, exclusive while one checks it."""

import threading
from contextlib import suppress
from pathlib import Path

import apsw

from armarius.errors import StoreFull
from armarius.io import refusal, stat_of
from armarius.store.sqlite.connection import opened, translated
from armarius.store.sqlite.forking import cross

__all__ = ["PlaceLock"]


class PlaceLock:
    """The lock of one place; `path` is its file, which says nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: apsw.Connection | None = None
        self._at_work = threading.RLock()  # a fork waits for whoever has it
        cross(self)

    def enter(self) -> bool:
        """Lock the place against being checked or replaced by others.

        Returns:
            True when nobody else has the index open: then `settle` must follow once it is checked.

        Raises:
            StoreFull: The lock cannot be written, or something else lies in its place.
            StoreBusy: Another process has been checking the index for too long.
        """
        for suffix in ("", "-journal", "-wal"):  # SQLite would wait for a pipe of these names
            path = self._path.with_name(self._path.name + suffix)
            if (info := stat_of(path)) is not None and (what := refusal(info)):
                raise StoreFull(f"{path}: {what} in the place of a lock; delete it")
        with self._at_work, translated(self._path):
            self._lock = opened(self._path, create=True)
            try:
                return self._take()
            except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, apsw.ReadOnlyError):  # no database
                self._empty()
                return self._take()

    def settle(self) -> None:
        """The index is checked: let others in.

        Raises:
            StoreFull, StoreCorrupt: The lock cannot be written or read.
        """
        with self._at_work, translated(self._path):
            if self._lock is not None and self._lock.in_transaction:
                self._lock.execute("COMMIT")
            self._share()

    def alone(self) -> bool:
        """Take the place for oneself if nobody else is in it; `settle` or `leave` gives it back."""
        if self._lock is None:
            return False
        with self._at_work, translated(self._path):
            if self._lock.in_transaction:
                self._lock.execute("COMMIT")
            self._lock.set_busy_timeout(0)
            return self._take()

    def leave(self) -> None:
        """Give up the lock."""
        with self._at_work:
            if self._lock is not None:
                self._lock.close()
                self._lock = None

    def hold(self, seconds: float, /) -> bool:
        """Before a fork: wait until nobody enters or leaves."""
        return self._at_work.acquire(timeout=seconds)

    def release(self) -> None:
        """After a fork, in the parent."""
        self._at_work.release()

    def part(self, held: bool, /) -> None:
        """After a fork, in the child, which has entered nothing."""
        self._at_work = threading.RLock()
        lock, self._lock = self._lock, None
        if held and lock is not None:
            with suppress(apsw.Error):
                lock.close()
        elif lock is not None:
            self._left = lock  # somebody was using it: never closed

    def _take(self) -> bool:
        """The lock for oneself at once, or shared with whoever holds it."""
        assert self._lock is not None
        try:
            self._lock.execute("BEGIN EXCLUSIVE")
            self._read()
            return True
        except (apsw.BusyError, apsw.LockedError):
            self._lock.set_busy_timeout(10_000)
            self._share()
            return False

    def _empty(self) -> None:
        """Make a damaged file an empty database, in place: BusyError while somebody holds a lock on it."""
        assert self._lock is not None
        if self._lock.in_transaction:
            self._lock.execute("ROLLBACK")
        self._lock.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
        self._lock.execute("VACUUM")
        self._lock.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 0)

    def _share(self) -> None:
        assert self._lock is not None
        self._lock.execute("BEGIN")
        self._read()

    def _read(self) -> None:
        assert self._lock is not None
        self._lock.execute("SELECT count(*) FROM sqlite_master").fetchone()
