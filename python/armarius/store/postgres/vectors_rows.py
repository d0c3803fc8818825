"""Sets of vectors and their rows: an owner is a path and a paragraph, or an entity's id and -1.

Every function runs inside the transaction of the caller.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from armarius.errors import EmbeddingError, StoreCorrupt
from armarius.store.fingerprint import Fingerprint
from armarius.store.postgres.transaction import Transaction
from armarius.store.vectors_protocol import Owner, PendingText, SetState, Vectors, VectorSet

__all__ = [
    "EMBEDDED", "EMPTY", "ENTITY", "PENDING", "Form", "cards", "carry_cards", "drop_set", "keep", "left", "make_set",
    "owner_of", "sets",
]  # fmt: skip

EMBEDDED, PENDING, EMPTY = range(3)
ENTITY = -1
_INSERT = (
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
            StoreCorrupt: One is none, or of another length.
        """
        found = np.zeros((len(columns), dimension), np.float32)
        try:
            for row, column in zip(found, columns, strict=True):
                if isinstance(column, str):
                    row[:] = np.array(column[1:-1].split(","), np.float64)
                else:
                    row[:] = np.frombuffer(column, "<f4")
        except ValueError as error:
            raise StoreCorrupt(f"a vector is damaged: {error}") from error
        return found


def owner_of(path: str, paragraph: int) -> Owner:
    """The owner of a row: an entity id, or (path, paragraph)."""
    return path if paragraph == ENTITY else (path, paragraph)


def sets(tx: Transaction, project: UUID) -> dict[SetState, VectorSet]:
    """The sets by state."""
    found: dict[SetState, VectorSet] = {}
    query = "SELECT number, state, fingerprint FROM {s}.vector_sets WHERE project = %s"
    for number, state, fingerprint in tx.rows(query, (project,)):
        try:
            found[state] = VectorSet(number, state, Fingerprint.from_json(fingerprint))
        except EmbeddingError as error:
            raise StoreCorrupt(f"vector set {number} cannot be read: {error}") from error
    return found


def make_set(tx: Transaction, project: UUID, fingerprint: Fingerprint, state: SetState) -> VectorSet:
    """A new, empty set; its number never comes again."""
    number = tx.stir()
    tx.execute(
        "INSERT INTO {s}.vector_sets (project, number, state, fingerprint) VALUES (%s, %s, %s, %s)",
        (project, number, state, fingerprint.to_json()),
    )
    return VectorSet(number, state, fingerprint)


def drop_set(tx: Transaction, project: UUID, number: int) -> None:
    """Forget a set and its vectors."""
    tx.stir()
    tx.execute("DELETE FROM {s}.vectors WHERE project = %s AND number = %s", (project, number))
    tx.execute("DELETE FROM {s}.vector_sets WHERE project = %s AND number = %s", (project, number))


def left(tx: Transaction, project: UUID, number: int) -> int:
    """How many texts wait."""
    query = "SELECT count(*) FROM {s}.vectors WHERE project = %s AND number = %s AND state = 1"
    return int(tx.rows(query, (project, number))[0][0])


def cards(tx: Transaction, project: UUID, number: int) -> dict[str, bytes]:
    """Hash of the card of every entity of a set."""
    query = "SELECT path, text FROM {s}.vectors WHERE project = %s AND number = %s AND paragraph = -1"
    return {path: bytes(text) for path, text in tx.rows(query, (project, number))}


def carry_cards(tx: Transaction, project: UUID, number: int, wanted: Mapping[str, bytes]) -> None:
    """Bring the entities of a set to exactly these cards."""
    known = cards(tx, project, number)
    gone = sorted(known.keys() - wanted.keys())
    new = {path: text for path, text in wanted.items() if known.get(path) != text}
    if not gone and not new:
        return
    tx.stir()
    tx.execute(
        "DELETE FROM {s}.vectors WHERE project = %s AND number = %s AND paragraph = -1 AND path = ANY(%s)",
        (project, number, gone),
    )
    tx.many(_INSERT, [(project, number, path, ENTITY, text) for path, text in sorted(new.items())])


def keep(
    tx: Transaction, project: UUID, number: int, form: Form, texts: Sequence[PendingText], vectors: Vectors
) -> int:
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
        kept += len(tx.rows(query, (*values, project, number, path, paragraph, text.digest)))
    if kept:
        tx.stir()
    return kept
