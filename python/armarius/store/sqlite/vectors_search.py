"""Search of the vectors of an index: exact nearest neighbours, the filters that every search obeys, reading by number.

Cost: 2 to 3 ms per 1,000 vectors of 768 dimensions (sqlite-vec from PyPI has no SIMD).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import apsw
import numpy as np
from numpy.typing import NDArray

from armarius.store.sqlite import vectors_rows as table
from armarius.store.sqlite.ann import AnnFile
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.packing import PARAGRAPH_BITS
from armarius.store.sqlite.vectors_rows import SetRow, VectorChange, read_vectors, table_of
from armarius.store.vector_rows import unit_rows
from armarius.store.vectors_protocol import SetGone, SetState, VectorCounts, VectorFilter, Vectors, VectorSet

__all__ = ["Transactions", "VectorReader", "admitted", "nearest", "slots_of"]

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
    """The nearest of a few slots, read one by one: sqlite-vec would read all vectors despite the filter."""
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


class Transactions(Protocol):
    """What a store lends: one snapshot to read, one transaction to write."""

    def reading(self) -> AbstractContextManager[apsw.Connection]:
        """A connection that sees one snapshot."""
        ...

    def writing(self) -> AbstractContextManager[apsw.Connection]:
        """A transaction: all or nothing."""
        ...


class VectorReader:
    """What the approximate index needs to know of the vectors of a store.

    Args:
        transactions: The store's.
    """

    def __init__(self, transactions: Transactions) -> None:
        self._store = transactions

    def sets(self) -> dict[SetState, SetRow]:
        """The set that answers and the one being filled, where there are such."""
        with self._store.reading() as connection:
            return table.all_sets(connection)

    def counts(self, set_id: int) -> VectorCounts:
        """See `VectorStore`."""
        with self._store.reading() as connection:
            query = "SELECT state, count(*) FROM vectors WHERE vector_set = ? GROUP BY state"
            found = dict(all_rows(connection, query, (set_id,)))
        return VectorCounts(found.get(table.EMBEDDED, 0), found.get(table.PENDING, 0), found.get(table.EMPTY, 0))

    def nearest(
        self, vector_set: VectorSet, vector: Vectors, limit: int, which: VectorFilter | None
    ) -> list[tuple[int, float]]:
        """Exact search: owners and cosine similarities, best first.

        Raises:
            SetGone: Another set has taken over.
        """
        with self.reading(vector_set) as connection:
            return nearest(connection, vector_set, vector, limit, which)

    def admitted(self, vector_set: VectorSet, owners: Sequence[int], which: VectorFilter | None) -> set[int]:
        """Those of `owners` that have a vector and pass the filter; raises SetGone as `nearest`."""
        with self.reading(vector_set) as connection:
            return admitted(connection, vector_set, owners, which)

    def changes(self, vector_set: VectorSet, after: int) -> tuple[int, list[VectorChange]]:
        """What changed after the given number, and the number that this state has; raises SetGone as `nearest`."""
        with self.reading(vector_set) as connection:
            row = first_row(connection, "SELECT sequence FROM vector_sets WHERE id = ?", (vector_set.id,))
            return row[0], table.changes_since(connection, vector_set.id, after)

    def read(self, vector_set: VectorSet, slots: Sequence[int]) -> Vectors:
        """Vectors by slot: float32, shape (n, dimension); raises SetGone as `nearest`."""
        with self.reading(vector_set) as connection:
            return table.read_vectors(connection, vector_set, slots)

    def blocks(self, vector_set: VectorSet) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        """All slots and vectors by chunks of at most 1,024, each its own transaction; raises SetGone as `nearest`."""
        with self.reading(vector_set) as connection:
            numbers = table.chunk_numbers(connection, vector_set)
        for number in numbers:
            with self.reading(vector_set) as connection:
                block = table.read_chunk(connection, vector_set, number)
            yield block

    def purge(self, vector_set: VectorSet, sequence: int) -> None:
        """Drop the record of owners that went before `sequence`: no index needs to follow them any more."""
        with self._store.reading() as connection:
            query = "SELECT 1 FROM vectors WHERE vector_set = ? AND state = 3 AND change <= ? LIMIT 1"
            found = first_row(connection, query, (vector_set.id, sequence))
        if found:
            with self._store.writing() as connection:
                query = "DELETE FROM vectors WHERE vector_set = ? AND state = 3 AND change <= ?"
                connection.execute(query, (vector_set.id, sequence))

    def remember_ann(self, vector_set: VectorSet, saved: AnnFile | None) -> None:
        """Note which file holds the approximate index."""
        with self._store.writing() as connection:
            table.remember_ann(connection, vector_set.id, saved)

    @contextmanager
    def reading(self, vector_set: VectorSet) -> Iterator[apsw.Connection]:
        """A snapshot in which the set is there.

        Raises:
            SetGone: It is not.
        """
        with self._store.reading() as connection:
            if not first_row(connection, "SELECT 1 FROM vector_sets WHERE id = ?", (vector_set.id,)):
                raise SetGone(f"the vectors of {vector_set.fingerprint} were replaced")
            yield connection
