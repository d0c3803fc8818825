"""Full text that is written later: it takes as long as all else of a first index, and only a search reads it.

A document that is written alone has its full text at once, of the paragraphs that are others than before. Of many, the
index notes that theirs is due; whoever searches writes it first, and an open index does so by itself as soon as nobody
waits for it (`docs/decisions/0183`).
"""

from collections.abc import Mapping, Sequence
from typing import Final

import apsw

from armarius.documents.document import Document
from armarius.documents.segments import Paragraph
from armarius.errors import StoreCorrupt
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.packing import full_text_rows, read_document_rows

__all__ = ["fill", "is_due", "keep_full_text", "standing"]

# More than this of documents or of paragraphs in one write is put off: a saved chapter never is.
_DOCUMENTS: Final = 4
_PARAGRAPHS: Final = 512
_AT_ONCE: Final = 128  # documents in one transaction, and their paragraphs at most a few thousand
_DUE: Final = (
    "SELECT d.id, path, kind, title, chapter, encoding, content_hash, front_matter, text FROM full_text_due "
    "JOIN documents d ON d.id = full_text_due.document ORDER BY d.id LIMIT ?"
)
_WRITTEN: Final = (
    "SELECT d.id, path, kind, title, chapter, encoding, content_hash, front_matter, text FROM documents d "
    "LEFT JOIN full_text_due ON d.id = full_text_due.document WHERE d.id = ? AND full_text_due.document IS NULL"
)

Standing = Mapping[int, frozenset[int]]
"""Document to the paragraphs of it whose full text stands, by number."""


def standing(connection: apsw.Connection, documents: Sequence[tuple[int, Document]]) -> Standing:
    """What need not be written again when these documents are written over, each by its id; ask before they are.

    Cost: for a chapter half a millisecond, against 10 to write all of it.
    """
    if len(documents) > _DOCUMENTS:
        return {}
    found = {number: _same(connection, number, document) for number, document in documents}
    put_off = sum(len(one.paragraphs) - len(found[number]) for number, one in documents) > _PARAGRAPHS
    return {} if put_off else found


def keep_full_text(connection: apsw.Connection, documents: Sequence[tuple[int, Document]], stands: Standing) -> None:
    """Write the full text of documents by their ids, but what stands, or note that it is due."""
    paragraphs = sum(len(one.paragraphs) - len(stands.get(number, ())) for number, one in documents)
    if len(documents) > _DOCUMENTS or paragraphs > _PARAGRAPHS:
        rows = [(number,) for number, _ in documents]
        connection.executemany("INSERT INTO full_text_due VALUES (?)", rows)
    else:
        _write(connection, documents, stands)


def is_due(connection: apsw.Connection) -> bool:
    """Whether the full text of some document is still to be written."""
    return first_row(connection, "SELECT 1 FROM full_text_due LIMIT 1") is not None


def fill(connection: apsw.Connection) -> None:
    """Write what is due of some documents, inside a write transaction."""
    rows = all_rows(connection, _DUE, (_AT_ONCE,))
    _write(connection, [(row[0], read_document_rows(connection, row)) for row in rows], {})
    if rows:
        connection.execute("DELETE FROM full_text_due WHERE document <= ?", (rows[-1][0],))
    else:  # noted of documents that are not there
        connection.execute("DELETE FROM full_text_due")


def _write(connection: apsw.Connection, documents: Sequence[tuple[int, Document]], stands: Standing) -> None:
    connection.executemany(
        "INSERT INTO full_text (rowid, title, content, characters, tags) VALUES (?, ?, ?, ?, ?)",
        full_text_rows(documents, stands),
    )


def _same(connection: apsw.Connection, number: int, document: Document) -> frozenset[int]:
    """The paragraphs that read as those in the same places of what is there."""
    row = first_row(connection, _WRITTEN, (number,))
    if row is None or row[6] == document.content_hash:  # written anew for the sake of something else
        return frozenset()
    try:
        before = read_document_rows(connection, row)
    except StoreCorrupt:  # and written over, whole
        return frozenset()
    pairs = zip(before.paragraphs, document.paragraphs, strict=False)
    return frozenset(new.index for old, new in pairs if _indexed(before, old) == _indexed(document, new))


def _indexed(document: Document, paragraph: Paragraph) -> tuple[object, ...]:
    matter = document.front_matter if paragraph.role == "front_matter" else None
    return paragraph.index, paragraph.role, document.text[paragraph.start : paragraph.end], matter
