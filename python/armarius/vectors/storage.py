"""The vectors of one project's index: sets, texts to embed, search. Thread safe, each call one transaction."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import apsw
import numpy as np
from numpy.typing import NDArray

from armarius.errors import EmbeddingError
from armarius.store.connection import all_rows, first_row
from armarius.store.rows import PARAGRAPH_BITS, read_document_rows
from armarius.vectors import exact, sets, table
from armarius.vectors.ann_file import AnnFile
from armarius.vectors.base import Fingerprint, Vectors, require_same
from armarius.vectors.exact import Filter
from armarius.vectors.sets import State, VectorSet
from armarius.vectors.table import Change, Entry
from armarius.vectors.texts import embedded_texts, text_hash
from armarius.vectors.upkeep import DOCUMENT, ENTITIES, hashes_of, owners_of

__all__ = ["Counts", "Place", "SetGone", "VectorStorage"]

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


class VectorStorage:
    """Vectors of a store that keeps them beside its documents.

    Args:
        transactions: The store's.
        folder: Where approximate indexes are kept.
    """

    def __init__(self, transactions: Transactions, folder: Path) -> None:
        self._store = transactions
        self.folder = folder
        self._cards: dict[int, str] = {}

    def sets(self) -> dict[State, VectorSet]:
        """The set that answers and the one being filled, where there are such."""
        with self._store.reading() as connection:
            return sets.all_sets(connection)

    def adopt(self, fingerprint: Fingerprint) -> VectorSet:
        """The set that answers, made now (everything pending) when there is none.

        Raises:
            DimensionMismatch: The index holds vectors of another model.
        """
        with self._store.writing(counted=False) as connection:
            found = sets.all_sets(connection).get("serving")
            if found is not None:
                require_same(found.fingerprint, fingerprint)
                return found
            return self._fill(connection, sets.create(connection, fingerprint, "serving"))

    def build(self, fingerprint: Fingerprint) -> VectorSet:
        """The set being filled beside the one that answers; one of another model is dropped, one of this resumed."""
        with self._store.writing(counted=False) as connection:
            found = sets.all_sets(connection).get("building")
            if found is not None and found.fingerprint == fingerprint:
                return found
            if found is not None:
                sets.drop(connection, found)
            return self._fill(connection, sets.create(connection, fingerprint, "building"))

    def switch(self) -> None:
        """The set being filled answers from now on; the old one is dropped, in one transaction.

        Raises:
            EmbeddingError: It is not complete.
        """
        with self._store.writing(counted=False) as connection:
            building = sets.all_sets(connection).get("building")
            if building is not None and (left := len(table.pending(connection, building.id))):
                raise EmbeddingError(f"{building.fingerprint} cannot take over yet: {left} texts are not embedded")
            sets.switch(connection)

    def abandon(self) -> None:
        """Drop the set being filled."""
        with self._store.writing(counted=False) as connection:
            if building := sets.all_sets(connection).get("building"):
                sets.drop(connection, building)

    def set_cards(self, cards: Mapping[str, str]) -> None:
        """The card of every entity (id to text); changed ones become pending, those left out lose their vector."""
        with self._store.writing(counted=False) as connection:
            refs = dict(all_rows(connection, "SELECT id, ref FROM entities"))
            self._cards = {refs[entity]: text for entity, text in cards.items() if entity in refs}
            for vector_set in sets.all_sets(connection).values():
                self._carry_cards(connection, vector_set)

    def counts(self, set_id: int) -> Counts:
        """How many owners have, await or lack a vector."""
        with self._store.reading() as connection:
            query = "SELECT state, count(*) FROM vectors WHERE vector_set = ? GROUP BY state"
            found = dict(all_rows(connection, query, (set_id,)))
        return Counts(found.get(table.EMBEDDED, 0), found.get(table.PENDING, 0), found.get(table.EMPTY, 0))

    def pending(self, set_id: int, *, limit: int, first: Sequence[str] = ()) -> list[tuple[Entry, str]]:
        """The next texts to embed, with what each is for: entity cards, documents in `first`, then by path order."""
        with self._store.reading() as connection:
            known = json.dumps([-ref for ref in self._cards])
            query = (
                "SELECT owner, text FROM vectors WHERE vector_set = ? AND state = 1 AND (owner > 0 OR owner IN "  # noqa: S608
                f"(SELECT value FROM json_each(?))) ORDER BY {_rank(connection, first)}, owner LIMIT ?"
            )
            entries = [Entry(owner, text) for owner, text in all_rows(connection, query, (set_id, known, limit))]
            texts = self._texts(connection, [entry.owner for entry in entries])
        return [(entry, texts[entry.owner]) for entry in entries if text_hash(texts[entry.owner]) == entry.text]

    def put(self, vector_set: VectorSet, fingerprint: Fingerprint, entries: Sequence[Entry], vectors: Vectors) -> int:
        """Keep vectors of texts that have not changed meanwhile; the number kept.

        Raises:
            DimensionMismatch: Another model's.
            EmbeddingError: NaN or infinity.
        """
        require_same(vector_set.fingerprint, fingerprint)
        with self._store.writing(counted=False) as connection:
            current = {found.id for found in sets.all_sets(connection).values()}
            return table.store(connection, vector_set, entries, vectors) if vector_set.id in current else 0

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

    def purge(self, vector_set: VectorSet, sequence: int) -> None:
        """Drop the record of owners that went before `sequence`: no index needs to follow them any more."""
        with self._store.reading() as connection:
            query = "SELECT 1 FROM vectors WHERE vector_set = ? AND state = 3 AND change <= ? LIMIT 1"
            found = first_row(connection, query, (vector_set.id, sequence))
        if found:
            with self._store.writing(counted=False) as connection:
                query = "DELETE FROM vectors WHERE vector_set = ? AND state = 3 AND change <= ?"
                connection.execute(query, (vector_set.id, sequence))

    def remember_ann(self, vector_set: VectorSet, saved: AnnFile | None) -> None:
        """Note which file holds the approximate index."""
        with self._store.writing(counted=False) as connection:
            sets.remember_ann(connection, vector_set.id, saved)

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

    @contextmanager
    def _reading(self, vector_set: VectorSet) -> Iterator[apsw.Connection]:
        with self._store.reading() as connection:
            if not first_row(connection, "SELECT 1 FROM vector_sets WHERE id = ?", (vector_set.id,)):
                raise SetGone(f"the vectors of {vector_set.fingerprint} were replaced")
            yield connection

    def _fill(self, connection: apsw.Connection, vector_set: VectorSet) -> VectorSet:
        for row in all_rows(connection, DOCUMENT):
            document = read_document_rows(connection, row)
            table.carry(connection, vector_set, owners_of(row[0]), hashes_of(row[0], document))
        self._carry_cards(connection, vector_set)
        return vector_set

    def _carry_cards(self, connection: apsw.Connection, vector_set: VectorSet) -> None:
        hashes = {-ref: text_hash(text) for ref, text in self._cards.items()}
        table.carry(connection, vector_set, ENTITIES, hashes)

    def spans(self, owners: Sequence[int]) -> dict[int, tuple[str, int, int]]:
        """Path, start and end (code points) of those owners that are paragraphs."""
        query = (
            'SELECT p.id, d.path, p.start, p."end" FROM json_each(?) j JOIN paragraphs p ON p.id = j.value '  # noqa: S608
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

    def _texts(self, connection: apsw.Connection, owners: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        documents: dict[int, dict[int, str]] = {}
        for owner in owners:
            if owner < 0:
                found[owner] = self._cards.get(-owner, "")
                continue
            number = owner >> PARAGRAPH_BITS
            if number not in documents:
                row = first_row(connection, f"{DOCUMENT} WHERE id = ?", (number,))
                documents[number] = embedded_texts(read_document_rows(connection, row)) if row else {}
            found[owner] = documents[number].get(owner & _INDEX, "")
        return found


def _rank(connection: apsw.Connection, first: Sequence[str]) -> str:
    """SQL that puts entity cards first (few, and asked about most), then the documents of `first`, then the rest."""
    whens = ["WHEN owner < 0 THEN 0"]
    for rank, path in enumerate(first, 1):
        row = first_row(connection, "SELECT id FROM documents WHERE path = ?", (path,))
        if row is not None:
            whens.append(f"WHEN owner >> {PARAGRAPH_BITS} = {int(row[0])} THEN {rank}")
    return f"CASE {' '.join(whens)} ELSE 1000000 END"
