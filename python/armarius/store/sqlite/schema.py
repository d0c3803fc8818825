"""The schema of an index file, its full text included. An index of an earlier schema is built again.

Writing full text takes half of the time of a first index, and only `search` reads it. A single document is written at
once, only its changed paragraphs. For many documents the work is deferred and noted in the index: a search does it
first, and an open index does it in the background (`docs/decisions/0183`).
"""

import json
import zlib
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import apsw

import armarius._core as _core
from armarius.documents.document import Document
from armarius.documents.segments import Paragraph, Role
from armarius.documents.titles import as_strings
from armarius.errors import SchemaTooNew, StoreBusy, StoreCorrupt
from armarius.store.protocol import TextHit, TextQuery
from armarius.store.sqlite.connection import all_rows, first_row, keep_meta, meta

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
    """Insert documents, each with its id and its stamp, with their paragraphs; full text apart (`keep_full_text`).

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
    """What is indexed of each paragraph: a heading as title, front matter also by its keys, the rest as content.

    Args:
        documents: By their ids.
        without: Document to the numbers of paragraphs that are left out.
    """
    wanted = [
        (number, document, [p for p in document.paragraphs if p.index not in gone] if gone else document.paragraphs)
        for number, document in documents
        for gone in [without.get(number)]
    ]
    tokens = iter(_core.index_tokens([document.text[p.start : p.end] for _, document, some in wanted for p in some]))
    rows = []
    for number, document, some in wanted:
        base, matter = number << PARAGRAPH_BITS, document.front_matter
        for p in some:
            text = next(tokens)
            if p.role == "heading":
                rows.append((base + p.index, text, "", "", ""))
            elif p.role == "front_matter" and p.index == 0:  # its fields once, however long it is
                fields = _core.index_tokens(
                    ["、".join(as_strings(matter.get(key))) for key in ("title", "characters", "tags")]
                )
                rows.append((base + p.index, fields[0], text, fields[1], fields[2]))
            else:
                rows.append((base + p.index, "", text, "", ""))
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
    text, paragraphs = _PackedText(path, text, rows, headings).read()
    matter = unpack_front_matter(front_matter)
    return Document(path, kind, title, chapter, text, paragraphs, matter, encoding, content_hash)


def unread_documents(connection: apsw.Connection, rows: Sequence[Sequence[Any]]) -> list[Document]:
    """Documents from rows as `read_document_rows` takes them; text and paragraphs are unpacked later.

    Cost: 20 µs for a chapter, against 200 that it takes to read it.
    """
    numbers = [row[0] for row in rows]
    paragraphs, headings = _by_document(connection, _PARAGRAPHS, numbers), _by_document(connection, _HEADINGS, numbers)
    return [
        Document.unread(
            _PackedText(path, text, paragraphs.get(number, []), headings.get(number, [])),
            path=path, kind=kind, title=title, chapter=chapter, encoding=encoding, content_hash=content_hash,
            front_matter={} if front_matter == "{}" else unpack_front_matter(front_matter),
        )
        for number, path, kind, title, chapter, encoding, content_hash, front_matter, text in rows
    ]  # fmt: skip


def _by_document(connection: apsw.Connection, query: str, numbers: Sequence[int]) -> dict[int, list[Any]]:
    """Rows of several documents: by one statement, unless they are few among many."""
    if not numbers:
        return {}
    low, high = min(numbers), max(numbers) + 1
    if high - low > _SPARSE * len(numbers):
        spans = [(number << PARAGRAPH_BITS, (number + 1) << PARAGRAPH_BITS) for number in numbers]
        return {number: all_rows(connection, query, span) for number, span in zip(numbers, spans, strict=True)}
    rows = all_rows(connection, query, (low << PARAGRAPH_BITS, high << PARAGRAPH_BITS))
    return {
        at: rows[bisect_left(rows, (at << PARAGRAPH_BITS,)) : bisect_left(rows, (at + 1 << PARAGRAPH_BITS,))]
        for at in numbers
    }


@dataclass(frozen=True, slots=True)
class _PackedText:
    """Text and paragraphs of a document as the rows hold them; see `documents.document.Unread`."""

    path: str
    text: bytes
    rows: Sequence[Any]
    headings: Sequence[Any]

    @property
    def paragraphs(self) -> int:
        return len(self.rows)

    def read(self) -> tuple[str, tuple[Paragraph, ...]]:
        first = (1 << PARAGRAPH_BITS) - 1
        try:
            paths, paragraphs = dict[int, tuple[str, ...]](), list[Paragraph]()
            for at, titles in self.headings:
                paths[at] = tuple(json.loads(titles))
            for at, number, start, end, role, heading in self.rows:
                paragraphs.append(Paragraph(at & first, start, end, paths[heading], ROLES[role], number))
        except (KeyError, IndexError, ValueError, TypeError, RecursionError) as error:
            raise StoreCorrupt(f"paragraphs of {self.path} are damaged: {error!r}") from error
        return unpack_text(self.path, self.text), tuple(paragraphs)


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


FULL_TEXT: Final = """
-- The core makes the tokens and parts them by spaces; `ascii` leaves everything beyond ASCII whole.
CREATE VIRTUAL TABLE full_text USING fts5(
    title, content, characters, tags, content='', contentless_delete=1, tokenize='ascii'
);
CREATE VIRTUAL TABLE full_text_terms USING fts5vocab(full_text, 'row');
-- FTS5 ranks while it scans, with weights that it keeps; a word in a heading says most.
INSERT INTO full_text (full_text, rank) VALUES ('rank', 'bm25(4.0, 1.0, 2.0, 2.0)');
"""
"""The tables of full text; their rowids are those of `paragraphs`."""


# A gram that stands in more than this share of the paragraphs says little and costs most.
_COMMON = 0.12
_RANKED = "SELECT d.path, full_text.rowid & ?, -full_text.rank FROM full_text"
_FOUND = "SELECT d.path, full_text.rowid & ?, 0.0 FROM full_text"  # ranking takes as long as finding


def search(connection: apsw.Connection, query: TextQuery) -> list[TextHit]:
    """Paragraphs that match; see `Store.search`.

    Cost: BM25 over the postings of the terms; any-match is bounded by dropping the commonest grams.
    """
    if query.limit is not None and query.limit < 1:
        return []
    expression = _match_all(query) if query.match == "all" else _match_any(connection, query)
    if not expression:
        return []
    sql = [
        _FOUND if query.limit is None else _RANKED,
        "JOIN documents d ON d.id = full_text.rowid >> ?",
    ]
    mask = (1 << PARAGRAPH_BITS) - 1
    where = ["full_text MATCH ?"]
    values: list[str | int] = [expression]
    low, high = query.chapters
    if low is not None or high is not None:
        sql.append("JOIN paragraphs p ON p.id = full_text.rowid")
        where.append("p.chapter BETWEEN ? AND ?")
        values += [-1 if low is None else low, 1 << 31 if high is None else high]
    if query.kinds:
        where.append(f"d.kind IN ({', '.join('?' * len(query.kinds))})")
        values += query.kinds
    sql.append(f"WHERE {' AND '.join(where)}")
    if query.limit is not None:
        sql.append("ORDER BY full_text.rank, d.path, full_text.rowid LIMIT ?")
        values.append(query.limit)
    rows = all_rows(connection, " ".join(sql), (mask, PARAGRAPH_BITS, *values))
    return [TextHit(*row) for row in (sorted(rows) if query.limit is None else rows)]


def _match_all(query: TextQuery) -> str:
    phrases = [_core.term_phrase(term) for term in query.terms]
    return " AND ".join(dict.fromkeys(phrase for phrase in phrases if phrase))


def _match_any(connection: apsw.Connection, query: TextQuery) -> str:
    grams = list(dict.fromkeys(gram for term in query.terms for gram in _core.text_grams(term)))
    if not grams:
        return ""
    total = first_row(connection, "SELECT count(*) FROM paragraphs")[0]
    counted = []
    for gram in grams[:512]:
        row = first_row(connection, "SELECT doc FROM full_text_terms WHERE term = ?", (gram,))
        if row:
            counted.append((row[0], gram))
    rare = [item for item in counted if item[0] <= max(20, _COMMON * total)]
    chosen = {gram for _, gram in sorted(rare or counted)[: query.grams]}
    return " OR ".join(f'"{gram}"' for gram in grams if gram in chosen)


# More than this of documents or of paragraphs in one write is put off: a saved chapter never is.
_DOCUMENTS: Final = 4
_MOST_PARAGRAPHS: Final = 512
_AT_ONCE: Final = 128  # documents in one transaction, and their paragraphs at most a few thousand
_DUE: Final = f"{DOCUMENT} JOIN full_text_due f ON d.id = f.document ORDER BY d.id LIMIT ?"
_WRITTEN: Final = f"{DOCUMENT} WHERE d.id = ? AND d.id NOT IN (SELECT document FROM full_text_due)"  # noqa: S608

Standing = Mapping[int, frozenset[int]]
"""Document id to the numbers of its paragraphs with current full text."""


def unchanged_rows(connection: apsw.Connection, documents: Sequence[tuple[int, Document]]) -> Standing:
    """What need not be written again when these documents are written over, each by its id; ask before they are.

    Cost: for a chapter half a millisecond, against 10 to write all of it.
    """
    if len(documents) > _DOCUMENTS:
        return {}
    stands = {number: _same_paragraphs(connection, number, document) for number, document in documents}
    put_off = sum(len(document.paragraphs) - len(stands[number]) for number, document in documents) > _MOST_PARAGRAPHS
    return {} if put_off else stands


def keep_full_text(connection: apsw.Connection, documents: Sequence[tuple[int, Document]], stands: Standing) -> None:
    """Write the full text of documents by their ids, but what stands, or note that it is due."""
    paragraphs = sum(len(document.paragraphs) - len(stands.get(number, ())) for number, document in documents)
    if len(documents) > _DOCUMENTS or paragraphs > _MOST_PARAGRAPHS:
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
    _write(connection, [(row[0], doc) for row, doc in zip(rows, unread_documents(connection, rows), strict=True)], {})
    if rows:
        connection.execute("DELETE FROM full_text_due WHERE document <= ?", (rows[-1][0],))
    else:  # noted of documents that are not there
        connection.execute("DELETE FROM full_text_due")


def _write(connection: apsw.Connection, documents: Sequence[tuple[int, Document]], stands: Standing) -> None:
    connection.executemany(
        "INSERT INTO full_text (rowid, title, content, characters, tags) VALUES (?, ?, ?, ?, ?)",
        full_text_rows(documents, stands),
    )


def _same_paragraphs(connection: apsw.Connection, number: int, document: Document) -> frozenset[int]:
    """The paragraphs that read as those in the same places of what is there."""
    row = first_row(connection, _WRITTEN, (number,))
    if row is None or row[6] == document.content_hash:  # written anew for the sake of something else
        return frozenset()
    try:
        before = read_document_rows(connection, row)
    except StoreCorrupt:  # and written over, whole
        return frozenset()
    return frozenset(
        [
            new.index
            for old, new in zip(before.paragraphs, document.paragraphs, strict=False)
            if (old.index, old.role) == (new.index, new.role)
            and before.text[old.start : old.end] == document.text[new.start : new.end]
            and (new.role != "front_matter" or before.front_matter == document.front_matter)
        ]
    )


APPLICATION_ID: Final = 0x41524D31  # "ARM1" in the header of the file: an empty file or another program's is not ours
SCHEMA_VERSION: Final = 7


def create(connection: apsw.Connection, project_id: str) -> None:
    """Make the tables of an index in an empty file, bound to a project, at generation 0."""
    connection.execute("PRAGMA journal_mode = MEMORY")  # a crash leaves a draft that nobody opens
    connection.execute("BEGIN")
    connection.execute(Path(__file__).with_name("schema.sql").read_text("utf-8"))
    connection.execute(FULL_TEXT)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    keep_meta(connection, "project_id", project_id)
    keep_meta(connection, "generation", "0")
    connection.execute("COMMIT")


def check_header(connection: apsw.Connection, path: Path, project_id: str) -> None:
    """Refuse what is not the index of this project and this schema.

    Raises:
        StoreCorrupt: It is no index, or that of another project: its folder is this project's alone.
        SchemaTooNew: A newer armarius wrote it.
        StoreBusy: An earlier armarius has it open.
    """
    application = connection.pragma("application_id")
    if application != APPLICATION_ID:
        raise StoreCorrupt(f"{path}: not an armarius index (application_id {application:#x})")
    version = connection.pragma("user_version")
    if version > SCHEMA_VERSION:
        raise SchemaTooNew(f"{path}: schema {version}, this armarius knows up to {SCHEMA_VERSION}")
    if version < SCHEMA_VERSION:
        raise StoreBusy(f"{path}: an earlier armarius has it open, and this one must build it again")
    if (owner := meta(connection, "project_id")) != project_id:
        raise StoreCorrupt(f"{path}: index of project {owner!r}, not {project_id!r}")


def entity_refs(connection: apsw.Connection) -> dict[str, int]:
    """The number under which vectors know each entity."""
    return dict(all_rows(connection, "SELECT id, ref FROM entities"))
