"""Sets of vectors and their rows; an owner is a path and a paragraph, or an entity's id and -1.

Every function runs inside the transaction of the caller.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from armarius.documents.document import Document
from armarius.errors import EmbeddingError, StoreCorrupt
from armarius.store.postgres.packing import read_documents
from armarius.store.postgres.session import Transaction
from armarius.store.vectors_protocol import (
    Fingerprint,
    Owner,
    PendingText,
    SetState,
    Vectors,
    VectorSet,
    embedded_texts,
    text_hash,
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


def sets(tx: Transaction, project: UUID) -> dict[SetState, VectorSet]:
    """The sets by state."""
    by_state: dict[SetState, VectorSet] = {}
    query = "SELECT number, state, fingerprint FROM {s}.vector_sets WHERE project = %s"
    for number, state, fingerprint in tx.rows(query, (project,)):
        try:
            by_state[state] = VectorSet(number, state, Fingerprint.from_json(fingerprint))
        except EmbeddingError as error:
            raise StoreCorrupt(f"vector set {number} cannot be read: {error}") from error
    return by_state


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
    hashes = cards(tx, project, number)
    gone = sorted(hashes.keys() - wanted.keys())
    new = {path: text for path, text in wanted.items() if hashes.get(path) != text}
    if not gone and not new:
        return
    tx.stir()
    tx.execute(
        "DELETE FROM {s}.vectors WHERE project = %s AND number = %s AND paragraph = -1 AND path = ANY(%s)",
        (project, number, gone),
    )
    tx.many(_INSERT_ENTITY, [(project, number, path, ENTITY, text) for path, text in sorted(new.items())])


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


_COLUMNS = "project, number, path, paragraph, chapter, text, state"
_INSERT_DOCUMENT = f"INSERT INTO {{s}}.vectors ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, 1)"
_AWAY = 1 << 40  # where a paragraph number waits while another takes its place


def fill(tx: Transaction, project: UUID, number: int) -> None:
    """Everything that has a vector is pending in a new set."""
    documents = read_documents(tx, project, "true", ())
    tx.many(_INSERT_DOCUMENT, [(project, number, *row) for doc in documents for row in _wanted(doc)])


def carry_documents(
    tx: Transaction, project: UUID, documents: Mapping[str, Document], paths: Iterable[str], numbers: Iterable[int]
) -> None:
    """Keep, move, forget and queue the vectors of documents that are replaced, or removed: those not in `documents`."""
    for number in numbers:
        _carry(tx, project, number, documents, list(paths))


def forget_entities(tx: Transaction, project: UUID, kept: Iterable[str]) -> None:
    """Forget the vectors of every entity that is not in `kept`."""
    tx.execute(
        "DELETE FROM {s}.vectors WHERE project = %s AND paragraph = -1 AND NOT path = ANY(%s)", (project, list(kept))
    )


def vector_problems(tx: Transaction, project: UUID, *, pgvector: bool) -> list[str]:
    """What is wrong with the vectors, as sentences: texts that are not the documents', and damaged vectors."""
    faults = []
    form = Form(pgvector=pgvector)
    for entry in sets(tx, project).values():
        stored: dict[str, dict[int, bytes]] = {}
        damaged = 0
        columns = "path, paragraph, text, state, checksum, embedding"
        query = f"SELECT {columns} FROM {{s}}.vectors WHERE project = %s AND number = %s"
        for path, paragraph, text, state, checksum, embedding in tx.rows(query, (project, entry.id)):
            if paragraph >= 0:
                stored.setdefault(path, {})[paragraph] = bytes(text)
            if state == EMBEDDED:
                vector = form.read([embedding], entry.fingerprint.dimension)
                same = zlib.crc32(vector.astype("<f4").tobytes()) == checksum
                damaged += not same or not bool(np.all(usable_rows(vector)))
        faults += [
            f"{document.path}: vectors of {entry.fingerprint.name} belong to another text"
            for document in read_documents(tx, project, "true", ())
            if stored.pop(document.path, {}) != {row[1]: row[3] for row in _wanted(document)}
        ]
        faults += [f"{path}: vectors of a document that is not there" for path in sorted(stored)]
        if damaged:
            faults.append(f"{damaged} vectors of {entry.fingerprint.name} do not match their checksum")
    return faults


def _wanted(document: Document) -> list[tuple[str, int, int | None, bytes]]:
    """Path, paragraph, chapter and hash of every text of a document that has a vector."""
    return [
        (document.path, index, document.paragraphs[index].chapter, text_hash(text))
        for index, text in embedded_texts(document).items()
    ]


def _carry(tx: Transaction, project: UUID, number: int, documents: Mapping[str, Document], paths: list[str]) -> None:
    query = (
        "SELECT path, paragraph, text, state FROM {s}.vectors WHERE project = %s AND number = %s AND paragraph >= 0 "
        "AND path = ANY(%s) ORDER BY path, paragraph"
    )
    by_path: dict[str, dict[int, tuple[bytes, int]]] = {}
    for path, paragraph, text, state in tx.rows(query, (project, number, paths)):
        by_path.setdefault(path, {})[paragraph] = (bytes(text), state)
    gone: list[tuple[str, int]] = []
    moved: list[tuple[str, int, int]] = []
    new: list[tuple[str, int, int | None, bytes]] = []
    chapters: list[tuple[int | None, str, int]] = []
    for path in paths:
        wanted = _wanted(documents[path]) if path in documents else []
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
    tx.many(f"DELETE FROM {{s}}.vectors {where}", [(project, number, *place) for place in gone])
    update = f"UPDATE {{s}}.vectors SET paragraph = %s {where}"
    tx.many(update, [(_AWAY + to, project, number, path, at) for path, at, to in moved])
    tx.many(update, [(to, project, number, path, _AWAY + to) for path, _, to in moved])
    tx.many(_INSERT_DOCUMENT, [(project, number, *row) for row in new])
    tx.many(
        f"UPDATE {{s}}.vectors SET chapter = %s {where} AND chapter IS DISTINCT FROM %s",
        [(chapter, project, number, path, index, chapter) for chapter, path, index in chapters],
    )
    if gone or moved or new:
        tx.stir()
