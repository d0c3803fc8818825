"""Vectors during `apply`: carried with their texts, removed with them, queued for embedding."""

import zlib
from collections.abc import Iterable, Mapping
from uuid import UUID

import numpy as np

from armarius.documents.document import Document
from armarius.store.embedded_texts import embedded_texts, text_hash
from armarius.store.postgres.packing import read_documents
from armarius.store.postgres.transaction import Transaction
from armarius.store.postgres.vectors_rows import EMBEDDED, Form, sets
from armarius.store.vector_rows import usable_rows

__all__ = ["carry_documents", "fill", "forget_entities", "vector_problems"]

_COLUMNS = "project, number, path, paragraph, chapter, text, state"
_INSERT = f"INSERT INTO {{s}}.vectors ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, 1)"
_AWAY = 1 << 40  # where a paragraph number waits while another takes its place


def fill(tx: Transaction, project: UUID, number: int) -> None:
    """Everything that has a vector is pending in a new set."""
    documents = read_documents(tx, project, "true", ())
    tx.many(_INSERT, [(project, number, *row) for one in documents for row in _wanted(one)])


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
    found = []
    form = Form(pgvector=pgvector)
    for one in sets(tx, project).values():
        stored: dict[str, dict[int, bytes]] = {}
        damaged = 0
        columns = "path, paragraph, text, state, checksum, embedding"
        query = f"SELECT {columns} FROM {{s}}.vectors WHERE project = %s AND number = %s"
        for path, paragraph, text, state, checksum, embedding in tx.rows(query, (project, one.id)):
            if paragraph >= 0:
                stored.setdefault(path, {})[paragraph] = bytes(text)
            if state == EMBEDDED:
                vector = form.read([embedding], one.fingerprint.dimension)
                same = zlib.crc32(vector.astype("<f4").tobytes()) == checksum
                damaged += not same or not bool(np.all(usable_rows(vector)))
        found += [
            f"{document.path}: vectors of {one.fingerprint.name} belong to another text"
            for document in read_documents(tx, project, "true", ())
            if stored.pop(document.path, {}) != {row[1]: row[3] for row in _wanted(document)}
        ]
        found += [f"{path}: vectors of a document that is not there" for path in sorted(stored)]
        if damaged:
            found.append(f"{damaged} vectors of {one.fingerprint.name} do not match their checksum")
    return found


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
    held: dict[str, dict[int, tuple[bytes, int]]] = {}
    for path, paragraph, text, state in tx.rows(query, (project, number, paths)):
        held.setdefault(path, {})[paragraph] = (bytes(text), state)
    gone: list[tuple[str, int]] = []
    moved: list[tuple[str, int, int]] = []
    new: list[tuple[str, int, int | None, bytes]] = []
    chapters: list[tuple[int | None, str, int]] = []
    for path in paths:
        wanted = _wanted(documents[path]) if path in documents else []
        before = held.get(path, {})
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
    tx.many(f"DELETE FROM {{s}}.vectors {where}", [(project, number, *one) for one in gone])
    update = f"UPDATE {{s}}.vectors SET paragraph = %s {where}"
    tx.many(update, [(_AWAY + to, project, number, path, at) for path, at, to in moved])
    tx.many(update, [(to, project, number, path, _AWAY + to) for path, _, to in moved])
    tx.many(_INSERT, [(project, number, *row) for row in new])
    tx.many(
        f"UPDATE {{s}}.vectors SET chapter = %s {where} AND chapter IS DISTINCT FROM %s",
        [(chapter, project, number, path, index, chapter) for chapter, path, index in chapters],
    )
    if gone or moved or new:
        tx.stir()
