"""The embedded store: one SQLite file per project, in the user's cache directory."""

import itertools
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

import apsw

from armarius.arguments import Kind
from armarius.documents.document import Document
from armarius.errors import StoreConflict, StoreCorrupt
from armarius.store.protocol import (
    Change,
    Changed,
    DerivedRow,
    DocumentRow,
    FileRow,
    Folded,
    Passage,
    Put,
    Restamp,
    StoreState,
    TextHit,
    TextQuery,
    fold,
)
from armarius.store.sqlite import schema
from armarius.store.sqlite.connection import all_rows, first_row, keep_meta, meta
from armarius.store.sqlite.location import IndexPlace, SqliteSession
from armarius.store.sqlite.schema import (
    DOCUMENT,
    PARAGRAPH_BITS,
    ROLES,
    entity_refs,
    insert_documents,
    keep_full_text,
    read_document_rows,
    remove_document,
    unchanged_rows,
    unpack_front_matter,
    unpack_text,
    unread_documents,
)
from armarius.types import PassageKey

if TYPE_CHECKING:
    from armarius.store.sqlite.vectors import SqliteVectors


_PASSAGE = (
    'SELECT d.kind, d.title, d.text, p.start, p."end", p.role, p.chapter, h.path FROM documents d JOIN paragraphs p '
    "ON p.id = (d.id << ?) + ? JOIN headings h ON h.id = p.heading WHERE d.path = ?"
)


# So many removed paths are remembered; who looks after a longer time reads everything again.
_REMEMBERED = 10_000


def generation(connection: apsw.Connection) -> int:
    """See `Store.generation`."""
    row = first_row(connection, "SELECT value FROM meta WHERE key = 'generation'")
    return int(row[0] if row else 0)


def _sweep(connection: apsw.Connection) -> None:
    """Drop the older half of what is remembered when it is too much."""
    if first_row(connection, "SELECT count(*) FROM gone")[0] > _REMEMBERED:
        query = "SELECT version FROM gone ORDER BY version DESC LIMIT 1 OFFSET ?"
        until = first_row(connection, query, (_REMEMBERED // 2,))[0]
        connection.execute("DELETE FROM gone WHERE version <= ?", (until,))
        keep_meta(connection, "forgotten", str(until))


def write(connection: apsw.Connection, folded: Folded, version: int) -> None:
    """Write what changes come to; rows remember the generation `version`."""
    removed = _ids(connection, sorted(folded.removed)) if folded.removed else {}
    for number in removed.values():
        remove_document(connection, number)
    if removed:
        connection.executemany("INSERT OR REPLACE INTO gone VALUES (?, ?)", [(path, version) for path in removed])
        _sweep(connection)
    numbered: list[tuple[int, Document | None]] = [(number, None) for number in removed.values()]
    if folded.put:
        numbered += _put_documents(connection, folded.put, version)
    if numbered and _has_vectors(connection):  # no vector outlives its text
        from armarius.store.sqlite.vectors_rows import carry_document

        for number, document in numbered:
            carry_document(connection, number, document)
    restamp = "UPDATE documents SET stamp = ? WHERE path = ? AND ? IN ('', content_hash)"
    connection.executemany(restamp, [(row.stamp, row.path, row.content_hash) for row in folded.stamps.values()])
    notes = [(key, value, version) for key, value in folded.notes.items()]
    connection.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", notes)
    if folded.entities is not None:
        _replace_entities(connection, folded.entities)
    connection.executemany(
        "INSERT OR REPLACE INTO learnt SELECT id, ?, ?, ? FROM documents WHERE path = ?",
        [(row.kind, row.about, row.data, row.path) for row in folded.learnt.values()],
    )


def _put_documents(connection: apsw.Connection, of_path: Mapping[str, Put], version: int) -> list[tuple[int, Document]]:
    """Documents in the place of those of their paths, with their ids."""
    ids = _ids(connection, list(of_path))
    free = itertools.count(first_row(connection, "SELECT coalesce(max(id), 0) FROM documents")[0] + 1)
    put = [(ids.get(path) or next(free), change.document, change.stamp) for path, change in of_path.items()]
    numbered = [(number, document) for number, document, _ in put]
    stands = unchanged_rows(connection, numbered)
    for number in ids.values():
        remove_document(connection, number, stands.get(number, ()))
    insert_documents(connection, put, version)
    keep_full_text(connection, numbered, stands)
    connection.executemany("DELETE FROM gone WHERE path = ?", [(path,) for path in of_path])
    return numbered


def _ids(connection: apsw.Connection, paths: Sequence[str]) -> dict[str, int]:
    """The ids of documents; unknown paths are left out."""
    query = "SELECT path, id FROM documents WHERE path IN (SELECT value FROM json_each(?))"
    return dict(all_rows(connection, query, (json.dumps(paths),)))


def _replace_entities(connection: apsw.Connection, kept: set[str]) -> None:
    """Replace all; entities that stay keep their ref, by which their vectors are kept."""
    if _has_vectors(connection):
        from armarius.store.sqlite.vectors_rows import forget_entities

        forget_entities(connection, kept)
    gone = [(name,) for name in entity_refs(connection) if name not in kept]
    connection.executemany("DELETE FROM entities WHERE id = ?", gone)
    connection.executemany("INSERT OR IGNORE INTO entities (id) VALUES (?)", [(name,) for name in sorted(kept)])


def _has_vectors(connection: apsw.Connection) -> bool:
    return first_row(connection, "SELECT 1 FROM vector_sets") is not None


class SqliteStore:
    """`Store` over SQLite, and `Lagging`. Open with `SqliteStore.open`, or with `open_repaired`."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session
        self._reading = session.reading
        self._writing = session.writing
        self._vectors: SqliteVectors | None = None
        self._lock = threading.Lock()

    @classmethod
    def open(cls, place: IndexPlace, *, project_id: str, rebuild: bool = False) -> Self:
        """Open the index at `place`: joined if a live process has it open, believed if its seal fits, else built again.

        An index that is built again is empty, but for the vectors of the old one, which a text of the same hash takes.

        Args:
            place: Where; see `place_for`.
            project_id: The project the index belongs to.
            rebuild: Build it again in any case.

        Raises:
            StoreError: The database of another program lies in its place.
            StoreCorrupt: Damaged, while another process has it open: open again with `rebuild=True`.
            SchemaTooNew: Written by a newer armarius.
            ScopeViolation: The index of another project, in a folder that the user chose.
            StoreBusy: Held by another process.
            StoreFull: The folder cannot be written.

        Cost: reads the whole file once, to compare it with its seal (10 MB: 10 ms).
        """
        return cls(SqliteSession.open(place, project_id=project_id, rebuild=rebuild))

    @classmethod
    def open_repaired(cls, place: IndexPlace, *, project_id: str) -> Self:
        """`open`, and an empty index in place of a damaged one."""
        try:
            return cls.open(place, project_id=project_id)
        except StoreCorrupt:
            return cls.open(place, project_id=project_id, rebuild=True)

    @property
    def project_id(self) -> str:
        """See `Store`."""
        return self._session.project_id

    @property
    def location(self) -> str:
        """The index file. Never open it with another SQLite library in this process: that drops its locks."""
        return str(self._session.path)

    @property
    def vectors(self) -> "SqliteVectors":
        """See `Store`; numpy and the approximate index are loaded here, not before."""
        from armarius.store.sqlite.vectors import SqliteVectors

        with self._lock:
            if self._vectors is None:
                self._vectors = SqliteVectors(self._session)
            return self._vectors

    def close(self) -> None:
        """See `Store`; the last process to close leaves a seal."""
        self._session.close()

    def reopen(self) -> Self:
        """See `Store`."""
        self.close()
        if self._session.damaged:
            return self.open(self._session.place, project_id=self.project_id, rebuild=True)
        return self.open_repaired(self._session.place, project_id=self.project_id)

    def state(self) -> StoreState:
        """See `Store`."""
        with self._reading() as connection:
            row = first_row(
                connection,
                "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM paragraphs), "
                "(SELECT count(*) FROM entities)",
            )
            at = generation(connection)
        documents, paragraphs, entities = row
        return StoreState(documents, paragraphs, entities, self._session.place.size(), at)

    def serialize(self) -> bytes:
        """The whole index as the bytes of a closed file. Cost: a copy of it in memory."""
        with self._reading() as connection:
            return connection.serialize("main")

    def generation(self) -> int:
        """See `Store`. Cost: one statement; every request asks it."""
        with self._reading() as connection:
            return generation(connection)

    def changed(self, since: int) -> Changed:
        """See `Store`."""
        with self._reading() as connection:
            now = generation(connection)
            whole = not int(meta(connection, "forgotten") or 0) <= since <= now
            after = (0 if whole else since,)
            rows = all_rows(connection, f"{DOCUMENT} WHERE d.version > ? ORDER BY d.path", after)
            gone = [] if whole else all_rows(connection, "SELECT path FROM gone WHERE version > ? ORDER BY path", after)
            notes = dict(all_rows(connection, "SELECT key, value FROM notes WHERE version > ? ORDER BY key", after))
            documents = tuple(unread_documents(connection, rows))
        return Changed(now, documents, tuple(path for (path,) in gone), notes, whole)

    def apply(self, changes: Sequence[Change], *, expect: int | None = None) -> int:
        """See `Store`."""
        with self._writing() as connection:
            now = generation(connection)
            if expect is not None and now != expect:
                raise StoreConflict(f"the index is at generation {now}, the changes were made from {expect}")
            if not all(isinstance(change, Restamp) for change in changes):  # else what is read is what it was
                now += 1
                keep_meta(connection, "generation", str(now))
            write(connection, fold(changes), now)
        return now

    def note(self, key: str) -> str | None:
        """See `Store`."""
        with self._reading() as connection:
            row = first_row(connection, "SELECT value FROM notes WHERE key = ?", (key,))
        return None if row is None else str(row[0])

    def learnt(self, kind: str, paths: Sequence[str] | None = None) -> dict[str, DerivedRow]:
        """See `Store`."""
        select = "SELECT d.path, l.about, l.data FROM documents d JOIN learnt l ON l.document = d.id AND l.kind = ?"
        with self._reading() as connection:
            if paths is None:
                rows = all_rows(connection, f"{select} ORDER BY d.path", (kind,))
            else:
                hits = (first_row(connection, f"{select} WHERE d.path = ?", (kind, path)) for path in sorted({*paths}))
                rows = [row for row in hits if row is not None]
        return {path: DerivedRow(path, kind, about, data) for path, about, data in rows}

    def files(self) -> dict[str, FileRow]:
        """See `Store`."""
        with self._reading() as connection:
            rows = all_rows(connection, "SELECT path, stamp, content_hash FROM documents ORDER BY path")
        return {path: FileRow(stamp, content_hash) for path, stamp, content_hash in rows}

    def documents(self, *, kinds: Sequence[Kind] = (), chapter: int | None = None) -> list[DocumentRow]:
        """See `Store`."""
        with self._reading() as connection:
            rows = all_rows(
                connection,
                "SELECT path, kind, title, chapter, length, paragraphs, encoding, content_hash, front_matter "
                "FROM documents WHERE (?1 = '' OR instr(?1, ' ' || kind || ' ')) AND (?2 IS NULL OR chapter = ?2) "
                "ORDER BY path",
                (" " + " ".join(kinds) + " " if kinds else "", chapter),
            )
        return [DocumentRow(*(*row[:-1], unpack_front_matter(row[-1]))) for row in rows]

    def document(self, path: str) -> Document | None:
        """See `Store`."""
        return next(iter(self.documents_of([path])), None)

    def documents_of(self, paths: Sequence[str]) -> list[Document]:
        """See `Store`."""
        with self._reading() as connection:
            rows = (first_row(connection, f"{DOCUMENT} WHERE d.path = ?", (path,)) for path in paths)
            return [read_document_rows(connection, row) for row in rows if row is not None]

    def passages(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """See `Store`."""
        texts: dict[str, str] = {}
        results = []
        with self._reading() as connection:
            for path, index in keys:
                row = first_row(connection, _PASSAGE, (PARAGRAPH_BITS, index, path))
                if row is None or not 0 <= index < 1 << PARAGRAPH_BITS:
                    continue
                kind, title, packed, start, end, role, chapter, titles = row
                text = texts[path] = texts.get(path) or unpack_text(path, packed)
                body, heading = text[start:end], tuple(json.loads(titles))
                results.append(Passage(path, index, kind, title, chapter, heading, ROLES[role], start, end, body))
        return results

    def search(self, query: TextQuery) -> list[TextHit]:
        """See `Store`. The full text that is still due is written first."""
        while True:
            with self._reading() as connection:
                if not schema.is_due(connection):
                    return schema.search(connection, query)
            with self._writing() as connection:
                schema.fill(connection)

    def lags(self) -> bool:
        """See `Lagging`: full text, or a long log."""
        with self._reading() as connection:
            is_due = schema.is_due(connection)
        return is_due or self._session.has_long_log()

    def fill(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """See `Lagging`."""
        is_due = True
        while is_due and go_on():
            with self._writing() as connection:
                schema.fill(connection)
                is_due = schema.is_due(connection)
        self._session.shorten_log()

    def verify(self) -> list[str]:
        """See `Store`."""
        return self._session.verify()
