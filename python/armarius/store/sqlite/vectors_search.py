"""Exact nearest neighbours inside the index, and the filters that every search obeys.

Cost: 2 to 3 ms per 1,000 vectors of 768 dimensions (sqlite-vec from PyPI has no SIMD). Runs inside the caller's
read transaction.
"""

import json
from collections.abc import Mapping, Sequence

import apsw
import numpy as np

from armarius.store.sqlite.connection import all_rows
from armarius.store.sqlite.packing import PARAGRAPH_BITS
from armarius.store.sqlite.vectors_sets import table_of
from armarius.store.sqlite.vectors_table import read_vectors
from armarius.store.vector_rows import unit_rows
from armarius.store.vectors_protocol import VectorFilter, Vectors, VectorSet

__all__ = ["admitted", "nearest", "slots_of"]

_FEW = 2048
LIMIT = 4096
"""sqlite-vec refuses more neighbours than this."""

Condition = tuple[str, tuple[object, ...]]


def _kind(which: VectorFilter) -> Condition:
    kinds = " " + " ".join(which.kinds) + " " if which.kinds else ""
    return "(? = '' OR instr(?, ' ' || d.kind || ' '))", (kinds, kinds)


def _chapter(which: VectorFilter) -> Condition:
    low, high = which.chapters
    return "(? IS NULL OR p.chapter >= ?) AND (? IS NULL OR p.chapter <= ?)", (low, low, high, high)


def _where(which: VectorFilter) -> Condition:
    """For a few owners `v`: one look-up each."""
    if which.entities:
        return "v.owner < 0", ()
    (kind, kinds), (chapter, bounds) = _kind(which), _chapter(which)
    clause = (
        "v.owner > 0 AND EXISTS (SELECT 1 FROM paragraphs p JOIN documents d ON d.id = p.id >> 24 WHERE "  # noqa: S608
        f"p.id = v.owner AND {kind} AND {chapter})"
    )
    return clause, (*kinds, *bounds)


def slots_of(vector_set: VectorSet, which: VectorFilter) -> Condition:
    """The query for all slots of a set that pass: from the documents that do to their paragraphs to their vectors.

    The plus keeps SQLite from the index by slot, which would be read to the end for each paragraph.
    """
    if which.entities:
        query = "SELECT slot FROM vectors WHERE vector_set = ? AND slot IS NOT NULL AND owner < 0"
        return query, (vector_set.id,)
    (kind, kinds), (chapter, bounds) = _kind(which), _chapter(which)
    query = (
        f"SELECT v.slot FROM documents d CROSS JOIN paragraphs p ON p.id >= d.id << {PARAGRAPH_BITS} "  # noqa: S608
        f"AND p.id < (d.id + 1) << {PARAGRAPH_BITS} AND {chapter} CROSS JOIN vectors v "
        f"ON v.vector_set = ? AND v.owner = p.id AND +v.slot IS NOT NULL WHERE {kind}"
    )
    return query, (*bounds, vector_set.id, *kinds)


def admitted(
    connection: apsw.Connection, vector_set: VectorSet, owners: Sequence[int], which: VectorFilter | None
) -> set[int]:
    """Those of `owners` that have a vector and pass the filter."""
    clause, values = ("1", ()) if which is None else _where(which)
    # CROSS JOIN: one look-up per owner; left to itself SQLite scans all vectors and parses the list for each
    query = (
        "SELECT v.owner FROM json_each(?) j CROSS JOIN vectors v ON v.vector_set = ? AND v.owner = j.value "  # noqa: S608
        f"WHERE v.slot IS NOT NULL AND {clause}"
    )
    rows = all_rows(connection, query, (json.dumps([int(owner) for owner in owners]), vector_set.id, *values))
    return {owner for (owner,) in rows}


def nearest(
    connection: apsw.Connection, vector_set: VectorSet, vector: Vectors, limit: int, which: VectorFilter | None
) -> list[tuple[int, float]]:
    """The nearest owners that pass the filter, with their cosine similarity, best first, ties by owner.

    Args:
        connection: Inside a read transaction.
        vector_set: Where to look.
        vector: float32, shape (dimension,), not zero.
        limit: At most so many, and at most 4,096.
        which: None compares with every vector.
    """
    condition = "live = 1"
    values: tuple[str, ...] = ()
    if which is not None:
        slots = [slot for (slot,) in all_rows(connection, *slots_of(vector_set, which))]
        if len(slots) <= _FEW:
            return _among(connection, vector_set, vector, limit, slots)
        condition, values = "live = 1 AND slot IN (SELECT value FROM json_each(?))", (json.dumps(slots),)
    query = f"SELECT slot, distance FROM {table_of(vector_set)} WHERE embedding MATCH ? AND k = ? AND {condition}"  # noqa: S608
    data = np.ascontiguousarray(vector, "<f4").tobytes()
    found = all_rows(connection, query, (data, min(limit, LIMIT), *values)) if limit > 0 else []
    return _owned(connection, vector_set, {slot: 1.0 - distance for slot, distance in found if distance is not None})


def _among(
    connection: apsw.Connection, vector_set: VectorSet, vector: Vectors, limit: int, slots: Sequence[int]
) -> list[tuple[int, float]]:
    """The nearest of a few slots: read one by one, for sqlite-vec reads every vector whatever the filter."""
    if limit < 1 or not slots:
        return []
    similarities = unit_rows(read_vectors(connection, vector_set, slots)) @ unit_rows(vector[None])[0]
    best = np.argsort(-similarities, kind="stable")
    least = similarities[best[min(limit, len(best)) - 1]]
    found = {slots[row]: float(similarities[row]) for row in best if similarities[row] >= least}
    return _owned(connection, vector_set, found)[:limit]


def _owned(connection: apsw.Connection, vector_set: VectorSet, found: Mapping[int, float]) -> list[tuple[int, float]]:
    query = "SELECT slot, owner FROM vectors WHERE vector_set = ? AND slot IN (SELECT value FROM json_each(?))"
    owners = dict(connection.execute(query, (vector_set.id, json.dumps(list(found)))))
    pairs = [(owners[slot], value) for slot, value in found.items() if slot in owners]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
