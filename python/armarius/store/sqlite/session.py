"""An index file while it is open: found or made, checked, guarded against being swapped, sealed at the end."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from armarius.errors import ScopeViolation, StoreBusy, StoreCorrupt, StoreError
from armarius.io import is_regular
from armarius.store.sqlite.connection import (
    Connections,
    all_rows,
    translated,
)
from armarius.store.sqlite.forking import HERE_ONLY
from armarius.store.sqlite.fulltext import set_weights
from armarius.store.sqlite.integrity import problems
from armarius.store.sqlite.location import Place
from armarius.store.sqlite.schema import check_header, is_outdated, keep_meta, meta, migrate

__all__ = ["Session"]

_TRIES = 20


class Session:
    """The transactions of one open index."""

    def __init__(self, place: Place, project_id: str, connections: Connections) -> None:
        self.project_id = project_id
        self.path = place.index
        self.below = place.below
        self._place = place
        self._connections = connections
        self._identity = place.identity()
        self._sealed = is_regular(place.seal, below=place.below)
        self._closed = False
        self.damaged = False  # a page or a row could not be read; the file must not be sealed

    @classmethod
    def open(cls, place: Place, *, project_id: str, rebuild: bool) -> "Session":
        """See `SqliteStore.open`."""
        alone = _entered(place)
        try:
            place.check(alone=alone)
            if rebuild or not place.is_ours() or place.is_stub() or (alone and place.is_forged()):
                place.discard()
            if place.exists() and is_outdated(place.index, below=place.below):
                if not alone:
                    raise StoreBusy(f"{place.index}: an earlier armarius has it open, and this one must make it again")
                place.discard()
            created = not place.exists()
            if created:
                place.create()
            intact = None if created or not alone else place.is_sealed()
            if intact is False:
                raise StoreCorrupt(f"{place.index}: changed since it was closed")
            with translated(place.index):
                connections = Connections(place.index)
                try:
                    if not place.is_ours():
                        raise StoreCorrupt(f"{place.index}: replaced while it was being opened")
                    check_header(connections.writer, place.index)
                    if intact is not True:
                        place.break_seal()
                        migrate(connections.writer, place.index, project_id)
                    session = cls(place, project_id, connections)
                    session._start(created=created, check=alone and not created and intact is None)
                    place.mark_log()
                except BaseException as error:
                    connections.close()
                    if place.own and isinstance(error, ScopeViolation):  # no other project has that folder: damage
                        raise StoreCorrupt(error.message) from error
                    raise
            place.lock.settle()
        except BaseException:
            place.lock.leave()
            raise
        return session

    def _start(self, *, created: bool, check: bool) -> None:
        if created:
            with self._connections.writing() as connection:
                set_weights(connection)
                keep_meta(connection, "generation", "0")
        elif check and (wrong := self.verify()):
            raise StoreCorrupt(f"{self.path}: {wrong[0]}")
        with self.reading() as connection:
            owner = meta(connection, "project_id")
        if owner != self.project_id:
            migrate(self._connections.writer, self.path, self.project_id)  # raises ScopeViolation

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """A connection that sees one snapshot."""
        self._check()
        with self._noticing(), self._connections.reading() as connection:
            yield connection

    def first_row(self, sql: str) -> Any:  # noqa: ANN401 - a row of any shape
        """The first row of one statement, or None."""
        self._check()
        with self._noticing():
            return self._connections.first_row(sql)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """The writer inside a transaction, all or nothing."""
        self._check()
        if self._sealed:
            self._place.break_seal()
            self._sealed = False
        with self._noticing(), self._connections.writing() as connection:
            yield connection

    @contextmanager
    def _noticing(self) -> Iterator[None]:
        try:
            yield
        except StoreCorrupt:
            self.damaged = True
            raise

    def _check(self) -> None:
        if self._connections.inherited:
            raise StoreError(f"{self.path}: {HERE_ONLY}")
        if self._closed:
            raise StoreError(f"{self.path}: the store is closed")
        if self._place.identity() != self._identity:
            raise StoreCorrupt(f"{self.path}: deleted or replaced while open")

    def verify(self) -> list[str]:
        """See `Store.verify`."""
        self._check()
        # Not a pooled reader: FTS5 checks against the segment list that a connection saw first and cries damage.
        with self._connections.apart() as connection:
            connection.execute("BEGIN")
            return problems(connection)

    def has_long_log(self) -> bool:
        """Whether there is a log to fold into the index when nobody waits."""
        return self._connections.log.is_long()

    def shorten_log(self) -> None:
        """Fold it; nothing, where it is short."""
        self._check()
        with self._noticing():
            self._connections.shorten_log()

    def size(self) -> int:
        """Bytes on disk."""
        return self._place.size()

    def close(self) -> None:
        """Close; the last process to do so leaves a seal, unless nothing was written since the one that is there."""
        if self._closed or self._connections.inherited:
            return
        self._closed = True
        try:
            unchanged = self._sealed or self.damaged or self._place.identity() != self._identity
            alone = not unchanged and self._place.lock.alone()
            if alone:
                with translated(self.path):
                    all_rows(self._connections.writer, "PRAGMA wal_checkpoint(TRUNCATE)")
            self._connections.close()
            if alone:
                self._place.write_seal()
        except (StoreError, OSError):  # without a seal the next open checks the index instead
            self._connections.close()
        finally:
            self._place.lock.leave()


def _entered(place: Place) -> bool:
    """Enter; whether nobody else has the index open.

    Two that come at the same instant can each find the other at the lock, and take it for somebody who has the index
    open. But whoever has it open has made it: where there is none they go back and come again, each after its own time.
    """
    alone = place.enter()
    for _ in range(_TRIES):
        if alone or (place.exists() and not place.is_stub()):
            break
        place.lock.leave()
        time.sleep(0.001 + os.urandom(1)[0] / 10_000)  # `random` would be five modules more of every search
        alone = place.enter()
    return alone
