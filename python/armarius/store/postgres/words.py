"""Full text of a project in the worker: the SQLite tables in memory, updated by generation.

PostgreSQL has no BM25 and no index for Chinese, where names have two characters. The same tables in memory give the
same hits, order and scores on both engines. They are made at the first search; prompts do not need them.
"""

import threading

import apsw

from armarius.documents.document import Document
from armarius.store.rows import Changed, TextHit, TextQuery
from armarius.store.sqlite.connection import in_memory
from armarius.store.sqlite.fulltext import FULL_TEXT, search
from armarius.store.sqlite.packing import PARAGRAPH_BITS, full_text_rows

__all__ = ["Words"]

_TABLES = """
CREATE TABLE documents (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, kind TEXT NOT NULL);
CREATE TABLE paragraphs (id INTEGER PRIMARY KEY, chapter INTEGER);
"""


class Words:
    """What stands in which paragraph, of one generation. Threads may share it.

    Attributes:
        generation: That it is of; 0 before the first.
    """

    def __init__(self) -> None:
        self.generation = 0
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None

    def search(self, query: TextQuery, changed: Changed | None) -> list[TextHit]:
        """See `Store.search`; `changed` since the generation that this is of is taken in first."""
        with self._lock:
            if changed is not None:
                self._take(changed)
            return [] if self._connection is None else search(self._connection, query)

    def _take(self, changed: Changed) -> None:
        if self._connection is None or changed.whole:
            self._connection = in_memory()
            self._connection.execute(_TABLES + FULL_TEXT)
        elif changed.generation <= self.generation:  # another thread was first
            return
        connection = self._connection
        with connection:
            for path in (*changed.removed, *(document.path for document in changed.documents)):
                _remove(connection, path)
            for document in changed.documents:
                _add(connection, document)
        self.generation = changed.generation


def _remove(connection: apsw.Connection, path: str) -> None:
    row = connection.execute("DELETE FROM documents WHERE path = ? RETURNING id", (path,)).fetchone()
    if row is not None:
        span = (row[0] << PARAGRAPH_BITS, (row[0] + 1) << PARAGRAPH_BITS)
        connection.execute("DELETE FROM full_text WHERE rowid >= ? AND rowid < ?", span)
        connection.execute("DELETE FROM paragraphs WHERE id >= ? AND id < ?", span)


def _add(connection: apsw.Connection, document: Document) -> None:
    connection.execute("INSERT INTO documents (path, kind) VALUES (?, ?)", (document.path, document.kind))
    number = connection.last_insert_rowid()
    base = number << PARAGRAPH_BITS
    connection.executemany(
        "INSERT INTO paragraphs VALUES (?, ?)", [(base + p.index, p.chapter) for p in document.paragraphs]
    )
    connection.executemany(
        "INSERT INTO full_text (rowid, title, content, characters, tags) VALUES (?, ?, ?, ?, ?)",
        full_text_rows([(number, document)], {}),
    )
