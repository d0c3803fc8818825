"""SQLite connections: one way to open them, one place where SQLite's errors become ours."""

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import apsw

from armarius.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull
from armarius.validation import shown

# Before 3.53.2 a crafted index file could take over the process through FTS5.
_MINIMUM_SQLITE = (3, 54, 0)
_BUSY_SECONDS = 5.0
_IDLE = 3  # readers kept: a question, a refresh and an embedding at once
# SQLite folds a log of 4 MB in whichever commit makes it so long, which then takes four times as long as the others.
# Here that is put off until nobody waits (`Lagging`), and a commit folds only a log that is four times as long.
_LONG_LOG: Final = 4 * 1024 * 1024
_TOO_LONG_LOG: Final = 4 * _LONG_LOG
_FORK_SECONDS: Final = 2.0
_WRITE_FAULTS = frozenset(
    getattr(apsw, name)
    for name in (
        "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC", "SQLITE_IOERR_TRUNCATE",
        "SQLITE_IOERR_SHMOPEN", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_SHMMAP", "SQLITE_IOERR_DELETE",
    )
)  # fmt: skip


@contextmanager
def convert_errors(path: Path) -> Iterator[None]:
    """Raise the errors of `armarius.errors` for those of SQLite."""
    try:
        yield
    except (apsw.Error, UnicodeDecodeError) as error:  # SQLite does not look whether a text is UTF-8
        raise _translation(path, error) from error


def _translation(path: Path, error: apsw.Error | UnicodeDecodeError) -> StoreError:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(f"{path}: held by another process for more than {_BUSY_SECONDS:.0f} s ({error})")
        case (
            apsw.FullError() | apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError() | apsw.AuthError()
        ):
            return StoreFull(f"{path}: cannot be written: {error}")
        case apsw.IOError() if getattr(error, "extendedresult", 0) in _WRITE_FAULTS:
            return StoreFull(f"{path}: {error}")
        case apsw.ConnectionClosedError() | apsw.CursorClosedError():
            return StoreError(f"{path}: the store is closed")
        case apsw.InterruptError():
            return StoreError(f"{path}: interrupted")
    return StoreCorrupt(f"{path}: {error}")  # damage takes many shapes: a missing table, a malformed page


def _open_database(path: Path) -> apsw.Connection:
    """A bare connection to a database file that is no link; the folder is resolved: SQLite refuses links in it too."""
    name = str(Path(os.path.realpath(path.parent)) / path.name)
    try:
        name.encode()
    except UnicodeEncodeError:
        what = "SQLite takes no path that is not UTF-8; set ARMARIUS_CACHE or index_dir"
        raise StoreFull(f"{shown(name)}: {what}") from None
    return apsw.Connection(name, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)


def _inode(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file; None without one."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def in_memory() -> apsw.Connection:
    """A database that lies nowhere: for what is made from a store and asked in its words."""
    return apsw.Connection(":memory:")


def connect(path: Path) -> apsw.Connection:
    """Open an index file with the settings every connection must have; it is never made here.

    Raises:
        StoreError: SQLite is too old to be given a file.
        StoreCorrupt: The file is gone.
    """
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < _MINIMUM_SQLITE:
        raise StoreError(
            f"SQLite {apsw.sqlite_lib_version()} is too old, {'.'.join(map(str, _MINIMUM_SQLITE))} is needed"
        )
    if not os.path.lexists(path):
        raise StoreCorrupt(f"{path}: deleted while open")
    connection = _open_database(path)
    connection.set_busy_timeout(int(_BUSY_SECONDS * 1000))
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.enable_load_extension(True)
    connection.load_extension(_vector_extension())
    connection.enable_load_extension(False)
    for pragma in (
        "trusted_schema = OFF",
        "cell_size_check = ON",
        "synchronous = NORMAL",
        "journal_size_limit = 4194304",
        "temp_store = MEMORY",
        "cache_size = -512",  # of a reader: pages are in the system's cache, so that more saves no time
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


@cache
def _vector_extension() -> str:
    """The file of sqlite-vec. Its module is not imported: that brings in numpy and a second SQLite."""
    spec = find_spec("sqlite_vec")
    if spec is None or spec.origin is None:
        raise StoreError("the package sqlite-vec is not installed")
    return str(Path(spec.origin).with_name("vec0"))


def all_rows(connection: apsw.Connection, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[Any]:
    """All rows of a statement."""
    return connection.execute(sql, values).fetchall()


def first_row(connection: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> Any:  # noqa: ANN401 - a row of any shape
    """The first row of a statement, or None."""
    return connection.execute(sql, values).fetchone()


def meta(connection: apsw.Connection, key: str) -> str | None:
    """What the engine keeps about the index itself, or None."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def keep_meta(connection: apsw.Connection, key: str, value: str) -> None:
    """Keep it."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


class Connections:
    """One writer and as many readers as there are threads reading at once.

    A few readers are kept for the next callers, and those that only a crowd needed are closed: each has files open
    and half a megabyte of pages. Every borrowed reader sees one snapshot, because each use is one transaction.

    Attributes:
        damaged: A page or a row could not be read; the file must not be sealed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer = connect(path)
        self.writer.execute("PRAGMA wal_autocheckpoint = 0")
        self.writer.execute("PRAGMA cache_size = -8192")  # with less, writing vectors takes a fifth longer
        self._log = Path(f"{path}-wal")
        self._idle: list[apsw.Connection] = []
        self._used = 0  # readers lent out
        self._lock = threading.Condition(threading.Lock())
        self._write_lock = threading.RLock()
        self._closed = False
        self._file = _inode(path)
        self.damaged = False
        self.inherited = False  # from the parent of a fork
        self._held = False  # by a fork that is being made
        _open.add(self)

    @property
    def replaced(self) -> bool:
        """Whether the file of these connections was deleted, or another one lies at its path. Cost: one stat."""
        return _inode(self.path) != self._file

    def check(self) -> None:
        """Refuse to go on in a forked child, after `close`, and without the file.

        Raises:
            StoreError: Opened by the parent process, or closed.
            StoreCorrupt: Deleted or replaced.
        """
        if self.inherited:
            raise StoreError(f"{self.path}: opened by another process, which was forked since; open it again")
        if self._closed:
            raise StoreError(f"{self.path}: the store is closed")
        if self.replaced:
            raise StoreCorrupt(f"{self.path}: deleted or replaced while open")

    @contextmanager
    def reading(self, *, apart: bool = False) -> Iterator[apsw.Connection]:
        """A connection inside a read transaction, which sees one snapshot, and for which a fork waits.

        Args:
            apart: One that has seen nothing yet, and is closed at the end.
        """
        with self._lock:
            self.check()
            idle = self._idle.pop() if self._idle and not apart else None
            self._used += 1
        ended = None
        try:
            connection = idle or connect(self.path)
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            ended = connection
        except (apsw.Error, UnicodeDecodeError) as error:
            translation = _translation(self.path, error)
            self.damaged |= isinstance(translation, StoreCorrupt)
            raise translation from error
        except StoreCorrupt:
            self.damaged = True
            raise
        finally:
            with self._lock:
                self._used -= 1
                self._lock.notify_all()
                closed: bool = self._closed  # meanwhile, by another thread
                if ended is not None and (apart or closed or len(self._idle) >= _IDLE):
                    ended.close()  # inside the lock: a fork waits for it
                elif ended is not None:
                    self._idle.append(ended)

    def begin_writing(self) -> None:
        """Called before each write transaction, which an error prevents."""

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """The writer inside a transaction that commits at the end and rolls back on any error."""
        with self._write_lock:
            self.check()
            self.begin_writing()
            try:
                with convert_errors(self.path):
                    self.writer.execute("BEGIN IMMEDIATE")
                    try:
                        yield self.writer
                        self.writer.execute("COMMIT")
                    except BaseException:
                        if self.writer.in_transaction:
                            self.writer.execute("ROLLBACK")
                        raise
                    if self._log_size() > _TOO_LONG_LOG:
                        self._fold_log()
            except StoreCorrupt:
                self.damaged = True
                raise

    def has_long_log(self) -> bool:
        """Whether to call `shorten_log` when there is time."""
        return self._log_size() > _LONG_LOG

    def shorten_log(self) -> None:
        """Give the writer's pages back, and checkpoint a long write-ahead log; called when no request waits."""
        with self._write_lock:
            self.check()
            if not self.writer.in_transaction:
                with convert_errors(self.path):
                    self.writer.execute("PRAGMA shrink_memory")
                    if self.has_long_log():
                        self._fold_log()

    def _fold_log(self) -> None:
        """Checkpoint between two transactions; pages that a reader still uses stay in the log."""
        self.writer.set_busy_timeout(0)
        try:
            self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self.writer.set_busy_timeout(int(_BUSY_SECONDS * 1000))

    def _log_size(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0

    def close(self) -> None:
        """Close all; a read still running closes its own connection when it ends."""
        with self._write_lock, self._lock:
            self._closed = True
            connections: list[Any] = [*self._idle, self.writer]
            self._idle = []
        for connection in connections:
            connection.close()

    def _before_fork(self) -> None:
        """Wait until nobody reads or writes, and let nobody begin; for two seconds at most."""
        if not self._write_lock.acquire(timeout=_FORK_SECONDS):
            return
        idle = self._closed or not self.writer.in_transaction  # this thread itself may be writing
        if idle and self._lock.acquire(timeout=_FORK_SECONDS):
            if self._lock.wait_for(lambda: self._used == 0, _FORK_SECONDS):
                self._held = True
                return
            self._lock.release()
        self._write_lock.release()

    def _after_fork(self) -> None:
        """In the parent: go on."""
        if self._held:
            self._held = False
            self._lock.release()
            self._write_lock.release()

    def _part(self) -> None:
        """In the child: close what is idle, keep what a thread of the parent was using, and be of no use."""
        self._lock, self._write_lock = threading.Condition(threading.Lock()), threading.RLock()
        connections: list[apsw.Connection] = [] if self._closed else [*self._idle, self.writer]
        self._closed = self.inherited = True
        if not self._held:
            _unclosed.append(self)
            return
        for connection in connections:
            with suppress(apsw.Error):
                connection.close()


# SQLite keeps the locks of a file in the memory of the process: a child that inherits a connection believes to hold its
# parent's locks, and would read and write without any. So a child begins by closing what it has inherited, which
# releases nothing of the parent's; and a fork waits for transactions, because SQLite's mutexes are inherited too.
_open: Final[weakref.WeakSet[Connections]] = weakref.WeakSet()
_crossing: Final[list[Connections]] = []
_unclosed: Final[list[Connections]] = []
_forking: Final = threading.Lock()


def _before_fork() -> None:
    _forking.acquire()
    _crossing.extend(_open)
    for pool in _crossing:
        pool._before_fork()


def _after_in_parent() -> None:
    for pool in _crossing:
        pool._after_fork()
    _crossing.clear()
    _forking.release()


def _after_in_child() -> None:
    for pool in _crossing:
        pool._part()
    _crossing.clear()
    _open.clear()
    _forking.release()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
