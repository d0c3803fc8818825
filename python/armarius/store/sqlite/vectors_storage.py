"""The vectors of one project's index: sets made, filled, switched. Thread safe, each call one transaction."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import apsw

from armarius.embedders.protocol import Fingerprint, Vectors, require_same
from armarius.errors import EmbeddingError
from armarius.semantic.ann_file import AnnFile
from armarius.semantic.texts import embedded_texts, text_hash
from armarius.store.sqlite import vectors_sets as sets
from armarius.store.sqlite import vectors_table as table
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.packing import PARAGRAPH_BITS, read_document_rows
from armarius.store.sqlite.vectors_reader import Transactions, VectorReader
from armarius.store.sqlite.vectors_sets import VectorSet
from armarius.store.sqlite.vectors_table import Entry
from armarius.store.sqlite.vectors_upkeep import (
    DOCUMENT,
    ENTITIES,
    hashes_of,
    owners_of,
)

__all__ = ["VectorStorage"]

_INDEX = (1 << PARAGRAPH_BITS) - 1


class VectorStorage(VectorReader):
    """Vectors of a store that keeps them beside its documents.

    Args:
        transactions: The store's.
        folder: Where approximate indexes are kept.
        below: The trusted folder that `folder` is reached from; see `armarius.files`.
    """

    def __init__(self, transactions: Transactions, folder: Path, *, below: Path | None = None) -> None:
        super().__init__(transactions)
        self.folder = folder
        self.below = below
        self._cards: dict[int, str] = {}

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

    def _fill(self, connection: apsw.Connection, vector_set: VectorSet) -> VectorSet:
        for row in all_rows(connection, DOCUMENT):
            document = read_document_rows(connection, row)
            table.carry(connection, vector_set, owners_of(row[0]), hashes_of(row[0], document))
        self._carry_cards(connection, vector_set)
        return vector_set

    def _carry_cards(self, connection: apsw.Connection, vector_set: VectorSet) -> None:
        hashes = {-ref: text_hash(text) for ref, text in self._cards.items()}
        table.carry(connection, vector_set, ENTITIES, hashes)

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
