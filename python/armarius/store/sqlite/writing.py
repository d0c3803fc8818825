"""One `apply` on SQLite: every change of a list, inside the caller's transaction."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import astuple
from itertools import groupby

import apsw

from armarius.documents.document import Document
from armarius.store.rows import Change, DerivedRow, GraphRows, Note, Put, Records, Remove, Restamp
from armarius.store.sqlite import reading
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.fulltext import keep_full_text, standing
from armarius.store.sqlite.packing import insert_documents, remove_document
from armarius.store.sqlite.reading import replace_graph

__all__ = ["write"]


def write(connection: apsw.Connection, changes: Sequence[Change], version: int) -> None:
    """Make the changes, in order; rows remember the generation `version`.

    Cost: documents that follow each other are written together, and so is what was learnt.
    """
    for kind, some in groupby(changes, type):
        together = list(some)
        if kind is Put:
            _put(connection, [one for one in together if isinstance(one, Put)], version)
        elif kind is DerivedRow:
            _keep_learnt(connection, [one for one in together if isinstance(one, DerivedRow)])
        else:
            for change in together:
                _make(connection, change, version)
    if any(isinstance(change, Remove) for change in changes):
        reading.sweep(connection)


def _make(connection: apsw.Connection, change: Change, version: int) -> None:
    match change:
        case Remove(path):
            number = _ids(connection, [path]).get(path)
            if number is not None:
                remove_document(connection, number)
                reading.remember(connection, path, version)
                _carry_vectors(connection, [(number, None)])
        case Restamp(path, stamp, content):
            query = "UPDATE documents SET stamp = ? WHERE path = ? AND ? IN ('', content_hash)"
            connection.execute(query, (stamp, path, content))
        case Note(key, value):
            connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", (key, value, version))
        case GraphRows():
            _replace_graph(connection, change)
        case Records():
            _replace_records(connection, change)


def _put(connection: apsw.Connection, changes: Sequence[Put], version: int) -> None:
    """Documents in the place of those of their paths; the last of a path stays."""
    of_path = {change.document.path: change for change in changes}
    known = _ids(connection, list(of_path))
    free = itertools.count(first_row(connection, "SELECT coalesce(max(id), 0) FROM documents")[0] + 1)
    put = [(known.get(path) or next(free), change.document, change.stamp) for path, change in of_path.items()]
    numbered = [(number, document) for number, document, _ in put]
    stands = standing(connection, numbered)
    for number in known.values():
        remove_document(connection, number, stands.get(number, ()))
    insert_documents(connection, put, version)
    keep_full_text(connection, numbered, stands)
    reading.forget(connection, list(of_path))
    _carry_vectors(connection, numbered)


def _keep_learnt(connection: apsw.Connection, rows: Sequence[DerivedRow]) -> None:
    """Keep what was learnt; that of a path that is no document is dropped."""
    connection.executemany(
        "INSERT OR REPLACE INTO learnt SELECT id, ?, ?, ? FROM documents WHERE path = ?",
        [(row.kind, row.about, row.data, row.path) for row in rows],
    )


def _ids(connection: apsw.Connection, paths: Sequence[str]) -> dict[str, int]:
    """The ids of documents; unknown paths are left out."""
    query = "SELECT path, id FROM documents WHERE path IN (SELECT value FROM json_each(?))"
    return dict(all_rows(connection, query, (json.dumps(paths),)))


def _replace_graph(connection: apsw.Connection, graph: GraphRows) -> None:
    if _has_vectors(connection):
        from armarius.store.sqlite.vectors_rows import forget_entities

        forget_entities(connection, {entity.id for entity in graph.entities})
    replace_graph(connection, graph.entities, graph.relations)


def _replace_records(connection: apsw.Connection, change: Records) -> None:
    connection.execute("DELETE FROM records WHERE collection = ?", (change.collection,))
    connection.executemany(
        "INSERT INTO records VALUES (?, ?, ?)", [(change.collection, *astuple(record)) for record in change.records]
    )


def _carry_vectors(connection: apsw.Connection, documents: Sequence[tuple[int, Document | None]]) -> None:
    """No vector outlives its text. What handles vectors is loaded only where there are some."""
    if _has_vectors(connection):
        from armarius.store.sqlite.vectors_rows import carry_document

        for number, document in documents:
            carry_document(connection, number, document)


def _has_vectors(connection: apsw.Connection) -> bool:
    return first_row(connection, "SELECT 1 FROM vector_sets") is not None
