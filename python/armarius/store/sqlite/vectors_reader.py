"""Reading the vectors of an index: search, changes, whose they are. Thread safe, each call one transaction."""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

import apsw
import numpy as np
from numpy.typing import NDArray

from armarius.embedders.protocol import Vectors
from armarius.store.sqlite import vectors_search as exact
from armarius.store.sqlite import vectors_sets as sets
from armarius.store.sqlite import vectors_table as table
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.packing import PARAGRAPH_BITS
from armarius.store.sqlite.vectors_search import Filter
from armarius.store.sqlite.vectors_sets import State, VectorSet
from armarius.store.sqlite.vectors_table import Change

__all__ = ["Counts", "Place", "SetGone", "Transactions", "VectorReader"]

_ENTITY = "SELECT id FROM entities WHERE ref = ?"
_PATH = "SELECT path FROM documents WHERE id = ?"
_INDEX = (1 << PARAGRAPH_BITS) - 1


class SetGone(LookupError):
    """The set was dropped, because another took over; look up the sets again."""


class Transactions(Protocol):
    """What a store lends: one snapshot to read, one transaction to write."""

    def reading(self) -> AbstractContextManager[apsw.Connection]:
        """A connection that sees one snapshot."""
        ...

    def writing(self, *, counted: bool = True) -> AbstractContextManager[apsw.Connection]:
        """A transaction: all or nothing; `counted` ones grow the generation of the store."""
        ...


@dataclass(frozen=True, slots=True)
class Counts:
    """How far a set is. `embedded` have a vector, `pending` wait, `empty` have nothing to embed."""

    embedded: int
    pending: int
    empty: int


@dataclass(frozen=True, slots=True)
class Place:
    """Whose vector it is: a paragraph of a document, or (path "") an entity."""

    path: str
    paragraph: int
    entity: str = ""


class VectorReader:
    """What can be asked about the vectors of a store.

    Args:
        transactions: The store's.
    """

    def __init__(self, transactions: Transactions) -> None:
        self._store = transactions

    def sets(self) -> dict[State, VectorSet]:
        """The set that answers and the one being filled, where there are such."""
        with self._store.reading() as connection:
            return sets.all_sets(connection)

    def counts(self, set_id: int) -> Counts:
        """How many owners have, await or lack a vector."""
        with self._store.reading() as connection:
            query = "SELECT state, count(*) FROM vectors WHERE vector_set = ? GROUP BY state"
            found = dict(all_rows(connection, query, (set_id,)))
        return Counts(found.get(table.EMBEDDED, 0), found.get(table.PENDING, 0), found.get(table.EMPTY, 0))

    def nearest(
        self, vector_set: VectorSet, vector: Vectors, limit: int, which: Filter | None
    ) -> list[tuple[int, float]]:
        """Exact search: owners and cosine similarities, best first.

        Raises:
            SetGone: Another set has taken over.
        """
        with self._reading(vector_set) as connection:
            return exact.nearest(connection, vector_set, vector, limit, which)

    def admitted(self, vector_set: VectorSet, owners: Sequence[int], which: Filter) -> set[int]:
        """Those of `owners` that have a vector and pass the filter; raises SetGone as `nearest`."""
        with self._reading(vector_set) as connection:
            return exact.admitted(connection, vector_set, owners, which)

    def changes(self, vector_set: VectorSet, after: int) -> tuple[int, list[Change]]:
        """What changed after the given number, and the number that this state has; raises SetGone as `nearest`."""
        with self._reading(vector_set) as connection:
            row = first_row(connection, "SELECT sequence FROM vector_sets WHERE id = ?", (vector_set.id,))
            return row[0], table.changes_since(connection, vector_set.id, after)

    def read(self, vector_set: VectorSet, slots: Sequence[int]) -> Vectors:
        """Vectors by slot: float32, shape (n, dimension); raises SetGone as `nearest`."""
        with self._reading(vector_set) as connection:
            return table.read_vectors(connection, vector_set, slots)

    def blocks(self, vector_set: VectorSet) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        """All slots and vectors by chunks of at most 1,024, each its own transaction; raises SetGone as `nearest`."""
        with self._reading(vector_set) as connection:
            numbers = table.chunk_numbers(connection, vector_set)
        for number in numbers:
            with self._reading(vector_set) as connection:
                block = table.read_chunk(connection, vector_set, number)
            yield block

    def places(self, owners: Sequence[int]) -> dict[int, Place]:
        """Whose vectors these are."""
        found: dict[int, Place] = {}
        with self._store.reading() as connection:
            for owner in owners:
                query = (
                    "SELECT id FROM entities WHERE ref = ?" if owner < 0 else "SELECT path FROM documents WHERE id = ?"
                )
                number = -owner if owner < 0 else owner >> PARAGRAPH_BITS
                row = first_row(connection, query, (number,))
                if row is not None:
                    found[owner] = Place("", 0, row[0]) if owner < 0 else Place(row[0], owner & _INDEX)
        return found

    def spans(self, owners: Sequence[int]) -> dict[int, tuple[str, int, int]]:
        """Path, start and end (code points) of those owners that are paragraphs."""
        query = (
            'SELECT p.id, d.path, p.start, p."end" FROM json_each(?) j CROSS JOIN paragraphs p ON p.id = j.value '  # noqa: S608
            f"JOIN documents d ON d.id = p.id >> {PARAGRAPH_BITS}"
        )
        with self._store.reading() as connection:
            rows = all_rows(connection, query, (json.dumps(list(owners)),))
        return {owner: (path, start, end) for owner, path, start, end in rows}

    def sample(self, vector_set: VectorSet, size: int) -> Vectors:
        """At most `size` vectors, spread evenly over the set; float32, shape (m, dimension); raises SetGone."""
        query = "SELECT slot FROM vectors WHERE vector_set = ? AND slot IS NOT NULL ORDER BY owner"
        with self._reading(vector_set) as connection:
            slots = [slot for (slot,) in all_rows(connection, query, (vector_set.id,))]
            return table.read_vectors(connection, vector_set, slots[:: max(1, -(-len(slots) // size))])

    @contextmanager
    def _reading(self, vector_set: VectorSet) -> Iterator[apsw.Connection]:
        with self._store.reading() as connection:
            if not first_row(connection, "SELECT 1 FROM vector_sets WHERE id = ?", (vector_set.id,)):
                raise SetGone(f"the vectors of {vector_set.fingerprint} were replaced")
            yield connection
