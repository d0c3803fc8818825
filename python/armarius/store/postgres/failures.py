"""Errors of PostgreSQL as errors of a store. No message contains a DSN, a password or a user's text."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from armarius.errors import StoreBusy, StoreError, StoreFull, StoreUnavailable

__all__ = ["AGAIN", "cause_of", "is_lost", "translated"]

AGAIN: tuple[type[psycopg.Error], ...] = (errors.SerializationFailure, errors.DeadlockDetected)
"""A transaction that may simply be made again: 40001 and 40P01."""

_BUSY: tuple[type[psycopg.Error], ...] = (errors.LockNotAvailable, *AGAIN)
_FULL = (errors.DiskFull, errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege)
_AWAY = (
    psycopg.OperationalError,  # also of what the server says when it ends, starts, or takes too long
    psycopg.InterfaceError,
    errors.IdleInTransactionSessionTimeout,
)
_NO_TABLES = (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName)
_CAUSES = (
    (r"Connection refused|on socket \".*\" failed: No such file", "nothing listens at this host and port"),
    (r"failed to resolve host|could not translate host name", "there is no such host"),
    (r"password authentication failed|no password supplied", "the password is wrong, or there is no such user"),
    (r"role \".*\" does not exist", "there is no such user"),
    (r"database \".*\" does not exist", "there is no such database"),
    (r"too many clients|remaining connection slots|too many connections for", "all connections are taken"),
)
"""Patterns of connection errors of libpq or the server, and messages without names of hosts and users."""


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection was lost, so that the outcome of the transaction is unknown."""
    return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)) and not isinstance(
        error, (*_BUSY, errors.DiskFull, errors.QueryCanceled, errors.TooManyConnections)
    )


@contextmanager
def translated(place: str, away_for: Callable[[], float] = lambda: 0.0) -> Iterator[None]:
    """Translate errors of the driver to errors of the store.

    Args:
        place: The server, without a password.
        away_for: Seconds since the server became unreachable.

    Raises:
        StoreBusy, StoreFull, StoreUnavailable, StoreError: See `armarius.store.protocol`.
    """
    try:
        yield
    except psycopg.Error as error:
        raise _named(place, error, away_for()) from error


def _named(place: str, error: psycopg.Error, seconds: float) -> StoreError:
    said = _said(error)
    if isinstance(error, _BUSY):
        return StoreBusy(f"{place}: another writer holds the project: {said}")
    if isinstance(error, _FULL):
        return StoreFull(f"{place}: the server cannot write: {said}")
    if isinstance(error, _NO_TABLES):
        return StoreError(f"{place}: the tables of armarius are not there or older; run: armarius server migrate")
    if isinstance(error, _AWAY):
        since = f" for {seconds:.1f} s" if seconds > 1 else ""
        if why := cause_of(error):
            return StoreUnavailable(f"{place}: no connection{since}: {why}", seconds=seconds)
        return StoreUnavailable(f"{place}: the server does not answer{since}: {said}", seconds=seconds)
    return StoreError(f"{place}: {type(error).__name__}: {said}")


def cause_of(error: psycopg.Error) -> str:
    """Why there is no connection; with several hosts, each cause once. "" when it is none of the known ones."""
    if error.diag.message_primary:  # said over a connection
        return ""
    said = str(error)
    return "; ".join(why for pattern, why in _CAUSES if re.search(pattern, said))


def _said(error: psycopg.Error) -> str:
    """What the server said; what the driver says of a connection names hosts and users, and is left out."""
    said = error.diag.message_primary
    if said:
        return said
    return {
        psycopg.OperationalError: "no connection",
        psycopg.InterfaceError: "the connection is closed",
    }.get(type(error), type(error).__name__)
