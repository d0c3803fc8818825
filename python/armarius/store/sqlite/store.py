"""The embedded store: one SQLite file per project, in the user's cache directory."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import apsw

from armarius.documents.classify import Kind
from armarius.documents.document import Document
from armarius.store.protocol import (
    Change,
    Collection,
    DocumentRow,
    EntityRow,
    FileRow,
    MentionCount,
    MentionRow,
    Passage,
    PassageKey,
    Put,
    Record,
    RelationRow,
    Remove,
    Restamp,
    Step,
    StoreState,
    TextHit,
    TextQuery,
)
from armarius.store.sqlite import fulltext, graph
from armarius.store.sqlite import mentions as counts
from armarius.store.sqlite.connection import all_rows, first_row, translated
from armarius.store.sqlite.integrity import keep_hash
from armarius.store.sqlite.location import Place
from armarius.store.sqlite.packing import (
    insert_document,
    pack_mentions,
    read_document_rows,
    remove_document,
    unpack_front_matter,
)
from armarius.store.sqlite.passages import read_passages
from armarius.store.sqlite.session import Session

if TYPE_CHECKING:
    from armarius.store.sqlite.vectors_storage import VectorStorage

__all__ = ["SqliteStore"]

_DOCUMENT = (
    "SELECT id, path, kind, title, chapter, encoding, content_hash, front_matter, text FROM documents WHERE path = ?"
)


class SqliteStore:
    """`Store` over SQLite. Open with `SqliteStore.open`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._reading = session.reading
        self._writing = session.writing
        self._vectors: VectorStorage | None = None
        self._lock = threading.Lock()

    @classmethod
    def open(cls, place: Place, *, project_id: str, rebuild: bool = False) -> "SqliteStore":
        """Open the index at `place`, checked; an absent one, or one that is not ours, is made anew and empty.

        Args:
            place: Where; see `place_for`.
            project_id: The project the index belongs to.
            rebuild: Delete what is there first.

        Raises:
            StoreCorrupt: Damaged: open again with `rebuild=True`.
            SchemaTooNew: Written by a newer armarius.
            ScopeViolation: The index of another project.
            StoreBusy: Held by another process.
            StoreFull: The folder cannot be written.

        Cost: reads the whole file once, to compare it with its seal (10 MB: 10 ms) or to check it after a crash.
        """
        return cls(Session.open(place, project_id=project_id, rebuild=rebuild))

    @property
    def project_id(self) -> str:
        """See `Store`."""
        return self._session.project_id

    @property
    def path(self) -> Path:
        """The index file. Never open it with another SQLite library in this process: that drops its locks."""
        return self._session.path

    @property
    def damaged(self) -> bool:
        """Something in the file could not be read: open it again with `rebuild=True`."""
        return self._session.damaged

    @property
    def vectors(self) -> "VectorStorage":
        """The vectors of this index."""
        from armarius.store.sqlite.vectors_storage import VectorStorage  # numpy, for those who have vectors

        with self._lock:
            if self._vectors is None:
                self._vectors = VectorStorage(self._session, self._session.path.parent, below=self._session.below)
            return self._vectors

    def close(self) -> None:
        """See `Store`; the last process to close leaves a seal."""
        self._session.close()

    def state(self) -> StoreState:
        """See `Store`."""
        with self._reading() as connection:
            row = first_row(
                connection,
                "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM paragraphs), "
                "(SELECT coalesce(sum(count), 0) FROM mention_counts), (SELECT count(*) FROM entities), "
                "(SELECT CAST(value AS INTEGER) FROM notes WHERE key = 'generation')",
            )
        documents, paragraphs, mentions, entities, generation = row
        return StoreState(documents, paragraphs, mentions, entities, self._session.size(), generation)

    def note(self, key: str) -> str | None:
        """See `Store`."""
        with self._reading() as connection:
            row = first_row(connection, "SELECT value FROM notes WHERE key = ?", (key,))
        return None if row is None else str(row[0])

    def set_note(self, key: str, value: str) -> None:
        """See `Store`."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, value))

    def apply(self, changes: Sequence[Change]) -> None:
        """See `Store`."""
        from armarius.store.sqlite.vectors_upkeep import carry_document

        if not changes:
            return
        with self._writing() as connection:
            refs = graph.entity_refs(connection)
            for change in changes:
                if isinstance(change, Restamp):
                    connection.execute("UPDATE documents SET stamp = ? WHERE path = ?", (change.stamp, change.path))
                    continue
                path = change.path if isinstance(change, Remove) else change.document.path
                row = first_row(connection, "SELECT id, mentions FROM documents WHERE path = ?", (path,))
                if row is not None:
                    counts.remove_counts(connection, *row)
                    remove_document(connection, path)
                if isinstance(change, Put):
                    packed = pack_mentions(change.mentions, refs)
                    number = insert_document(connection, row and row[0], change.document, change.stamp, packed)
                    counts.insert_counts(connection, number, packed)
                    carry_document(connection, number, change.document)
                elif row is not None:
                    carry_document(connection, row[0], None)

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
        return [
            DocumentRow(
                path, kind, title, number, length, paragraphs, encoding, content_hash, unpack_front_matter(matter)
            )
            for path, kind, title, number, length, paragraphs, encoding, content_hash, matter in rows
        ]

    def document(self, path: str) -> Document | None:
        """See `Store`."""
        with self._reading() as connection:
            row = first_row(connection, _DOCUMENT, (path,))
            return None if row is None else read_document_rows(connection, row)

    def passages(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """See `Store`."""
        with self._reading() as connection:
            return read_passages(connection, keys)

    def search(self, query: TextQuery) -> list[TextHit]:
        """See `Store`."""
        with self._reading() as connection:
            return fulltext.search(connection, query)

    def document_frequency(self, terms: Sequence[str]) -> list[int]:
        """See `Store`."""
        with self._reading() as connection:
            return fulltext.document_frequencies(connection, list(terms))

    def mentions(self, path: str) -> list[MentionRow]:
        """See `Store`."""
        with self._reading() as connection:
            return counts.mentions_of(connection, path)

    def mention_counts(
        self,
        entities: Sequence[str] | None = None,
        *,
        by: Literal["document", "paragraph"] = "document",
        paths: Sequence[str] | None = None,
    ) -> list[MentionCount]:
        """See `Store`."""
        with self._reading() as connection:
            return counts.mention_counts(connection, entities, paragraphs=by == "paragraph", paths=paths)

    def replace_mentions(self, mentions: Mapping[str, Sequence[MentionRow]]) -> None:
        """See `Store`."""
        with self._writing() as connection:
            counts.replace_mentions(connection, mentions)

    def replace_graph(self, entities: Sequence[EntityRow], relations: Sequence[RelationRow]) -> None:
        """See `Store`."""
        with self._writing() as connection:
            from armarius.store.sqlite.vectors_upkeep import forget_entities

            forget_entities(connection, {entity.id for entity in entities})
            if graph.replace_graph(connection, entities, relations):
                counts.drop_unknown(connection)
            keep_hash(connection, "graph")

    def entities(self, ids: Sequence[str] | None = None) -> list[EntityRow]:
        """See `Store`."""
        with self._reading() as connection:
            return graph.entities(connection, ids)

    def relations(self, *, touching: Sequence[str] | None = None) -> list[RelationRow]:
        """See `Store`."""
        with self._reading() as connection:
            return graph.relations(connection, touching)

    def neighbours(self, entities: Sequence[str], *, depth: int = 1, limit: int = 1000) -> list[list[Step]]:
        """See `Store`."""
        if depth < 1:
            raise ValueError(f"depth must be >= 1, got {depth}")
        with self._reading() as connection:
            return graph.neighbours(connection, entities, depth, limit)

    def replace_records(self, collection: Collection, records: Sequence[Record]) -> None:
        """See `Store`."""
        with self._writing() as connection:
            connection.execute("DELETE FROM records WHERE collection = ?", (collection,))
            connection.executemany(
                "INSERT INTO records VALUES (?, ?, ?)", [(collection, *astuple(record)) for record in records]
            )
            keep_hash(connection, "records")

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

    def backup(self, target: Path) -> None:
        """Copy the index, consistent, while it is in use; `target` may then be opened with any SQLite."""
        with self._reading() as connection, translated(target):
            copy = apsw.Connection(str(target))
            try:
                with copy.backup("main", connection, "main") as work:
                    while not work.done:
                        work.step(1000)
            finally:
                copy.close()
