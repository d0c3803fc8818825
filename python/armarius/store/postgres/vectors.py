"""`VectorStore` over PostgreSQL: exact within one project, compared by pgvector, or in the worker where that is not.

One index over all projects would find nothing in most of them: its nearest are of others. A project is small enough to
be compared whole.
"""

import threading
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np

from armarius.documents.document import Document
from armarius.errors import EmbeddingError, StoreCorrupt
from armarius.store.postgres.schema import read_documents, read_entities
from armarius.store.postgres.session import PostgresSession, Transaction
from armarius.store.vectors_protocol import (
    Fingerprint,
    Owner,
    PendingText,
    SetGone,
    SetState,
    VectorCounts,
    VectorFilter,
    VectorIndexStatus,
    Vectors,
    VectorSet,
    check_batch,
    embedded_texts,
    owner_order,
    require_same,
    text_hash,
    unit_rows,
    usable_rows,
)

EMBEDDED, PENDING, EMPTY = range(3)
ENTITY = -1
_INSERT_ENTITY = (
    "INSERT INTO {s}.vectors (project, number, path, paragraph, text, state) VALUES (%s, %s, %s, %s, %s, 1) "
    "ON CONFLICT (project, number, path, paragraph) DO UPDATE SET text = excluded.text, state = 1, checksum = NULL, "
    "embedding = NULL"
)


@dataclass(frozen=True, slots=True)
class Form:
    """How a vector stands in its column: as pgvector writes it, or as bytes of little-endian float32."""

    pgvector: bool

    def column(self, vector: Vectors) -> str | bytes:
        """One vector for the column."""
        if self.pgvector:
            return "[" + ",".join(map(repr, np.asarray(vector, "<f4").astype(float).tolist())) + "]"
        return np.ascontiguousarray(vector, "<f4").tobytes()

    @property
    def mark(self) -> str:
        """What stands for it in a statement."""
        return "%s::public.vector" if self.pgvector else "%s"

    def read(self, columns: Sequence[str | bytes], dimension: int) -> Vectors:
        """Vectors out of their columns: float32, shape (n, dimension).

        Raises:
            StoreCorrupt: One is invalid, or of another length.
        """
        matrix = np.zeros((len(columns), dimension), np.float32)
        try:
            for row, column in zip(matrix, columns, strict=True):
                if isinstance(column, str):
                    row[:] = np.array(column[1:-1].split(","), np.float64)
                else:
                    row[:] = np.frombuffer(column, "<f4")
        except ValueError as error:
            raise StoreCorrupt(f"a vector is damaged: {error}") from error
        return matrix


def owner_of(path: str, paragraph: int) -> Owner:
    """The owner of a row: an entity id, or (path, paragraph)."""
    return path if paragraph == ENTITY else (path, paragraph)


def sets_of(tx: Transaction) -> dict[SetState, VectorSet]:
    """The sets by state."""
    by_state: dict[SetState, VectorSet] = {}
    query = "SELECT number, state, fingerprint FROM {s}.vector_sets WHERE project = %s"
    for number, state, fingerprint in tx.rows(query, (tx.project,)):
        try:
            by_state[state] = VectorSet(number, state, Fingerprint.from_json(fingerprint))
        except EmbeddingError as error:
            raise StoreCorrupt(f"vector set {number} cannot be read: {error}") from error
    return by_state


def make_set(tx: Transaction, fingerprint: Fingerprint, state: SetState) -> VectorSet:
    """A new, empty set; its number never comes again."""
    number = tx.count_vectors()
    tx.execute(
        "INSERT INTO {s}.vector_sets (project, number, state, fingerprint) VALUES (%s, %s, %s, %s)",
        (tx.project, number, state, fingerprint.to_json()),
    )
    return VectorSet(number, state, fingerprint)


def drop_set(tx: Transaction, number: int) -> None:
    """Forget a set and its vectors."""
    tx.count_vectors()
    tx.execute("DELETE FROM {s}.vectors WHERE project = %s AND number = %s", (tx.project, number))
    tx.execute("DELETE FROM {s}.vector_sets WHERE project = %s AND number = %s", (tx.project, number))


def cards_of(tx: Transaction, number: int) -> dict[str, bytes]:
    """Hash of the card of every entity of a set."""
    query = "SELECT path, text FROM {s}.vectors WHERE project = %s AND number = %s AND paragraph = -1"
    return {path: bytes(text) for path, text in tx.rows(query, (tx.project, number))}


def carry_cards(tx: Transaction, number: int, wanted: Mapping[str, bytes]) -> None:
    """Bring the entities of a set to exactly these cards."""
    hashes = cards_of(tx, number)
    gone = sorted(hashes.keys() - wanted.keys())
    new = {path: text for path, text in wanted.items() if hashes.get(path) != text}
    if not gone and not new:
        return
    tx.count_vectors()
    tx.execute(
        "DELETE FROM {s}.vectors WHERE project = %s AND number = %s AND paragraph = -1 AND path = ANY(%s)",
        (tx.project, number, gone),
    )
    tx.execute_many(_INSERT_ENTITY, [(tx.project, number, path, ENTITY, text) for path, text in sorted(new.items())])


def keep(tx: Transaction, number: int, form: Form, texts: Sequence[PendingText], vectors: Vectors) -> int:
    """Keep vectors of texts that still wait; the number kept. A row of zeros marks its owner as having none."""
    query = (
        f"UPDATE {{s}}.vectors SET state = %s, checksum = %s, embedding = {form.mark} WHERE project = %s "
        "AND number = %s AND path = %s AND paragraph = %s AND text = %s AND state = 1 RETURNING 1"
    )
    kept = 0
    for text, vector in zip(texts, vectors, strict=True):
        path, paragraph = (text.owner, ENTITY) if isinstance(text.owner, str) else text.owner
        data = np.ascontiguousarray(vector, "<f4").tobytes()
        has = bool(vector.any())
        values = (EMBEDDED, zlib.crc32(data), form.column(vector)) if has else (EMPTY, None, None)
        kept += len(tx.rows(query, (*values, tx.project, number, path, paragraph, text.digest)))
    if kept:
        tx.count_vectors()
    return kept


_COLUMNS = "project, number, path, paragraph, chapter, text, state"
_INSERT_DOCUMENT = f"INSERT INTO {{s}}.vectors ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, 1)"
_AWAY = 1 << 40  # where a paragraph number waits while another takes its place


def fill(tx: Transaction, number: int) -> None:
    """Everything that has a vector is pending in a new set."""
    documents = read_documents(tx, "true", ())
    tx.execute_many(_INSERT_DOCUMENT, [(tx.project, number, *row) for doc in documents for row in _embedded_rows(doc)])


def forget_entities(tx: Transaction, kept: Iterable[str]) -> None:
    """Forget the vectors of every entity that is not in `kept`."""
    tx.execute(
        "DELETE FROM {s}.vectors WHERE project = %s AND paragraph = -1 AND NOT path = ANY(%s)", (tx.project, list(kept))
    )


def vector_problems(tx: Transaction, *, pgvector: bool) -> list[str]:
    """What is wrong with the vectors, as sentences: texts that are not the documents', and damaged vectors."""
    faults = []
    form = Form(pgvector=pgvector)
    for entry in sets_of(tx).values():
        stored: dict[str, dict[int, bytes]] = {}
        damaged = 0
        columns = "path, paragraph, text, state, checksum, embedding"
        query = f"SELECT {columns} FROM {{s}}.vectors WHERE project = %s AND number = %s"
        for path, paragraph, text, state, checksum, embedding in tx.rows(query, (tx.project, entry.id)):
            if paragraph >= 0:
                stored.setdefault(path, {})[paragraph] = bytes(text)
            if state == EMBEDDED:
                vector = form.read([embedding], entry.fingerprint.dimension)
                same = zlib.crc32(vector.astype("<f4").tobytes()) == checksum
                damaged += not same or not bool(np.all(usable_rows(vector)))
        faults += [
            f"{document.path}: vectors of {entry.fingerprint.name} belong to another text"
            for document in read_documents(tx, "true", ())
            if stored.pop(document.path, {}) != {row[1]: row[3] for row in _embedded_rows(document)}
        ]
        faults += [f"{path}: vectors of a document that is not there" for path in sorted(stored)]
        if damaged:
            faults.append(f"{damaged} vectors of {entry.fingerprint.name} do not match their checksum")
    return faults


def _embedded_rows(document: Document) -> list[tuple[str, int, int | None, bytes]]:
    """Path, paragraph, chapter and hash of every text of a document that has a vector."""
    return [
        (document.path, index, document.paragraphs[index].chapter, text_hash(text))
        for index, text in embedded_texts(document).items()
    ]


def carry_documents(tx: Transaction, number: int, documents: Mapping[str, Document], paths: list[str]) -> None:
    """Keep, move, forget and queue the vectors of documents that are replaced, or removed: those not in `documents`."""
    query = (
        "SELECT path, paragraph, text, state FROM {s}.vectors WHERE project = %s AND number = %s AND paragraph >= 0 "
        "AND path = ANY(%s) ORDER BY path, paragraph"
    )
    by_path: dict[str, dict[int, tuple[bytes, int]]] = {}
    for path, paragraph, text, state in tx.rows(query, (tx.project, number, paths)):
        by_path.setdefault(path, {})[paragraph] = (bytes(text), state)
    gone: list[tuple[str, int]] = []
    moved: list[tuple[str, int, int]] = []
    new: list[tuple[str, int, int | None, bytes]] = []
    chapters: list[tuple[int | None, str, int]] = []
    for path in paths:
        wanted = _embedded_rows(documents[path]) if path in documents else []
        before = by_path.get(path, {})
        same = {index for _, index, _, text in wanted if before.get(index, (b"",))[0] == text}
        free: dict[bytes, list[int]] = {}
        for index, (text, state) in before.items():
            if index in same:
                continue
            if state == EMBEDDED:
                free.setdefault(text, []).append(index)
            else:
                gone.append((path, index))
        for row in wanted:
            _, index, chapter, text = row
            chapters.append((chapter, path, index))
            if index in same:
                continue
            if free.get(text):
                moved.append((path, free[text].pop(), index))
            else:
                new.append(row)
        gone += [(path, index) for indexes in free.values() for index in indexes]
    where = "WHERE project = %s AND number = %s AND path = %s AND paragraph = %s"
    tx.execute_many(f"DELETE FROM {{s}}.vectors {where}", [(tx.project, number, *place) for place in gone])
    update = f"UPDATE {{s}}.vectors SET paragraph = %s {where}"
    tx.execute_many(update, [(_AWAY + to, tx.project, number, path, at) for path, at, to in moved])
    tx.execute_many(update, [(to, tx.project, number, path, _AWAY + to) for path, _, to in moved])
    tx.execute_many(_INSERT_DOCUMENT, [(tx.project, number, *row) for row in new])
    tx.execute_many(
        f"UPDATE {{s}}.vectors SET chapter = %s {where} AND chapter IS DISTINCT FROM %s",
        [(chapter, tx.project, number, path, index, chapter) for chapter, path, index in chapters],
    )
    if gone or moved or new:
        tx.count_vectors()


@dataclass(frozen=True, slots=True)
class _LoadedVectors:
    """All vectors of a set in memory: `owners` path, paragraph, kind and chapter, `units` float32 (n, dimension)."""

    key: tuple[int, ...]
    owners: list[tuple[str, int, str | None, int | None]]
    units: Vectors


def _condition(which: VectorFilter) -> tuple[str, list[Any]]:
    low, high = which.chapters
    where = " AND v.paragraph >= 0"
    values: list[Any] = []
    if which.kinds:
        where += (
            " AND EXISTS (SELECT 1 FROM {s}.documents d WHERE d.project = v.project AND d.path = v.path "
            "AND d.kind = ANY(%s))"
        )
        values.append(list(which.kinds))
    for bound, sign in ((low, ">="), (high, "<=")):
        if bound is not None:
            where += f" AND v.chapter {sign} %s"
            values.append(bound)
    return where, values


def _passes_filter(owner: tuple[str, int, str | None, int | None], which: VectorFilter | None) -> bool:
    _, paragraph, kind, chapter = owner
    if which is None:
        return True
    if which.entities or paragraph < 0:
        return which.entities and paragraph < 0
    low, high = which.chapters
    if (low is not None or high is not None) and chapter is None:
        return False
    within = (low is None or (chapter or 0) >= low) and (high is None or (chapter or 0) <= high)
    return within and (not which.kinds or kind in which.kinds)


class PostgresVectors:
    """`VectorStore` of one project on a server.

    Args:
        session: PostgresSession of the project.
        pgvector: Whether vectors are stored as pgvector columns.
    """

    def __init__(self, session: PostgresSession, *, pgvector: bool) -> None:
        self._session = session
        self._form = Form(pgvector=pgvector)
        self._lock = threading.Lock()
        self._kept: _LoadedVectors | None = None
        self._cards: dict[str, str] = {}
        self._owner = uuid4().hex

    def lease(self, seconds: float) -> bool:
        """See `Leasing`. A column of the project row, not a lock: it expires after a killed process."""
        if not self._session.look().born:
            return False
        with self._session.writing() as tx:
            tx.keep()
            query = (
                "UPDATE {s}.projects SET lease_owner = %s, lease_until = now() + make_interval(secs => %s) "
                "WHERE project = %s AND (lease_owner = %s OR lease_until IS NULL OR lease_until < now()) RETURNING 1"
            )
            return bool(tx.rows(query, (self._owner, seconds, tx.project, self._owner)))

    def release(self) -> None:
        """See `Leasing`."""
        with self._session.writing() as tx:
            tx.keep()
            tx.execute(
                "UPDATE {s}.projects SET lease_owner = NULL, lease_until = NULL "
                "WHERE project = %s AND lease_owner = %s",
                (tx.project, self._owner),
            )

    def sets(self) -> Mapping[SetState, VectorSet]:
        """See `VectorStore`."""
        with self._session.reading() as tx:
            return sets_of(tx)

    def counts(self, set_id: int) -> VectorCounts:
        """See `VectorStore`."""
        with self._session.reading() as tx:
            query = "SELECT state, count(*) FROM {s}.vectors WHERE project = %s AND number = %s GROUP BY state"
            totals = dict(tx.rows(query, (tx.project, set_id)))
        return VectorCounts(totals.get(EMBEDDED, 0), totals.get(PENDING, 0), totals.get(EMPTY, 0))

    def adopt(self, fingerprint: Fingerprint) -> VectorSet:
        """See `VectorStore`."""
        with self._session.writing() as tx:
            entry = sets_of(tx).get("serving")
            if entry is not None:
                require_same(entry.fingerprint, fingerprint)
                return entry
            return self._fill_set(tx, make_set(tx, fingerprint, "serving"))

    def build(self, fingerprint: Fingerprint) -> VectorSet:
        """See `VectorStore`."""
        with self._session.writing() as tx:
            entry = sets_of(tx).get("building")
            if entry is not None and entry.fingerprint == fingerprint:
                return entry
            if entry is not None:
                drop_set(tx, entry.id)
            return self._fill_set(tx, make_set(tx, fingerprint, "building"))

    def switch(self) -> None:
        """See `VectorStore`."""
        with self._session.writing() as tx:
            sets = sets_of(tx)
            building = sets.get("building")
            if building is None:
                return
            query = "SELECT count(*) FROM {s}.vectors WHERE project = %s AND number = %s AND state = 1"
            if left := tx.rows(query, (tx.project, building.id))[0][0]:
                raise EmbeddingError(f"{building.fingerprint} cannot take over yet: {left} texts are not embedded")
            if "serving" in sets:
                drop_set(tx, sets["serving"].id)
            tx.count_vectors()
            tx.execute(
                "UPDATE {s}.vector_sets SET state = 'serving' WHERE project = %s AND number = %s",
                (tx.project, building.id),
            )

    def abandon(self) -> None:
        """See `VectorStore`."""
        with self._session.writing() as tx:
            if entry := sets_of(tx).get("building"):
                drop_set(tx, entry.id)

    def set_cards(self, cards: Mapping[str, str]) -> None:
        """See `VectorStore`."""
        self._cards = dict(cards)
        with self._session.reading() as tx:
            ids = read_entities(tx)
            sets = sets_of(tx)
            wanted = {id_: text_hash(text) for id_, text in cards.items() if id_ in ids}
            same = all(cards_of(tx, entry.id) == wanted for entry in sets.values())
        if sets and not same:
            with self._session.writing() as tx:
                for entry in sets_of(tx).values():
                    carry_cards(tx, entry.id, wanted)

    def pending(self, set_id: int, *, limit: int, first: Sequence[str] = ()) -> list[PendingText]:
        """See `VectorStore`."""
        with self._session.reading() as tx:
            records = tx.rows(
                "SELECT path, paragraph, text FROM {s}.vectors WHERE project = %s AND number = %s AND state = 1 "
                "AND (paragraph >= 0 OR path = ANY(%s)) ORDER BY paragraph >= 0, "
                "array_position(%s::text[], path::text) NULLS LAST, path, paragraph LIMIT %s",
                (tx.project, set_id, list(self._cards), list(first), limit),
            )
            paths = sorted({path for path, paragraph, _ in records if paragraph >= 0})
            documents = read_documents(tx, "d.path = ANY(%s)", (paths,)) if paths else []
        texts: dict[Owner, str] = {
            (doc.path, number): text for doc in documents for number, text in embedded_texts(doc).items()
        }
        texts.update(self._cards)
        waiting = []
        for path, paragraph, digest in records:
            owner = owner_of(path, paragraph)
            text = texts.get(owner)
            if text is not None and text_hash(text) == bytes(digest):
                waiting.append(PendingText(owner, text, bytes(digest)))
        return waiting

    def put(
        self, vector_set: VectorSet, fingerprint: Fingerprint, texts: Sequence[PendingText], vectors: Vectors
    ) -> int:
        """See `VectorStore`."""
        check_batch(vector_set.fingerprint, fingerprint, texts, vectors)
        with self._session.writing() as tx:
            if all(entry.id != vector_set.id for entry in sets_of(tx).values()):
                return 0
            return keep(tx, vector_set.id, self._form, texts, vectors)

    def nearest(
        self, vector_set: VectorSet, vector: Vectors, limit: int, which: VectorFilter | None = None
    ) -> list[tuple[Owner, float]]:
        """See `VectorStore`.

        Cost: by pgvector 0.4 ms per 1,000 vectors of 768 dimensions, on the server.
        """
        with self._session.reading() as tx:
            self._check(tx, vector_set)
            if limit < 1:
                return []
            search = self._search_server if self._form.pgvector else self._search_memory
            pairs = search(tx, vector_set, vector, limit, which)
        return sorted(pairs, key=lambda pair: (-pair[1], owner_order(pair[0])))

    def sample(self, vector_set: VectorSet, size: int) -> Vectors:
        """See `VectorStore`."""
        with self._session.reading() as tx:
            self._check(tx, vector_set)
            values: tuple[Any, ...] = (tx.project, vector_set.id)
            where = "WHERE project = %s AND number = %s AND state = 0"
            total = tx.rows(f"SELECT count(*) FROM {{s}}.vectors {where}", values)[0][0]
            step = max(1, -(-total // size))
            records = tx.rows(
                "SELECT embedding FROM (SELECT embedding, row_number() OVER (ORDER BY path, paragraph) - 1 AS at "
                f"FROM {{s}}.vectors {where}) numbered WHERE at %% %s = 0 ORDER BY at",
                (*values, step),
            )
        return self._form.read([row[0] for row in records], vector_set.fingerprint.dimension)

    def refresh(self, *, resample: bool = False, cancelled: Callable[[], bool] = lambda: False) -> None:
        """See `VectorStore`: search is exact, nothing is to be brought up to date."""

    def index_status(self) -> VectorIndexStatus:
        """See `VectorStore`."""
        entry = self.sets().get("serving")
        return VectorIndexStatus(approximate=False, vectors=0 if entry is None else self.counts(entry.id).embedded)

    def _fill_set(self, tx: Transaction, made: VectorSet) -> VectorSet:
        fill(tx, made.id)
        ids = read_entities(tx)
        wanted = {id_: text_hash(text) for id_, text in self._cards.items() if id_ in ids}
        carry_cards(tx, made.id, wanted)
        return made

    def _check(self, tx: Transaction, vector_set: VectorSet) -> None:
        if all(entry.id != vector_set.id for entry in sets_of(tx).values()):
            raise SetGone(f"{vector_set.fingerprint} has been replaced")

    def _search_server(
        self, tx: Transaction, vector_set: VectorSet, vector: Vectors, limit: int, which: VectorFilter | None
    ) -> list[tuple[Owner, float]]:
        where = ""
        values: list[Any] = []
        if which is not None and which.entities:
            where = " AND v.paragraph = -1"
        elif which is not None:
            where, values = _condition(which)
        column = self._form.column(vector)
        rows = tx.rows(
            "SELECT v.path, v.paragraph, v.embedding OPERATOR(public.<=>) %s::public.vector AS distance "
            f"FROM {{s}}.vectors v WHERE v.project = %s AND v.number = %s AND v.state = 0{where} "
            "ORDER BY distance, v.paragraph >= 0, v.path, v.paragraph LIMIT %s",
            (column, tx.project, vector_set.id, *values, limit),
        )
        return [(owner_of(path, paragraph), 1.0 - distance) for path, paragraph, distance in rows]

    def _search_memory(
        self, tx: Transaction, vector_set: VectorSet, vector: Vectors, limit: int, which: VectorFilter | None
    ) -> list[tuple[Owner, float]]:
        kept = self._load_vectors(tx, vector_set)
        chosen = [at for at, owner in enumerate(kept.owners) if _passes_filter(owner, which)]
        if not chosen:
            return []
        similar = kept.units[chosen] @ unit_rows(np.asarray(vector, np.float32)[None])[0]
        best = np.argsort(-similar, kind="stable")[:limit]
        return [(owner_of(*kept.owners[chosen[at]][:2]), float(similar[at])) for at in best]

    def _load_vectors(self, tx: Transaction, vector_set: VectorSet) -> _LoadedVectors:
        """All vectors of a set, read again when one has changed. Cost: four bytes a dimension, in memory."""
        key = (tx.row.born, vector_set.id, tx.row.generation, tx.row.vectors)
        with self._lock:
            if self._kept is None or self._kept.key != key or tx.taken:
                rows = tx.rows(
                    "SELECT v.path, v.paragraph, d.kind, v.chapter, v.embedding FROM {s}.vectors v LEFT JOIN "
                    "{s}.documents d ON d.project = v.project AND d.path = v.path AND v.paragraph >= 0 WHERE "
                    "v.project = %s AND v.number = %s AND v.state = 0 ORDER BY v.paragraph >= 0, v.path, v.paragraph",
                    (tx.project, vector_set.id),
                )
                units = unit_rows(self._form.read([row[4] for row in rows], vector_set.fingerprint.dimension))
                self._kept = _LoadedVectors(key, [tuple(row[:4]) for row in rows], units)
            return self._kept
