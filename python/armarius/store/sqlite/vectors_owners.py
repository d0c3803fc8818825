"""Owners as numbers: how the tables of vectors know a paragraph (its id) and an entity (minus its ref)."""

from collections.abc import Sequence

import apsw

from armarius.store.sqlite.connection import first_row
from armarius.store.sqlite.packing import PARAGRAPH_BITS
from armarius.store.vectors_protocol import Owner

__all__ = ["ENTITIES", "number_of", "owners_named", "owners_of"]

_INDEX = (1 << PARAGRAPH_BITS) - 1

ENTITIES = range(-(1 << 62), 0)
"""Owners that are entities."""


def owners_of(document: int) -> range:
    """Owners that are paragraphs of a document, by its id."""
    return range(document << PARAGRAPH_BITS, (document + 1) << PARAGRAPH_BITS)


def owners_named(connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, Owner]:
    """Who these are; those that are gone are left out."""
    found: dict[int, Owner] = {}
    paths: dict[int, str | None] = {}
    for number in numbers:
        if number < 0:
            row = first_row(connection, "SELECT id FROM entities WHERE ref = ?", (-number,))
            if row is not None:
                found[number] = str(row[0])
            continue
        document = number >> PARAGRAPH_BITS
        if document not in paths:
            row = first_row(connection, "SELECT path FROM documents WHERE id = ?", (document,))
            paths[document] = None if row is None else str(row[0])
        if (path := paths[document]) is not None:
            found[number] = (path, number & _INDEX)
    return found


def number_of(connection: apsw.Connection, owner: Owner) -> int | None:
    """The number of an owner; None when it is gone."""
    if isinstance(owner, str):
        row = first_row(connection, "SELECT ref FROM entities WHERE id = ?", (owner,))
        return None if row is None else -int(row[0])
    path, index = owner
    row = first_row(connection, "SELECT id FROM documents WHERE path = ?", (path,))
    return None if row is None or not 0 <= index <= _INDEX else (int(row[0]) << PARAGRAPH_BITS) + index
