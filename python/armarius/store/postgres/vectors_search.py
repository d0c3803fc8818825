"""The nearest vectors of one project, exactly: on the server by pgvector, else in the worker.

One index over all projects would find nothing in most of them: its nearest are of others. A project is small enough to
be compared whole.
"""

import threading
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np

from armarius.store.postgres.transaction import Transaction
from armarius.store.postgres.vectors_rows import Form, owner_of
from armarius.store.vector_rows import unit_rows
from armarius.store.vectors_protocol import Owner, VectorFilter, Vectors, VectorSet, owner_order

__all__ = ["VectorQueries"]


@dataclass(frozen=True, slots=True)
class _Kept:
    """All vectors of a set in memory: `owners` path, paragraph, kind and chapter, `units` float32 (n, dimension)."""

    key: tuple[int, ...]
    owners: list[tuple[str, int, str | None, int | None]]
    units: Vectors


class VectorQueries:
    """Threads may share it.

    Args:
        project: The key.
        form: How vectors stand in their column; those of pgvector are compared on the server.
    """

    def __init__(self, project: UUID, form: Form) -> None:
        self._project = project
        self._form = form
        self._lock = threading.Lock()
        self._kept: _Kept | None = None

    def nearest(
        self, tx: Transaction, vector_set: VectorSet, vector: Vectors, limit: int, which: VectorFilter | None
    ) -> list[tuple[Owner, float]]:
        """See `VectorStore.nearest`."""
        if limit < 1:
            return []
        if self._form.pgvector:
            found = self._on_the_server(tx, vector_set, vector, limit, which)
        else:
            found = self._in_the_worker(tx, vector_set, vector, limit, which)
        return sorted(found, key=lambda pair: (-pair[1], owner_order(pair[0])))

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
            (column, self._project, vector_set.id, *values, limit),
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
                    (self._project, vector_set.id),
                )
                units = unit_rows(self._form.read([row[4] for row in rows], vector_set.fingerprint.dimension))
                self._kept = _Kept(key, [tuple(row[:4]) for row in rows], units)
            return self._kept


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
