"""`Store` over PostgreSQL: one project of a server, asked by any number of processes; word search; verification.

PostgreSQL has no BM25, and no index for Chinese: names of two characters would be found by reading everything. The same
tables in memory give the same hits, in the same order, with the same scores, on both engines. They are made when
somebody searches for the first time: prompts do not ask them.
"""

import json
import threading
import zlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Self

import apsw

from armarius.arguments import Kind
from armarius.documents.document import Document
from armarius.errors import StoreConflict, StoreCorrupt, StoreError
from armarius.store.postgres.pool import Pool
from armarius.store.postgres.schema import (
    document_hash,
    learnt_hash,
    project_key,
    read_documents,
    read_entities,
    read_head,
    read_pieces,
    unpack,
)
from armarius.store.postgres.session import PostgresSession, ProjectRow, Transaction
from armarius.store.postgres.writing import changed, digest_of, read_learnt, write
from armarius.store.protocol import (
    Change,
    Changed,
    DerivedRow,
    DocumentRow,
    FileRow,
    Passage,
    StoreState,
    TextHit,
    TextQuery,
    fold,
)
from armarius.store.sqlite.connection import in_memory
from armarius.store.sqlite.schema import FULL_TEXT, PARAGRAPH_BITS, full_text_rows, search
from armarius.types import PassageKey

if TYPE_CHECKING:
    from armarius.store.vectors_protocol import VectorStore

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


class PostgresStore:
    """One project on a server. Thread-safe; the connections belong to the pool.

    Args:
        pool: Connections to a server with migrated tables; see `schema.migrate`.
        project_id: Id of the project; its rows are created by the first `apply`.
        tenant: Tenant; project ids are unique per tenant.
        schema: Schema of the tables.
        pgvector: Whether vectors are stored as pgvector columns; see `schema.check_schema`.
    """

    def __init__(
        self, pool: Pool, project_id: str, *, tenant: str = "", schema: str = "armarius", pgvector: bool = False
    ) -> None:
        key = project_key(tenant, project_id)
        self._begin(PostgresSession(pool, schema, key, tenant=tenant, project_id=project_id), pgvector=pgvector)

    def _begin(self, session: PostgresSession, *, pgvector: bool) -> None:
        self._session = session
        self._pgvector = pgvector
        self._closed = False
        self._words = Words()
        self._vectors: VectorStore | None = None

    @property
    def project_id(self) -> str:
        """See `Store`."""
        return self._session.project_id

    @property
    def location(self) -> str:
        """Server, database and schema, never user or password."""
        return f"{self._session.pool.place} {self._session.schema}"

    @property
    def session(self) -> PostgresSession:
        """Transactions of the project; shared by the stores that come one after the other by `reopen`."""
        if self._closed:
            raise StoreError(f"{self.project_id}: the store is closed")
        return self._session

    @property
    def vectors(self) -> "VectorStore | None":
        """See `Store`; numpy is loaded here, not before."""
        from armarius.store.postgres.vectors import PostgresVectors

        if self._vectors is None:
            self._vectors = PostgresVectors(self.session, pgvector=self._pgvector)
        return self._vectors

    def close(self) -> None:
        """See `Store`; the pool stays open."""
        self._closed = True

    def reopen(self) -> Self:
        """See `Store`."""
        self.close()
        self._session.forget()
        again = object.__new__(type(self))
        again._begin(self._session, pgvector=self._pgvector)
        return again

    def row(self) -> ProjectRow:
        """The row of the project as it is now, or as it was when the moment of this thread began."""
        return self.session.look()

    def moment(self) -> AbstractContextManager[None]:
        """What this thread asks inside is answered of one generation."""
        return self.session.moment()

    def writing(self, expect: int | None = None) -> AbstractContextManager[Transaction]:
        """Everything that this thread tells and asks inside is one transaction; other writers wait."""
        return self.session.writing(expect)

    def state(self) -> StoreState:
        """See `Store`; `bytes` are those of the values, without the server's own."""
        with self.session.reading() as tx:
            documents, paragraphs = tx.rows(
                "SELECT count(*), coalesce(sum(paragraphs), 0) FROM {s}.documents WHERE project = %s", (tx.project,)
            )[0]
            size = tx.rows(
                "SELECT coalesce(sum(length(data)), 0) + 0 FROM {s}.pieces WHERE project = %s", (tx.project,)
            )[0][0]
            entities = len(read_entities(tx))
            return StoreState(documents, int(paragraphs), entities, int(size), tx.row.generation)

    def generation(self) -> int:
        """See `Store`."""
        return self.session.look().generation

    def changed(self, since: int) -> Changed:
        """See `Store`."""
        with self.session.reading() as tx:
            return changed(tx, since)

    def apply(self, changes: Sequence[Change], *, expect: int | None = None) -> int:
        """See `Store`."""
        if not changes:
            now = self.generation()
            if expect is not None and expect != now:
                raise StoreConflict(f"the project is at generation {now}, not {expect}")
            return now
        folded = fold(changes)

        def work(tx: Transaction) -> int:
            write(tx, folded)
            return tx.row.generation

        return self.session.written(work, expect)

    def note(self, key: str) -> str | None:
        """See `Store`."""
        with self.session.reading() as tx:
            rows = tx.rows("SELECT value FROM {s}.notes WHERE project = %s AND key = %s", (tx.project, key))
        return rows[0][0].decode("utf-8", "surrogatepass") if rows else None

    def learnt(self, kind: str, paths: Sequence[str] | None = None) -> dict[str, DerivedRow]:
        """See `Store`."""
        with self.session.reading() as tx:
            return read_learnt(tx, kind, paths)

    def files(self) -> dict[str, FileRow]:
        """See `Store`."""
        with self.session.reading() as tx:
            rows = tx.rows(
                "SELECT path, stamp, content_hash FROM {s}.documents WHERE project = %s ORDER BY path", (tx.project,)
            )
        return {path: FileRow(stamp, content_hash) for path, stamp, content_hash in rows}

    def documents(self, *, kinds: Sequence[Kind] = (), chapter: int | None = None) -> list[DocumentRow]:
        """See `Store`."""
        with self.session.reading() as tx:
            rows = tx.rows(
                "SELECT path, kind, chapter, length, paragraphs, content_hash, head FROM {s}.documents "
                "WHERE project = %s AND (%s OR kind = ANY(%s)) AND (%s OR chapter = %s) ORDER BY path",
                (tx.project, not kinds, list(kinds), chapter is None, chapter or 0),
            )
        results = []
        for path, kind, number, length, paragraphs, content_hash, head in rows:
            title, encoding, matter = read_head(path, head)
            results.append(DocumentRow(path, kind, title, number, length, paragraphs, encoding, content_hash, matter))
        return results

    def document(self, path: str) -> Document | None:
        """See `Store`."""
        return next(iter(self.documents_of([path])), None)

    def documents_of(self, paths: Sequence[str]) -> list[Document]:
        """See `Store`."""
        if not paths:
            return []
        with self.session.reading() as tx:
            by_path = {doc.path: doc for doc in read_documents(tx, "d.path = ANY(%s)", (list(set(paths)),))}
        return [by_path[path] for path in paths if path in by_path]

    def passages(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """See `Store`."""
        documents = {doc.path: doc for doc in self.documents_of([path for path, _ in keys])}
        results = []
        for path, index in keys:
            doc = documents.get(path)
            if doc is None or not 0 <= index < len(doc.paragraphs):
                continue
            p = doc.paragraphs[index]
            text = doc.text[p.start : p.end]
            results.append(
                Passage(path, index, doc.kind, doc.title, p.chapter, p.heading_path, p.role, p.start, p.end, text)
            )
        return results

    def search(self, query: TextQuery) -> list[TextHit]:
        """See `Store`. Cost: of the first search all texts are read once; later ones ask for what has changed."""
        if query.limit is not None and query.limit < 1:
            return []
        news = self.changed(self._words.generation) if self.generation() != self._words.generation else None
        return self._words.search(query, news)

    def verify(self) -> list[str]:
        """See `Store`."""
        with self.session.reading() as tx:
            return problems(tx, pgvector=self._pgvector)


def problems(tx: Transaction, *, pgvector: bool) -> list[str]:
    """Everything that is wrong, as sentences. Reads all of the project."""
    faults = [*_documents(tx), *_learnt_faults(tx), *_files(tx), *_values(tx)]
    if tx.rows("SELECT 1 FROM {s}.vector_sets WHERE project = %s", (tx.project,)):
        from armarius.store.postgres.vectors import vector_problems

        faults += vector_problems(tx, pgvector=pgvector)
    return faults


def _documents(tx: Transaction) -> list[str]:
    faults = []
    rows = tx.rows(
        "SELECT path, version, hash, length, paragraphs FROM {s}.documents WHERE project = %s ORDER BY path",
        (tx.project,),
    )
    for path, version, kept, length, paragraphs in rows:
        try:
            document = read_documents(tx, "d.path = %s", (path,))[0]
            if document_hash(document, version) != kept:
                faults.append(f"{path}: stored content does not match its hash")
            if (len(document.text), len(document.paragraphs)) != (length, paragraphs):
                faults.append(f"{path}: length or number of paragraphs is wrong")
        except StoreCorrupt as error:
            faults.append(str(error))
    query = (
        "SELECT DISTINCT p.path FROM {s}.pieces p WHERE p.project = %s AND p.area = 'text' AND NOT EXISTS "
        "(SELECT 1 FROM {s}.documents d WHERE d.project = p.project AND d.path = p.path) ORDER BY 1"
    )
    return faults + [f"{path}: text of no document" for (path,) in tx.rows(query, (tx.project,))]


def _learnt_faults(tx: Transaction) -> list[str]:
    rows = tx.rows(
        "SELECT l.path, l.kind, l.about, l.hash, d.path IS NOT NULL FROM {s}.learnt l LEFT JOIN {s}.documents d "
        "ON d.project = l.project AND d.path = l.path WHERE l.project = %s ORDER BY l.path, l.kind",
        (tx.project,),
    )
    faults = []
    for path, kind, about, kept, there in rows:
        data = read_pieces(tx, "learnt", path, kind)
        if not there:
            faults.append(f"{path}: {kind} learnt from a document that is not there")
        elif data is None or learnt_hash(path, kind, about, data) != kept:
            faults.append(f"{path}: {kind} learnt from it do not match their hash")
    return faults


def _files(tx: Transaction) -> list[str]:
    faults = []
    rows = tx.rows("SELECT path, hash, size FROM {s}.files WHERE project = %s ORDER BY path", (tx.project,))
    for path, kept, size in rows:
        packed = read_pieces(tx, "file", path)
        try:
            data = unpack(path, packed or b"")
        except StoreCorrupt as error:
            faults.append(f"{error}; this is what was written, and cannot be made again")
            continue
        if digest_of(data) != kept or len(data) != size:
            faults.append(f"{path}: what was written does not match its hash, and cannot be made again")
    return faults


def _values(tx: Transaction) -> list[str]:
    faults = []
    data = read_pieces(tx, "entities", "", "")
    try:
        if data is not None:
            if zlib.crc32(data[4:]) != int.from_bytes(data[:4], "little"):
                raise StoreCorrupt("the checksum does not fit")
            json.loads(unpack("", data[4:]))
    except (StoreCorrupt, ValueError) as error:
        faults.append(f"entities: damaged: {error}")
    return faults
