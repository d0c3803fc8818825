"""An index file while it is open: joined, believed or built again; verified, sealed at the end."""

import atexit
import os
import time
import weakref
from contextlib import suppress
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


class SqliteSession(Connections):
    """The connections of one open index, in the place that it lies in."""

    def __init__(self, place: IndexPlace, project_id: str) -> None:
        super().__init__(place.index)
        self.project_id = project_id
        self.place = place
        self._sealed = place.is_sealed()
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
                session = cls(place, project_id)
                try:
                    check_header(session.writer, place.index, project_id)
                except BaseException:
                    super(cls, session).close()
                    raise
            if alone:
                place.lock.settle()
        except BaseException:
            place.lock.leave()
            raise
        return session

    def begin_writing(self) -> None:
        """Break the seal."""
        if self._sealed:
            self.place.break_seal()
            self._sealed = False

    def verify(self) -> list[str]:
        """See `Store.verify`."""
        # Not a pooled reader: FTS5 checks against the segment list that a connection saw first and cries damage.
        with self.reading(apart=True) as connection:
            return problems(connection)

    def close(self) -> None:
        """Close; the last process to do so leaves a seal, unless nothing was written since the one that is there."""
        if self._closed or self.inherited:
            return
        self._closed = True
        try:
            is_ours = not self.damaged and not self.replaced
            seals = is_ours and not self.place.is_sealed() and self.place.lock.alone()
            if seals:
                with translated(self.path):
                    all_rows(self.writer, "PRAGMA wal_checkpoint(TRUNCATE)")
            super().close()
            if seals:
                self.place.write_seal()
        except (StoreError, OSError):  # without a seal the next open builds the index again
            super().close()
        finally:
            self.place.lock.leave()


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
