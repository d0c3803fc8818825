"""Documents as rows and back."""

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Any

import apsw

import armarius._core as _core
from armarius.documents.document import Document
from armarius.documents.segments import Paragraph, Role
from armarius.documents.titles import as_strings
from armarius.errors import StoreCorrupt
from armarius.store.sqlite.connection import all_rows

PARAGRAPH_BITS = 24  # a paragraph's id is document << 24 | index: 16 million paragraphs in a document
ROLES: tuple[Role, ...] = ("body", "heading", "front_matter")
_TEXT_LEVEL = 1  # zlib: 46 % of Chinese text at 60 MB/s; level 6 saves 2 % more at a third of the speed

_INSERT = (
    "INSERT INTO documents (id, path, version, kind, title, chapter, length, paragraphs, encoding, content_hash, "
    "front_matter, stamp, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

DOCUMENT = "SELECT id, path, kind, title, chapter, encoding, content_hash, front_matter, text FROM documents d"
"""What `read_document_rows` takes; further words of the statement follow."""

_PARAGRAPHS = 'SELECT id, chapter, start, "end", role, heading FROM paragraphs WHERE id >= ? AND id < ? ORDER BY id'
_HEADINGS = "SELECT id, path FROM headings WHERE id >= ? AND id < ? ORDER BY id"
_SPARSE = 4  # documents between the first and the last that are read, for each of those that are wanted


def insert_documents(connection: apsw.Connection, documents: Sequence[tuple[int, Document, str]], version: int) -> None:
    """Insert documents, each with its id and its stamp, with their paragraphs; their full text apart (`filling`).

    Cost: three statements, however many there are.
    """
    rows, paragraphs, headings = [], [], []
    for number, document, stamp in documents:
        base = number << PARAGRAPH_BITS
        text = zlib.compress(document.text.encode("utf-8", "surrogatepass"), _TEXT_LEVEL)
        front_matter = json.dumps(document.front_matter, ensure_ascii=False, sort_keys=True)
        rows.append(
            (
                number, document.path, version, document.kind, document.title, document.chapter, len(document.text),
                len(document.paragraphs), document.encoding, document.content_hash, front_matter, stamp, text,
            )
        )  # fmt: skip
        first: dict[tuple[str, ...], int] = {}
        for p in document.paragraphs:
            heading = first.setdefault(p.heading_path, base + p.index)
            paragraphs.append((base + p.index, p.chapter, p.start, p.end, ROLES.index(p.role), heading))
        headings += [(at, json.dumps(path, ensure_ascii=False)) for path, at in first.items()]
    connection.executemany(_INSERT, rows)
    connection.executemany("INSERT INTO paragraphs VALUES (?, ?, ?, ?, ?, ?)", paragraphs)
    connection.executemany("INSERT INTO headings VALUES (?, ?)", headings)


def full_text_rows(
    documents: Sequence[tuple[int, Document]], without: Mapping[int, Collection[int]]
) -> list[tuple[int, str, str, str, str]]:
    """What is indexed of each paragraph: a heading as title, front matter by its keys, anything else as content.

    Args:
        documents: By their ids.
        without: Document to the numbers of paragraphs that are left out.
    """
    wanted = [
        (number, one, [p for p in one.paragraphs if p.index not in without.get(number, ())])
        for number, one in documents
    ]
    tokens = iter(_core.index_tokens([one.text[p.start : p.end] for _, one, some in wanted for p in some]))
    rows = []
    for number, document, some in wanted:
        base, matter = number << PARAGRAPH_BITS, document.front_matter
        for p in some:
            found = next(tokens)
            if p.role == "heading":
                rows.append((base + p.index, found, "", "", ""))
            elif p.role == "front_matter":
                fields = _core.index_tokens(
                    ["、".join(as_strings(matter.get(key))) for key in ("title", "characters", "tags")]
                )
                rows.append((base + p.index, fields[0], found, fields[1], fields[2]))
            else:
                rows.append((base + p.index, "", found, "", ""))
    return rows


def remove_document(connection: apsw.Connection, number: int, stands: Collection[int] = ()) -> None:
    """Remove a document and everything kept by its id, but the full text of the paragraphs of which it `stands`."""
    low, high = number << PARAGRAPH_BITS, (number + 1) << PARAGRAPH_BITS
    connection.execute("DELETE FROM learnt WHERE document = ?", (number,))
    if stands:
        there = all_rows(connection, "SELECT id FROM paragraphs WHERE id >= ? AND id < ?", (low, high))
        gone = [(at,) for (at,) in there if at - low not in stands]
        connection.executemany("DELETE FROM full_text WHERE rowid = ?", gone)
    else:
        connection.execute("DELETE FROM full_text WHERE rowid >= ? AND rowid < ?", (low, high))
    connection.execute("DELETE FROM full_text_due WHERE document = ?", (number,))
    connection.execute("DELETE FROM paragraphs WHERE id >= ? AND id < ?", (low, high))
    connection.execute("DELETE FROM headings WHERE id >= ? AND id < ?", (low, high))
    connection.execute("DELETE FROM documents WHERE id = ?", (number,))


def read_document_rows(connection: apsw.Connection, row: Sequence[Any]) -> Document:
    """A document from a row of `DOCUMENT`."""
    number, path, kind, title, chapter, encoding, content_hash, front_matter, text = row
    low, high = number << PARAGRAPH_BITS, (number + 1) << PARAGRAPH_BITS
    rows, headings = all_rows(connection, _PARAGRAPHS, (low, high)), all_rows(connection, _HEADINGS, (low, high))
    paragraphs = _paragraphs(path, rows, headings)
    matter = unpack_front_matter(front_matter)
    return Document(path, kind, title, chapter, unpack_text(path, text), paragraphs, matter, encoding, content_hash)


def unread_documents(connection: apsw.Connection, rows: Sequence[Sequence[Any]]) -> list[Document]:
    """Documents from rows as `read_document_rows` takes them; text and paragraphs are unpacked later.

    Cost: 20 µs for a chapter, against 200 that it takes to read it.
    """
    found = []
    numbers = [row[0] for row in rows]
    paragraphs, headings = (_by_document(connection, query, numbers) for query in (_PARAGRAPHS, _HEADINGS))
    for number, path, kind, title, chapter, encoding, content_hash, front_matter, text in rows:
        document = Document.unread(
            _Packed(path, text, paragraphs.get(number, []), headings.get(number, [])),
            path=path,
            kind=kind,
            title=title,
            chapter=chapter,
            front_matter=unpack_front_matter(front_matter),
            encoding=encoding,
            content_hash=content_hash,
        )
        found.append(document)
    return found


def _by_document(connection: apsw.Connection, query: str, numbers: Sequence[int]) -> dict[int, list[Any]]:
    """Rows of several documents: by one statement, unless they are few among many."""
    if not numbers:
        return {}
    low, high = min(numbers), max(numbers) + 1
    if high - low > _SPARSE * len(numbers):
        spans = [(number << PARAGRAPH_BITS, (number + 1) << PARAGRAPH_BITS) for number in numbers]
        return {number: all_rows(connection, query, span) for number, span in zip(numbers, spans, strict=True)}
    rows = all_rows(connection, query, (low << PARAGRAPH_BITS, high << PARAGRAPH_BITS))
    return {number: list(inside) for number, inside in groupby(rows, key=lambda row: row[0] >> PARAGRAPH_BITS)}


class _Packed:
    """Text and paragraphs of a document as the rows hold them; see `documents.document.Unread`."""

    __slots__ = ("_headings", "_path", "_rows", "_text")

    def __init__(self, path: str, text: bytes, rows: list[Any], headings: list[Any]) -> None:
        self._path, self._text, self._rows, self._headings = path, text, rows, headings

    @property
    def paragraphs(self) -> int:
        return len(self._rows)

    def read(self) -> tuple[str, tuple[Paragraph, ...]]:
        return unpack_text(self._path, self._text), _paragraphs(self._path, self._rows, self._headings)


def _paragraphs(path: str, rows: Sequence[Any], headings: Sequence[Any]) -> tuple[Paragraph, ...]:
    """Paragraphs of a document from their rows."""
    first = (1 << PARAGRAPH_BITS) - 1
    try:
        paths = {at: tuple(json.loads(titles)) for at, titles in headings}
        return tuple(
            Paragraph(at & first, start, end, paths[heading], ROLES[role], number)
            for at, number, start, end, role, heading in rows
        )
    except (KeyError, IndexError, ValueError, TypeError, RecursionError) as error:
        raise StoreCorrupt(f"paragraphs of {path} are damaged: {error!r}") from error


def unpack_front_matter(column: str) -> dict[str, str | tuple[str, ...]]:
    """Front matter from its column; raises StoreCorrupt."""
    if column == "{}":
        return {}
    try:
        return {key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(column).items()}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreCorrupt(f"front matter is damaged: {error!r}") from error


def unpack_text(path: str, data: bytes) -> str:
    """The text of a document from its column."""
    try:
        return zlib.decompress(data).decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError) as error:
        raise StoreCorrupt(f"text of {path} is damaged: {error}") from error
