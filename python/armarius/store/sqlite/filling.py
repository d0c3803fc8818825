"""Full text that is written later: it takes as long as all else of a first index, and only a search reads it.

A document that is written alone has its full text at once. Of many, the index notes that theirs is due; whoever
searches writes it first, and an open index does so by itself as soon as nobody waits for it (`docs/decisions/0183`).
"""

from collections.abc import Sequence
from typing import Final

import apsw

from armarius.documents.document import Document
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.packing import full_text_rows, read_document_rows

__all__ = ["fill", "is_due", "keep_full_text"]

# More than this of documents or of paragraphs in one write is put off: a saved chapter never is.
_DOCUMENTS: Final = 4
_PARAGRAPHS: Final = 512
_AT_ONCE: Final = 128  # documents in one transaction, and their paragraphs at most a few thousand
_DUE: Final = (
    "SELECT d.id, path, kind, title, chapter, encoding, content_hash, front_matter, text FROM full_text_due "
    "JOIN documents d ON d.id = full_text_due.document ORDER BY d.id LIMIT ?"
)


def keep_full_text(connection: apsw.Connection, documents: Sequence[tuple[int, Document]]) -> None:
    """Write the full text of documents by their ids, or note that it is due."""
    if len(documents) > _DOCUMENTS or sum(len(one.paragraphs) for _, one in documents) > _PARAGRAPHS:
        rows = [(number,) for number, _ in documents]
        connection.executemany("INSERT INTO full_text_due VALUES (?)", rows)
    else:
        _write(connection, documents)


def is_due(connection: apsw.Connection) -> bool:
    """Whether the full text of some document is still to be written."""
    return first_row(connection, "SELECT 1 FROM full_text_due LIMIT 1") is not None


def fill(connection: apsw.Connection) -> None:
    """Write what is due of some documents, inside a write transaction."""
    rows = all_rows(connection, _DUE, (_AT_ONCE,))
    _write(connection, [(row[0], read_document_rows(connection, row)) for row in rows])
    if rows:
        connection.execute("DELETE FROM full_text_due WHERE document <= ?", (rows[-1][0],))
    else:  # noted of documents that are not there
        connection.execute("DELETE FROM full_text_due")


def _write(connection: apsw.Connection, documents: Sequence[tuple[int, Document]]) -> None:
    connection.executemany(
        "INSERT INTO full_text (rowid, title, content, characters, tags) VALUES (?, ?, ?, ?, ?)",
        full_text_rows(documents),
    )
