"""A pool of connections to one server that reconnects at once when the server is back.

psycopg_pool backs off exponentially, and every caller waits for its whole timeout. Here callers connect themselves;
while the server is unreachable one caller retries twice a second, and the others fail at once.

Invariants, for poolers in transaction mode: a connection is lent and returned outside of any transaction; no session
variable is set on it; no statement is prepared on the server.

Nothing of the driver leaves a connection: its errors are raised as those of a store, in `Connection` and nowhere else.
No message carries a DSN, a password or a user's text.
"""

import re
import select
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from armarius.deadline import remaining
from armarius.errors import ContractError, StoreBusy, StoreError, StoreFull, StoreUnavailable

AGAIN: tuple[type[psycopg.Error], ...] = (errors.SerializationFailure, errors.DeadlockDetected)
"""A transaction that may simply be made again: 40001 and 40P01."""

_BUSY: tuple[type[psycopg.Error], ...] = (errors.LockNotAvailable, *AGAIN)
_FULL = (errors.DiskFull, errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege)
_AWAY = (
    psycopg.OperationalError,  # also of what the server says when it ends, starts, or takes too long
    psycopg.InterfaceError,
    errors.IdleInTransactionSessionTimeout,
)
NO_TABLES = (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName)
_CAUSES = (
    (r"Connection refused|on socket \".*\" failed: No such file", "nothing listens at this host and port"),
    (r"failed to resolve host|could not translate host name", "there is no such host"),
    (r"password authentication failed|no password supplied", "the password is wrong, or there is no such user"),
    (r"role \".*\" does not exist", "there is no such user"),
    (r"database \".*\" does not exist", "there is no such database"),
    (r"too many clients|remaining connection slots|too many connections for", "all connections are taken"),
    (
        r"connection timeout expired|failed: (timeout expired|Connection timed out|No route|Network is unreachable)",
        "the address is not reached: check host and port in the DSN, and the firewalls between",
    ),
    (
        r"certificate verify failed",
        "the certificate of the server is not trusted: set sslrootcert=FILE in the DSN to that of its authority",
    ),
    (r"root certificate file", "no trusted certificate is read: set sslrootcert=FILE or sslrootcert=system in the DSN"),
    (
        r"does not match host name|host name must be specified for a verified",
        "the certificate of the server is for another host name: set host= in the DSN to one of its names",
    ),
    (  # `sslmode=prefer` tries both ways: refused with TLS too, it is no matter of TLS
        r'\A(?![\s\S]*(, (SSL|GSS) encryption|"\[local\]"))[\s\S]*, no encryption|FATAL: +SSL required',
        "the server demands TLS: set sslmode=require in the DSN, or sslmode=verify-full with sslrootcert=FILE",
    ),
    (r', (SSL|GSS) encryption|"\[local\]"', "pg_hba.conf of the server does not admit this user, database and address"),
    (r"server does not support SSL", "the server has no TLS: set sslmode=prefer in the DSN, or give it a certificate"),
)
"""Patterns of connection errors of libpq or the server, and messages without names of hosts and users."""


def store_error(place: str, error: psycopg.Error, seconds: float) -> StoreError:
    """The error of a store for one of the driver; `seconds` is how long the server has been away."""
    message = _error_text(error)
    if isinstance(error, _BUSY):
        return StoreBusy(f"{place}: another writer holds the project: {message}")
    if isinstance(error, _FULL):
        return StoreFull(f"{place}: the server cannot write: {message}")
    if isinstance(error, NO_TABLES):
        return StoreError(f"{place}: the tables of armarius are not there or older; run: armarius server migrate")
    if isinstance(error, _AWAY):
        since = f" for {seconds:.1f} s" if seconds > 1 else ""
        if why := cause_of(error):
            return StoreUnavailable(f"{place}: no connection{since}: {why}", seconds=seconds)
        return StoreUnavailable(f"{place}: the server does not answer{since}: {message}", seconds=seconds)
    return StoreError(f"{place}: {type(error).__name__}: {message}")


def cause_of(error: psycopg.Error) -> str:
    """Why there is no connection; with several hosts, each cause once. "" when it is none of the known ones."""
    if error.diag.message_primary:  # said over a connection
        return ""
    message = str(error)
    return "; ".join(why for pattern, why in _CAUSES if re.search(pattern, message))


def _error_text(error: psycopg.Error) -> str:
    """What the server said; what the driver says of a connection names hosts and users, and is left out."""
    message = error.diag.message_primary
    if message:
        return message
    return {
        psycopg.OperationalError: "no connection",
        psycopg.InterfaceError: "the connection is closed",
    }.get(type(error), type(error).__name__)


_PROBE_SECONDS = 0.5
_CONNECT_SECONDS = 2  # the least that libpq takes
_ANSWER_SECONDS = 15.0  # a server that stands still for so long is away
_LEAST_SECONDS = 1.0  # and it is not away for others because one caller is in a hurry


class _Driver(psycopg.Connection[tuple[Any, ...]]):
    """A connection on which nothing waits for ever: a frozen server closes nothing, and a cancel would not reach it."""

    answer_s: float = _ANSWER_SECONDS

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:  # noqa: ANN401 - of psycopg
        """See `psycopg.Connection.wait`; closes the connection when the server does not answer in time."""
        limit = self.answer_s if timeout is None else min(timeout, self.answer_s)
        started = time.monotonic()
        try:
            return super().wait(gen, interval, timeout=limit)
        except psycopg.OperationalError:
            if time.monotonic() - started >= limit:
                self.pgconn.finish()
            raise


class Connection:
    """A connection of a pool, in autocommit. Every call of it may raise the errors of a store, and no other ones.

    Args:
        driver: The connection of psycopg.
        pool: Its pool, which is told when it is lost.

    Raises:
        StoreBusy, StoreFull, StoreUnavailable, StoreError: See `armarius.store.protocol`; the driver's error is the
            cause.
    """

    def __init__(self, driver: _Driver, pool: "Pool") -> None:
        self.driver = driver
        self._pool = pool

    def execute(self, query: str, values: Sequence[Any] = ()) -> "psycopg.Cursor[tuple[Any, ...]]":
        """One statement; what it finds is in memory."""
        with self._translating():
            return self.driver.execute(query, values)

    def execute_many(self, query: str, values: Sequence[Sequence[Any]]) -> None:
        """One statement for each of `values`, in one round trip."""
        with self._translating(), self.driver.cursor() as cursor:
            cursor.executemany(query, values)

    @contextmanager
    def pipeline(self) -> Iterator[None]:
        """Statements that are sent in one round trip; what they find is there after the block."""
        with self._translating(), self.driver.pipeline():
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction; inside another one a savepoint."""
        with self._translating(), self.driver.transaction():
            yield

    @property
    def closed(self) -> bool:
        """Whether it is lost, or was closed."""
        return self.driver.closed

    @property
    def is_idle(self) -> bool:
        """Whether it is open and outside of any transaction."""
        return not self.closed and self.driver.info.transaction_status == TransactionStatus.IDLE

    @property
    def is_quiet(self) -> bool:
        """Whether nothing came on it while it was idle: what comes is its end. No round trip."""
        if self.closed:
            return False
        if not hasattr(select, "poll"):  # Windows
            return not select.select([self.driver.fileno()], [], [], 0)[0]
        poll = select.poll()
        poll.register(self.driver.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
        return not poll.poll(0)

    def close(self) -> None:
        """Close it; closing twice is fine."""
        self.driver.close()

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            what = store_error(self._pool.place, error, self._pool.away_for)
            if isinstance(what, StoreUnavailable) and not isinstance(error, errors.QueryCanceled):
                self.close()  # lost, though the driver may learn that with its next word only
                self._pool.lose()
            raise what from error


class Pool:
    """Lends connections of one DSN. Threads may share it.

    Args:
        dsn: A URL or `key=value` words; with several hosts it should say `target_session_attrs=read-write`.
        size: Connections at most.
        wait_s: How long a caller waits for one of them.
        answer_s: How long an answer may take before the server counts as away.

    Attributes:
        place: Host, port and database, for messages: never user or password.
        wait_s: As given.
        hook: Called with every connection that is lent; for tests.
    """

    def __init__(self, dsn: str, *, size: int = 4, wait_s: float = 5.0, answer_s: float = _ANSWER_SECONDS) -> None:
        try:
            parts = conninfo_to_dict(dsn)
        except psycopg.ProgrammingError as error:
            raise ContractError("dsn: not a connection string of PostgreSQL") from error
        if size < 1:
            raise ContractError(f"size must be >= 1, got {size}")
        place = f"{parts.get('host') or 'localhost'}/{parts.get('dbname') or ''}"
        self.place = f"postgresql {place.rpartition('@')[2]}"  # a password with @ or / unescaped: part of it is host
        self.hook: Callable[[Connection], None] | None = None
        self._dsn = dsn
        self.wait_s = wait_s
        self._answer = answer_s
        self._free = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._closed = False
        self._away_since = 0.0
        self._probed = 0.0
        self._why = ""  # why the last attempt failed

    @property
    def away_for(self) -> float:
        """Seconds since the server stopped answering; 0 while it answers."""
        since = self._away_since
        return time.monotonic() - since if since else 0.0

    @contextmanager
    def lent(self, *, fresh: bool = False, answer_s: float | None = None) -> Iterator[Connection]:
        """A connection in autocommit, outside of any transaction.

        Args:
            fresh: One that has not been used before.
            answer_s: How long an answer may take; None is the pool's.

        Raises:
            StoreUnavailable: The server is away, or all connections are in use for too long.
            Others: See `Connection`.
        """
        if self._closed:
            raise StoreUnavailable(f"{self.place}: closed")
        wait_s = remaining(self.wait_s)
        if not self._free.acquire(timeout=wait_s):
            raise StoreUnavailable(f"{self.place}: every connection is in use for more than {round(wait_s, 2):g} s")
        try:
            connection = self._take_connection(fresh=fresh)
            connection.driver.answer_s = self._patience(answer_s)
            try:
                if self.hook is not None:
                    self.hook(connection)
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._free.release()

    def ask(self, answer_s: float = 1.0) -> None:
        """Whether the server answers at all; raises as `lent` when it does not."""
        with self.lent(answer_s=answer_s) as connection:
            connection.execute("SELECT 1")

    def close(self) -> None:
        """Close what is idle; what is lent is closed when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _patience(self, answer_s: float | None) -> float:
        at_most = self._answer if answer_s is None else answer_s
        return max(min(at_most, _LEAST_SECONDS), remaining(at_most))

    def _take_connection(self, *, fresh: bool) -> Connection:
        with self._lock:
            while self._idle and not fresh:
                connection = self._idle.pop()
                if connection.is_quiet:
                    return connection
                connection.close()  # of a server that was restarted, or ended by its administrator
            if self._away_since:
                now = time.monotonic()
                if now - self._probed < _PROBE_SECONDS:
                    away = now - self._away_since
                    why = self._why and f": {self._why}"
                    raise StoreUnavailable(f"{self.place}: no connection for {away:.1f} s{why}", seconds=away)
                self._probed = now
        try:
            made = _Driver.connect(self._dsn, autocommit=True, prepare_threshold=None, connect_timeout=_CONNECT_SECONDS)
        except psycopg.Error as error:
            self.lose()
            self._why = cause_of(error)
            self._probed = time.monotonic()  # a server that stands still takes its time to say nothing
            raise store_error(self.place, error, self.away_for) from error
        self._why = ""
        self._away_since = self._probed = 0.0  # who loses a connection after this one may try again at once
        return Connection(made, self)

    def lose(self) -> None:
        """The server went away: every idle connection is dead too."""
        with self._lock:
            self._away_since = self._away_since or time.monotonic()
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if connection.is_idle and not self._closed:
                self._idle.append(connection)
                return
        connection.close()
