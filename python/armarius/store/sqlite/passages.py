"""Paragraphs out of SQLite, each with its text and where it stands."""

import json
from collections.abc import Sequence

import apsw

from armarius.store.rows import Passage, PassageKey
from armarius.store.sqlite.connection import first_row
from armarius.store.sqlite.packing import PARAGRAPH_BITS, ROLES, unpack_text

__all__ = ["read_passages"]


def read_passages(connection: apsw.Connection, keys: Sequence[PassageKey]) -> list[Passage]:
    """See `Store.passages`."""
    wanted: dict[str, list[int]] = {}
    for path, index in keys:
        wanted.setdefault(path, []).append(index)
    found: dict[PassageKey, Passage] = {}
    for path, indexes in wanted.items():
        row = first_row(connection, "SELECT id, kind, title, text FROM documents WHERE path = ?", (path,))
        if row is None:
            continue
        number, kind, title, packed = row
        text, base = unpack_text(path, packed), number << PARAGRAPH_BITS
        for index in indexes:
            paragraph = first_row(
                connection,
                'SELECT p.start, p."end", p.role, p.chapter, h.path FROM paragraphs p JOIN headings h '
                "ON h.id = p.heading WHERE p.id = ?",
                (base + index,),
            )
            if paragraph is None or not 0 <= index < 1 << PARAGRAPH_BITS:
                continue
            start, end, role, chapter, titles = paragraph
            heading = tuple(json.loads(titles))
            found[path, index] = Passage(
                path, index, kind, title, chapter, heading, ROLES[role], start, end, text[start:end]
            )
    return [found[key] for key in keys if key in found]
