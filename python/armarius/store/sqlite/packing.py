"""A document as rows, and back; one hash over all of it, because a database file can rot where SQLite does not look."""

import hashlib
import json
import zlib
from collections.abc import Sequence
from typing import Any

import apsw

import armarius._core as _core
from armarius.documents.document import Document
from armarius.documents.front_matter import as_strings
from armarius.documents.segments import Paragraph, Role
from armarius.errors import StoreCorrupt
from armarius.store.sqlite.connection import all_rows, first_row

__all__ = [
    "PARAGRAPH_BITS",
    "ROLES",
    "document_hash",
    "full_text_rows",
    "insert_document",
    "read_document_rows",
    "remove_document",
    "unpack_front_matter",
    "unpack_text",
]

PARAGRAPH_BITS = 24  # a paragraph's id is document << 24 | index: 16 million paragraphs in a document
ROLES: tuple[Role, ...] = ("body", "heading", "front_matter")
_TEXT_LEVEL = 1  # zlib: 46 % of Chinese text at 60 MB/s; level 6 saves 2 % more at a third of the speed

_INSERT = (
    "INSERT INTO documents (id, path, version, kind, title, chapter, length, paragraphs, encoding, content_hash, "
    "front_matter, stamp, text, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def insert_document(
    connection: apsw.Connection, number: int | None, document: Document, stamp: str, version: int
) -> int:
    """Insert a document, its paragraphs and its full text; the id is `number`, or new."""
    text = zlib.compress(document.text.encode("utf-8", "surrogatepass"), _TEXT_LEVEL)
    front_matter = json.dumps(document.front_matter, ensure_ascii=False, sort_keys=True)
    connection.execute(
        _INSERT,
        (
            number, document.path, version, document.kind, document.title, document.chapter, len(document.text),
            len(document.paragraphs), document.encoding, document.content_hash, front_matter, stamp, text,
            document_hash(document, version),
        ),
    )  # fmt: skip
    number = connection.last_insert_rowid()
    base = number << PARAGRAPH_BITS
    headings: dict[tuple[str, ...], int] = {}
    rows = []
    for p in document.paragraphs:
        heading = headings.setdefault(p.heading_path, base + p.index)
        rows.append((base + p.index, p.chapter, p.start, p.end, ROLES.index(p.role), heading))
    connection.executemany("INSERT INTO paragraphs VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.executemany(
        "INSERT INTO headings VALUES (?, ?)",
        [(at, json.dumps(path, ensure_ascii=False)) for path, at in headings.items()],
    )
    connection.executemany(
        "INSERT INTO full_text (rowid, title, content, characters, tags) VALUES (?, ?, ?, ?, ?)",
        full_text_rows(document, base),
    )
    return number


def full_text_rows(document: Document, base: int) -> list[tuple[int, str, str, str, str]]:
    """What is indexed of each paragraph: a heading as title, front matter by its keys, anything else as content."""
    tokens = _core.index_tokens([document.text[p.start : p.end] for p in document.paragraphs])
    rows = []
    for p, found in zip(document.paragraphs, tokens, strict=True):
        if p.role == "heading":
            rows.append((base + p.index, found, "", "", ""))
        elif p.role == "front_matter":
            matter = document.front_matter
            fields = _core.index_tokens(
                ["、".join(as_strings(matter.get(key))) for key in ("title", "characters", "tags")]
            )
            rows.append((base + p.index, fields[0], found, fields[1], fields[2]))
        else:
            rows.append((base + p.index, "", found, "", ""))
    return rows


def remove_document(connection: apsw.Connection, path: str) -> int | None:
    """Remove a document and everything kept by its id; the id, or None when it was not there."""
    row = first_row(connection, "SELECT id FROM documents WHERE path = ?", (path,))
    if row is None:
        return None
    low, high = row[0] << PARAGRAPH_BITS, (row[0] + 1) << PARAGRAPH_BITS
    connection.execute("DELETE FROM learnt WHERE document = ?", (row[0],))
    connection.execute("DELETE FROM full_text WHERE rowid >= ? AND rowid < ?", (low, high))
    connection.execute("DELETE FROM paragraphs WHERE id >= ? AND id < ?", (low, high))
    connection.execute("DELETE FROM headings WHERE id >= ? AND id < ?", (low, high))
    connection.execute("DELETE FROM documents WHERE id = ?", (row[0],))
    return int(row[0])


def read_document_rows(connection: apsw.Connection, row: Sequence[Any]) -> Document:
    """A document from `(id, path, kind, title, chapter, encoding, content_hash, front_matter, text)`."""
    number, path, kind, title, chapter, encoding, content_hash, front_matter, text = row
    low, high = number << PARAGRAPH_BITS, (number + 1) << PARAGRAPH_BITS
    headings = {
        at: tuple(json.loads(titles))
        for at, titles in all_rows(connection, "SELECT id, path FROM headings WHERE id >= ? AND id < ?", (low, high))
    }
    paragraphs = tuple(
        Paragraph(at - low, start, end, headings[heading], ROLES[role], number_)
        for at, number_, start, end, role, heading in all_rows(
            connection,
            'SELECT id, chapter, start, "end", role, heading FROM paragraphs WHERE id >= ? AND id < ? ORDER BY id',
            (low, high),
        )
    )
    matter = unpack_front_matter(front_matter)
    return Document(path, kind, title, chapter, unpack_text(path, text), paragraphs, matter, encoding, content_hash)


def unpack_front_matter(column: str) -> dict[str, str | tuple[str, ...]]:
    """Front matter from its column."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(column).items()}


def unpack_text(path: str, data: bytes) -> str:
    """The text of a document from its column."""
    try:
        return zlib.decompress(data).decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError) as error:
        raise StoreCorrupt(f"text of {path} is damaged: {error}") from error


def document_hash(document: Document, version: int) -> bytes:
    """BLAKE2b-128 over everything that is stored of a document except its stamp."""
    digest = hashlib.blake2b(digest_size=16)
    head = (
        version, document.path, document.kind, document.title, document.chapter, document.encoding,
        document.content_hash, json.dumps(document.front_matter, ensure_ascii=False, sort_keys=True),
        [(p.start, p.end, p.role, p.chapter, p.heading_path) for p in document.paragraphs],
    )  # fmt: skip
    digest.update(repr(head).encode("utf-8", "surrogatepass"))
    digest.update(document.text.encode("utf-8", "surrogatepass"))
    return digest.digest()
