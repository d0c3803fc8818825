"""The embedded store: one SQLite file per project, in the user's cache directory."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

from armarius.arguments import Kind
from armarius.documents.document import Document
from armarius.errors import StoreConflict, StoreCorrupt
from armarius.store.rows import (
    Change,
    Changed,
    Collection,
    DerivedRow,
    DocumentRow,
    EntityRow,
    FileRow,
    Passage,
    PassageKey,
    Record,
    RelationRow,
    Restamp,
    StoreState,
    TextHit,
    TextQuery,
)
from armarius.store.sqlite import schema, writing
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.location import IndexPlace
from armarius.store.sqlite.packing import DOCUMENT, read_document_rows, unpack_front_matter
from armarius.store.sqlite.session import SqliteSession

if TYPE_CHECKING:
    from armarius.store.sqlite.vectors import SqliteVectors


class SqliteStore:
    """`Store` over SQLite, and `Lagging`. Open with `SqliteStore.open`, or with `open_repaired`."""

    def __init__(self, session: SqliteSession, place: IndexPlace) -> None:
        self._session = session
        self._place = place
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
        return cls(SqliteSession.open(place, project_id=project_id, rebuild=rebuild), place)

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
                self._vectors = SqliteVectors(self._session, self._session.path.parent, below=self._session.below)
            return self._vectors

    def close(self) -> None:
        """See `Store`; the last process to close leaves a seal."""
        self._session.close()

    def reopen(self) -> Self:
        """See `Store`."""
        damaged = self._session.damaged
        self.close()
        if damaged:
            return self.open(self._place, project_id=self.project_id, rebuild=True)
        return self.open_repaired(self._place, project_id=self.project_id)

    def state(self) -> StoreState:
        """See `Store`."""
        with self._reading() as connection:
            row = first_row(
                connection,
                "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM paragraphs), "
                "(SELECT count(*) FROM entities)",
            )
            generation = writing.generation(connection)
        documents, paragraphs, entities = row
        return StoreState(documents, paragraphs, entities, self._session.size(), generation)

    def generation(self) -> int:
        """See `Store`. Cost: one statement; every request asks it."""
        row = self._session.first_row(writing.GENERATION)
        return 0 if row is None else int(row[0])

    def changed(self, since: int) -> Changed:
        """See `Store`."""
        with self._reading() as connection:
            return writing.changed(connection, since)

    def apply(self, changes: Sequence[Change], *, expect: int | None = None) -> int:
        """See `Store`."""
        if not changes:
            now = self.generation()
            if expect is not None and expect != now:
                raise StoreConflict(f"the index is at generation {now}, not {expect}")
            return now
        with self._writing() as connection:
            same = all(isinstance(change, Restamp) for change in changes)  # what is read is what it was
            version = writing.claim_generation(connection, expect, same=same)
            writing.write(connection, changes, version)
        return version

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
                found = (first_row(connection, f"{select} WHERE d.path = ?", (kind, one)) for one in sorted({*paths}))
                rows = [row for row in found if row is not None]
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
        with self._reading() as connection:
            return writing.read_passages(connection, keys)

    def search(self, query: TextQuery) -> list[TextHit]:
        """See `Store`. The full text that is still due is written first."""
        while True:
            with self._reading() as connection:
                if not schema.is_due(connection):
                    return schema.search(connection, query)
            self._fill(lambda: True)

    def lags(self) -> bool:
        """See `Lagging`: full text, or a long log."""
        return self._is_due() or self._session.has_long_log()

    def fill(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """See `Lagging`."""
        self._fill(go_on)
        self._session.shorten_log()

    def _is_due(self) -> bool:
        with self._reading() as connection:
            return schema.is_due(connection)

    def _fill(self, go_on: Callable[[], bool]) -> None:
        while go_on() and self._is_due():
            with self._writing() as connection:
                schema.fill(connection)

    def entities(self, ids: Sequence[str] | None = None) -> list[EntityRow]:
        """See `Store`."""
        with self._reading() as connection:
            return writing.entities(connection, ids)

    def relations(self, *, touching: Sequence[str] | None = None) -> list[RelationRow]:
        """See `Store`."""
        with self._reading() as connection:
            return writing.relations(connection, touching)

    def records(self, collection: Collection) -> list[Record]:
        """See `Store`."""
        with self._reading() as connection:
            rows = all_rows(
                connection, "SELECT id, payload FROM records WHERE collection = ? ORDER BY id", (collection,)
            )
            return [Record(*row) for row in rows]

    def verify(self) -> list[str]:
        """See `Store`."""
        return self._session.verify()
