"""`VectorStore` over PostgreSQL: exact within one project, compared by pgvector, or in the worker where that is not.

One index over all projects would find nothing in most of them: its nearest are of others. A project is small enough to
be compared whole.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np

from armarius.errors import EmbeddingError
from armarius.store.postgres import vectors_rows as rows
from armarius.store.postgres.packing import read_documents
from armarius.store.postgres.session import PostgresSession, Transaction
from armarius.store.postgres.vectors_rows import fill, owner_of
from armarius.store.postgres.writing import read_entities
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
)


@dataclass(frozen=True, slots=True)
class _Kept:
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


def _passes(owner: tuple[str, int, str | None, int | None], which: VectorFilter | None) -> bool:
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
        self._key = session.project
        self._form = rows.Form(pgvector=pgvector)
        self._lock = threading.Lock()
        self._kept: _Kept | None = None
        self._cards: dict[str, str] = {}
        self._owner = uuid4().hex

    def lease(self, seconds: float) -> bool:
        """See `Leasing`. A column of the project row, not a lock: it expires after a killed process."""
        if not self._session.look().born:
            return False
        with self._session.writing() as tx:
            tx.keep()
            return bool(
                tx.rows(
                    "UPDATE {s}.projects SET lease_owner = %s, lease_until = now() + make_interval(secs => %s) "
                    "WHERE project = %s AND (lease_owner = %s OR lease_until IS NULL OR lease_until < now()) "
                    "RETURNING 1",
                    (self._owner, seconds, self._key, self._owner),
                )
            )

    def release(self) -> None:
        """See `Leasing`."""
        with self._session.writing() as tx:
            tx.keep()
            tx.execute(
                "UPDATE {s}.projects SET lease_owner = NULL, lease_until = NULL "
                "WHERE project = %s AND lease_owner = %s",
                (self._key, self._owner),
            )

    def sets(self) -> Mapping[SetState, VectorSet]:
        """See `VectorStore`."""
        with self._session.reading() as tx:
            return rows.sets(tx, self._key)

    def counts(self, set_id: int) -> VectorCounts:
        """See `VectorStore`."""
        with self._session.reading() as tx:
            totals = dict(
                tx.rows(
                    "SELECT state, count(*) FROM {s}.vectors WHERE project = %s AND number = %s GROUP BY state",
                    (self._key, set_id),
                )
            )
        return VectorCounts(totals.get(rows.EMBEDDED, 0), totals.get(rows.PENDING, 0), totals.get(rows.EMPTY, 0))

    def adopt(self, fingerprint: Fingerprint) -> VectorSet:
        """See `VectorStore`."""
        with self._session.writing() as tx:
            entry = rows.sets(tx, self._key).get("serving")
            if entry is not None:
                require_same(entry.fingerprint, fingerprint)
                return entry
            return self._filled(tx, rows.make_set(tx, self._key, fingerprint, "serving"))

    def build(self, fingerprint: Fingerprint) -> VectorSet:
        """See `VectorStore`."""
        with self._session.writing() as tx:
            entry = rows.sets(tx, self._key).get("building")
            if entry is not None and entry.fingerprint == fingerprint:
                return entry
            if entry is not None:
                rows.drop_set(tx, self._key, entry.id)
            return self._filled(tx, rows.make_set(tx, self._key, fingerprint, "building"))

    def switch(self) -> None:
        """See `VectorStore`."""
        with self._session.writing() as tx:
            sets = rows.sets(tx, self._key)
            building = sets.get("building")
            if building is None:
                return
            if left := rows.left(tx, self._key, building.id):
                raise EmbeddingError(f"{building.fingerprint} cannot take over yet: {left} texts are not embedded")
            if "serving" in sets:
                rows.drop_set(tx, self._key, sets["serving"].id)
            tx.stir()
            tx.execute(
                "UPDATE {s}.vector_sets SET state = 'serving' WHERE project = %s AND number = %s",
                (self._key, building.id),
            )

    def abandon(self) -> None:
        """See `VectorStore`."""
        with self._session.writing() as tx:
            if entry := rows.sets(tx, self._key).get("building"):
                rows.drop_set(tx, self._key, entry.id)

    def set_cards(self, cards: Mapping[str, str]) -> None:
        """See `VectorStore`."""
        self._cards = dict(cards)
        with self._session.reading() as tx:
            ids = read_entities(tx, self._key)
            sets = rows.sets(tx, self._key)
            wanted = {id_: text_hash(text) for id_, text in cards.items() if id_ in ids}
            same = all(rows.cards(tx, self._key, entry.id) == wanted for entry in sets.values())
        if sets and not same:
            with self._session.writing() as tx:
                for entry in rows.sets(tx, self._key).values():
                    rows.carry_cards(tx, self._key, entry.id, wanted)

    def pending(self, set_id: int, *, limit: int, first: Sequence[str] = ()) -> list[PendingText]:
        """See `VectorStore`."""
        with self._session.reading() as tx:
            records = tx.rows(
                "SELECT path, paragraph, text FROM {s}.vectors WHERE project = %s AND number = %s AND state = 1 "
                "AND (paragraph >= 0 OR path = ANY(%s)) ORDER BY paragraph >= 0, "
                "array_position(%s::text[], path::text) NULLS LAST, path, paragraph LIMIT %s",
                (self._key, set_id, list(self._cards), list(first), limit),
            )
            paths = sorted({path for path, paragraph, _ in records if paragraph >= 0})
            documents = read_documents(tx, self._key, "d.path = ANY(%s)", (paths,)) if paths else []
        texts: dict[Owner, str] = {
            (doc.path, number): text for doc in documents for number, text in embedded_texts(doc).items()
        }
        texts.update(self._cards)
        waiting = []
        for path, paragraph, digest in records:
            owner = rows.owner_of(path, paragraph)
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
            if all(entry.id != vector_set.id for entry in rows.sets(tx, self._key).values()):
                return 0
            return rows.keep(tx, self._key, vector_set.id, self._form, texts, vectors)

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
            search = self._on_the_server if self._form.pgvector else self._in_the_worker
            pairs = search(tx, vector_set, vector, limit, which)
        return sorted(pairs, key=lambda pair: (-pair[1], owner_order(pair[0])))

    def sample(self, vector_set: VectorSet, size: int) -> Vectors:
        """See `VectorStore`."""
        with self._session.reading() as tx:
            self._check(tx, vector_set)
            values: tuple[Any, ...] = (self._key, vector_set.id)
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

    def _filled(self, tx: Transaction, made: VectorSet) -> VectorSet:
        fill(tx, self._key, made.id)
        ids = read_entities(tx, self._key)
        wanted = {id_: text_hash(text) for id_, text in self._cards.items() if id_ in ids}
        rows.carry_cards(tx, self._key, made.id, wanted)
        return made

    def _check(self, tx: Transaction, vector_set: VectorSet) -> None:
        if all(entry.id != vector_set.id for entry in rows.sets(tx, self._key).values()):
            raise SetGone(f"{vector_set.fingerprint} has been replaced")

    def _on_the_server(
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
            (column, self._key, vector_set.id, *values, limit),
        )
        return [(owner_of(path, paragraph), 1.0 - distance) for path, paragraph, distance in rows]

    def _in_the_worker(
        self, tx: Transaction, vector_set: VectorSet, vector: Vectors, limit: int, which: VectorFilter | None
    ) -> list[tuple[Owner, float]]:
        kept = self._loaded(tx, vector_set)
        chosen = [at for at, owner in enumerate(kept.owners) if _passes(owner, which)]
        if not chosen:
            return []
        similar = kept.units[chosen] @ unit_rows(np.asarray(vector, np.float32)[None])[0]
        best = np.argsort(-similar, kind="stable")[:limit]
        return [(owner_of(*kept.owners[chosen[at]][:2]), float(similar[at])) for at in best]

    def _loaded(self, tx: Transaction, vector_set: VectorSet) -> _Kept:
        """All vectors of a set, read again when one has changed. Cost: four bytes a dimension, in memory."""
        key = (tx.row.born, vector_set.id, tx.row.generation, tx.row.vectors)
        with self._lock:
            if self._kept is None or self._kept.key != key or tx.taken:
                rows = tx.rows(
                    "SELECT v.path, v.paragraph, d.kind, v.chapter, v.embedding FROM {s}.vectors v LEFT JOIN "
                    "{s}.documents d ON d.project = v.project AND d.path = v.path AND v.paragraph >= 0 WHERE "
                    "v.project = %s AND v.number = %s AND v.state = 0 ORDER BY v.paragraph >= 0, v.path, v.paragraph",
                    (self._key, vector_set.id),
                )
                units = unit_rows(self._form.read([row[4] for row in rows], vector_set.fingerprint.dimension))
                self._kept = _Kept(key, [tuple(row[:4]) for row in rows], units)
            return self._kept
