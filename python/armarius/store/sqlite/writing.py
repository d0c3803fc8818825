"""One `apply`: every change of a list, inside the transaction of the caller."""

from collections.abc import Sequence
from dataclasses import astuple

import apsw

from armarius.documents.document import Document
from armarius.store.rows import Change, Graph, Learnt, Note, Put, Records, Remove, Restamp
from armarius.store.sqlite import generations
from armarius.store.sqlite.connection import first_row
from armarius.store.sqlite.graph import replace_graph
from armarius.store.sqlite.integrity import keep_hash
from armarius.store.sqlite.learnt import keep_learnt
from armarius.store.sqlite.packing import insert_document, remove_document

__all__ = ["write"]


def write(connection: apsw.Connection, changes: Sequence[Change], version: int) -> None:
    """Make the changes, in order; rows remember the generation `version`."""
    for change in changes:
        match change:
            case Put():
                _put(connection, change, version)
            case Remove(path):
                number = remove_document(connection, path)
                if number is not None:
                    generations.remember(connection, path, version)
                    _carry_vectors(connection, number, None)
            case Restamp(path, stamp):
                connection.execute("UPDATE documents SET stamp = ? WHERE path = ?", (stamp, path))
            case Note(key, value):
                connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", (key, value, version))
            case Graph():
                _replace_graph(connection, change)
            case Records():
                _replace_records(connection, change)
            case Learnt():
                keep_learnt(connection, change)
    if any(isinstance(change, Remove) for change in changes):
        generations.sweep(connection)


def _put(connection: apsw.Connection, change: Put, version: int) -> None:
    number = remove_document(connection, change.document.path)
    number = insert_document(connection, number, change.document, change.stamp, version)
    generations.forget(connection, change.document.path)
    _carry_vectors(connection, number, change.document)


def _replace_graph(connection: apsw.Connection, graph: Graph) -> None:
    if _has_vectors(connection):
        from armarius.store.sqlite.vectors_upkeep import forget_entities

        forget_entities(connection, {entity.id for entity in graph.entities})
    replace_graph(connection, graph.entities, graph.relations)
    keep_hash(connection, "graph")


def _replace_records(connection: apsw.Connection, change: Records) -> None:
    connection.execute("DELETE FROM records WHERE collection = ?", (change.collection,))
    connection.executemany(
        "INSERT INTO records VALUES (?, ?, ?)", [(change.collection, *astuple(record)) for record in change.records]
    )
    keep_hash(connection, "records")


def _carry_vectors(connection: apsw.Connection, number: int, document: Document | None) -> None:
    """No vector outlives its text. What handles vectors is loaded only where there are some."""
    if _has_vectors(connection):
        from armarius.store.sqlite.vectors_upkeep import carry_document

        carry_document(connection, number, document)


def _has_vectors(connection: apsw.Connection) -> bool:
    return first_row(connection, "SELECT 1 FROM vector_sets") is not None
