"""Reading the vectors of an index by number: search, changes, slots. Thread safe, each call one transaction."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import apsw
import numpy as np
from numpy.typing import NDArray

from armarius.store.sqlite import vectors_search as exact
from armarius.store.sqlite import vectors_sets as sets
from armarius.store.sqlite import vectors_table as table
from armarius.store.sqlite.ann_file import AnnFile
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.vectors_sets import SetRow
from armarius.store.sqlite.vectors_table import Change
from armarius.store.vectors_protocol import SetGone, SetState, VectorCounts, VectorFilter, Vectors, VectorSet

__all__ = ["Transactions", "VectorReader"]


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
            return sets.all_sets(connection)

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
            return exact.nearest(connection, vector_set, vector, limit, which)

    def admitted(self, vector_set: VectorSet, owners: Sequence[int], which: VectorFilter | None) -> set[int]:
        """Those of `owners` that have a vector and pass the filter; raises SetGone as `nearest`."""
        with self.reading(vector_set) as connection:
            return exact.admitted(connection, vector_set, owners, which)

    def changes(self, vector_set: VectorSet, after: int) -> tuple[int, list[Change]]:
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
            sets.remember_ann(connection, vector_set.id, saved)

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
