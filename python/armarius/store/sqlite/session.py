"""An index file while it is open: joined, believed or built again; verified, sealed at the end."""

import atexit
import os
import time
import weakref
from contextlib import AbstractContextManager, suppress
from typing import Final

import apsw

from armarius.errors import StoreCorrupt, StoreError
from armarius.store.sqlite.connection import Connections, all_rows, connect, first_row, translated
from armarius.store.sqlite.location import IndexPlace
from armarius.store.sqlite.schema import DOCUMENT, check_header, create, full_text_rows, read_document_rows


def problems(connection: apsw.Connection) -> list[str]:
    """Everything that is wrong, as sentences.

    `integrity_check` for pages, b-trees and FTS5; then documents that can be read, equal numbers of paragraphs and
    full-text rows, the whole vocabulary against the text, and vectors with their checksums.

    Cost: reads the whole file; about 0.2 s for a novel of a million characters.
    """
    try:
        return list(_problems(connection))
    except (apsw.Error, StoreCorrupt, KeyError, IndexError, ValueError, TypeError) as error:
        return [f"cannot be read: {type(error).__name__}: {error}"]


def _problems(connection: apsw.Connection) -> list[str]:
    faults = [f"integrity_check: {row[0]}" for row in connection.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
    if faults:
        return faults
    paragraphs = searchable = 0
    due = {number for (number,) in all_rows(connection, "SELECT document FROM full_text_due")}
    vocabulary: dict[str, int] = {}
    sizes = {row[0]: row[1:] for row in all_rows(connection, "SELECT id, length, paragraphs FROM documents")}
    for row in all_rows(connection, f"{DOCUMENT} ORDER BY d.id"):
        document = read_document_rows(connection, row)
        if (len(document.text), len(document.paragraphs)) != sizes[row[0]]:
            faults.append(f"{row[1]}: length or number of paragraphs is wrong")
        paragraphs += len(document.paragraphs)
        if row[0] in due:
            due.discard(row[0])
            continue
        searchable += len(document.paragraphs)
        for _, *columns in full_text_rows([(row[0], document)], {}):
            for token in {token for column in columns for token in column.split(" ") if token}:
                vocabulary[token] = vocabulary.get(token, 0) + 1
    for table, expected, count in (
        ("paragraphs", paragraphs, "SELECT count(*) FROM paragraphs"),
        ("full text", searchable, "SELECT count(*) FROM full_text_docsize"),
    ):
        actual = first_row(connection, count)[0]
        if actual != expected:
            faults.append(f"{table}: {actual} rows, {expected} expected")
    faults += [f"full text is due of document {number}, which is not there" for number in sorted(due)]
    orphans = all_rows(connection, "SELECT kind FROM learnt WHERE document NOT IN (SELECT id FROM documents)")
    faults += [f"{kind} learnt from a document that is not there" for (kind,) in orphans]
    if first_row(connection, "SELECT 1 FROM vector_sets") is not None:
        from armarius.store.sqlite.vectors_rows import vector_problems

        faults += vector_problems(connection)
    if dict(all_rows(connection, "SELECT term, doc FROM full_text_terms")) != vocabulary:
        faults.append("full text: terms differ from the documents")
    return faults


_TRIES: Final = 20


class SqliteSession:
    """The transactions of one open index."""

    def __init__(self, place: IndexPlace, project_id: str, connections: Connections) -> None:
        self.project_id = project_id
        self.path = place.index
        self.below = place.below
        self._place = place
        self._connections = connections
        self._identity = place.identity()
        self._sealed = place.is_sealed()
        self._closed = False
        _open.add(self)

    @classmethod
    def open(cls, place: IndexPlace, *, project_id: str, rebuild: bool) -> "SqliteSession":
        """See `SqliteStore.open`."""
        alone = _entered(place)
        try:
            state = place.state() if alone else "closed"
            if state == "foreign" and not place.is_cache:
                what = "the database of another program, so it is neither opened nor deleted; move it elsewhere"
                raise StoreError(f"{place.index}: {what}")
            if rebuild or state != "closed":
                _build(place, project_id, alone=alone, keeps_vectors=state != "foreign")
            elif alone:
                place.clear_side_files()
            with translated(place.index):
                connections = Connections(place.index)
                try:
                    check_header(connections.writer, place.index, project_id)
                    session = cls(place, project_id, connections)
                except BaseException:
                    connections.close()
                    raise
            if alone:
                place.lock.settle()
        except BaseException:
            place.lock.leave()
            raise
        return session

    def reading(self) -> AbstractContextManager[apsw.Connection]:
        """A connection that sees one snapshot."""
        self._check()
        return self._connections.reading()

    def writing(self) -> AbstractContextManager[apsw.Connection]:
        """The writer inside a transaction, all or nothing."""
        self._check()
        if self._sealed:
            self._place.break_seal()
            self._sealed = False
        return self._connections.writing()

    @property
    def damaged(self) -> bool:
        """Whether a page or a row could not be read."""
        return self._connections.damaged

    def _check(self) -> None:
        if self._connections.inherited:
            raise StoreError(f"{self.path}: opened by another process, which was forked since; open it again")
        if self._closed:
            raise StoreError(f"{self.path}: the store is closed")
        if self._place.identity() != self._identity:
            raise StoreCorrupt(f"{self.path}: deleted or replaced while open")

    def verify(self) -> list[str]:
        """See `Store.verify`."""
        self._check()
        # Not a pooled reader: FTS5 checks against the segment list that a connection saw first and cries damage.
        with self._connections.reading(apart=True) as connection:
            return problems(connection)

    def has_long_log(self) -> bool:
        """Whether there is a log to fold into the index when nobody waits."""
        return self._connections.has_long_log()

    def shorten_log(self) -> None:
        """Fold it; nothing, where it is short."""
        self._check()
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
            is_ours = not self.damaged and self._place.identity() == self._identity
            seals = is_ours and not self._place.is_sealed() and self._place.lock.alone()
            if seals:
                with translated(self.path):
                    all_rows(self._connections.writer, "PRAGMA wal_checkpoint(TRUNCATE)")
            self._connections.close()
            if seals:
                self._place.write_seal()
        except (StoreError, OSError):  # without a seal the next open builds the index again
            self._connections.close()
        finally:
            self._place.lock.leave()


_open: Final[weakref.WeakSet[SqliteSession]] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Seal the indexes that a program did not close; only a killed process leaves none."""
    for session in list(_open):
        session.close()


def _entered(place: IndexPlace) -> bool:
    """Enter; returns whether no other store has the index open.

    An index that another process has open exists. If it does not, that process is entering or leaving: retry.
    """
    alone = place.enter()
    for _ in range(_TRIES):
        if alone or place.exists():
            break
        place.lock.leave()
        time.sleep(0.001 + os.urandom(1)[0] / 10_000)  # `random` would be five modules more of every search
        alone = place.enter()
    return alone


def _build(place: IndexPlace, project_id: str, *, alone: bool, keeps_vectors: bool) -> None:
    """Replace the index by an empty one, with the vectors of the old one, which take minutes to compute."""
    draft = place.draft()
    try:
        with translated(draft):
            connection = connect(draft)
            try:
                create(connection, project_id)
                if keeps_vectors and place.may_be_read(alone=alone):
                    _save_vectors(place, connection)
                connection.execute("PRAGMA journal_mode = WAL")
            finally:
                connection.close()
        place.replace(draft, alone=alone)
    except BaseException:
        with suppress(StoreError):
            place.discard(draft)
        raise


def _save_vectors(place: IndexPlace, into: apsw.Connection) -> None:
    """What can be read of the old file; an unreadable one has none."""
    with suppress(StoreError), translated(place.index):
        old = connect(place.index)
        try:
            if first_row(old, "SELECT 1 FROM vector_sets") is not None:
                from armarius.store.sqlite.vectors_rows import save_from

                save_from(old, into)
        finally:
            old.close()
