"""`Store` over PostgreSQL: one project of a server, asked by any number of processes."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Self

from armarius.documents.classify import Kind
from armarius.documents.document import Document
from armarius.errors import StoreConflict, StoreError
from armarius.store.postgres import integrity
from armarius.store.postgres.keys import project_key
from armarius.store.postgres.packing import read_documents, read_head, read_pieces
from armarius.store.postgres.pool import Pool
from armarius.store.postgres.reading import changed, learnt, read_graph, read_records
from armarius.store.postgres.session import Session
from armarius.store.postgres.transaction import ProjectRow, Transaction
from armarius.store.postgres.words import Words
from armarius.store.postgres.writing import fold, write
from armarius.store.rows import (
    Change,
    Changed,
    Collection,
    DerivedRow,
    DocumentRow,
    EntityRow,
    FileRow,
    GraphRows,
    Passage,
    PassageKey,
    Record,
    RelationRow,
    StoreState,
    TextHit,
    TextQuery,
)

if TYPE_CHECKING:
    from armarius.store.vectors_protocol import VectorStore

__all__ = ["PostgresStore"]


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
        self._begin(Session(pool, schema, key, tenant=tenant, project_id=project_id), pgvector=pgvector)

    def _begin(self, session: Session, *, pgvector: bool) -> None:
        self._session = session
        self._key = session.project
        self._pgvector = pgvector
        self._closed = False
        self._words = Words()
        self._graph: tuple[int, GraphRows] | None = None
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
    def session(self) -> Session:
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
                "SELECT count(*), coalesce(sum(paragraphs), 0) FROM {s}.documents WHERE project = %s", (self._key,)
            )[0]
            size = tx.rows(
                "SELECT coalesce(sum(length(data)), 0) + 0 FROM {s}.pieces WHERE project = %s", (self._key,)
            )[0][0]
            entities = len(self._the_graph(tx).entities)
            return StoreState(documents, int(paragraphs), entities, int(size), tx.row.generation)

    def generation(self) -> int:
        """See `Store`."""
        return self.session.look().generation

    def changed(self, since: int) -> Changed:
        """See `Store`."""
        with self.session.reading() as tx:
            return changed(tx, self._key, since)

    def apply(self, changes: Sequence[Change], *, expect: int | None = None) -> int:
        """See `Store`."""
        if not changes:
            now = self.generation()
            if expect is not None and expect != now:
                raise StoreConflict(f"the project is at generation {now}, not {expect}")
            return now
        folded = fold(changes)

        def work(tx: Transaction) -> int:
            write(tx, self._key, folded)
            return tx.row.generation

        return self.session.written(work, expect)

    def note(self, key: str) -> str | None:
        """See `Store`."""
        with self.session.reading() as tx:
            rows = tx.rows("SELECT value FROM {s}.notes WHERE project = %s AND key = %s", (self._key, key))
        return rows[0][0].decode("utf-8", "surrogatepass") if rows else None

    def learnt(self, kind: str, paths: Sequence[str] | None = None) -> dict[str, DerivedRow]:
        """See `Store`."""
        with self.session.reading() as tx:
            return learnt(tx, self._key, kind, paths)

    def files(self) -> dict[str, FileRow]:
        """See `Store`."""
        with self.session.reading() as tx:
            rows = tx.rows(
                "SELECT path, stamp, content_hash FROM {s}.documents WHERE project = %s ORDER BY path", (self._key,)
            )
        return {path: FileRow(stamp, content_hash) for path, stamp, content_hash in rows}

    def documents(self, *, kinds: Sequence[Kind] = (), chapter: int | None = None) -> list[DocumentRow]:
        """See `Store`."""
        with self.session.reading() as tx:
            rows = tx.rows(
                "SELECT path, kind, chapter, length, paragraphs, content_hash, head FROM {s}.documents "
                "WHERE project = %s AND (%s OR kind = ANY(%s)) AND (%s OR chapter = %s) ORDER BY path",
                (self._key, not kinds, list(kinds), chapter is None, chapter or 0),
            )
        found = []
        for path, kind, number, length, paragraphs, content_hash, head in rows:
            title, encoding, matter = read_head(path, head)
            found.append(DocumentRow(path, kind, title, number, length, paragraphs, encoding, content_hash, matter))
        return found

    def document(self, path: str) -> Document | None:
        """See `Store`."""
        return next(iter(self.documents_of([path])), None)

    def documents_of(self, paths: Sequence[str]) -> list[Document]:
        """See `Store`."""
        if not paths:
            return []
        with self.session.reading() as tx:
            found = {one.path: one for one in read_documents(tx, self._key, "d.path = ANY(%s)", (list(set(paths)),))}
        return [found[path] for path in paths if path in found]

    def passages(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """See `Store`."""
        documents = {one.path: one for one in self.documents_of([path for path, _ in keys])}
        found = []
        for path, index in keys:
            one = documents.get(path)
            if one is None or not 0 <= index < len(one.paragraphs):
                continue
            p = one.paragraphs[index]
            text = one.text[p.start : p.end]
            found.append(
                Passage(path, index, one.kind, one.title, p.chapter, p.heading_path, p.role, p.start, p.end, text)
            )
        return found

    def search(self, query: TextQuery) -> list[TextHit]:
        """See `Store`. Cost: of the first search all texts are read once; later ones ask for what has changed."""
        if query.limit is not None and query.limit < 1:
            return []
        news = self.changed(self._words.generation) if self.generation() != self._words.generation else None
        return self._words.search(query, news)

    def entities(self, ids: Sequence[str] | None = None) -> list[EntityRow]:
        """See `Store`."""
        with self.session.reading() as tx:
            found = self._the_graph(tx).entities
        wanted = None if ids is None else set(ids)
        return [row for row in found if wanted is None or row.id in wanted]

    def relations(self, *, touching: Sequence[str] | None = None) -> list[RelationRow]:
        """See `Store`."""
        with self.session.reading() as tx:
            found = self._the_graph(tx).relations
        wanted = None if touching is None else set(touching)
        return [row for row in found if wanted is None or row.source in wanted or row.target in wanted]

    def records(self, collection: Collection) -> list[Record]:
        """See `Store`."""
        with self.session.reading() as tx:
            return read_records(read_pieces(tx, self._key, "records", "", collection))

    def verify(self) -> list[str]:
        """See `Store`."""
        with self.session.reading() as tx:
            return integrity.problems(tx, self._key, pgvector=self._pgvector)

    def _the_graph(self, tx: Transaction) -> GraphRows:
        """Entities and relations of this moment; kept while nobody writes others."""
        if self._graph is None or self._graph[0] != tx.row.graph or tx.taken:
            self._graph = (tx.row.graph if not tx.taken else -1, read_graph(tx, self._key))
        return self._graph[1]
