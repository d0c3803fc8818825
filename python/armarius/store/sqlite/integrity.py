"""Is the index sound? SQLite's checks, then our own: they see what the others cannot."""

import hashlib
import zlib
from itertools import islice

import apsw

from armarius.errors import StoreCorrupt
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.learnt import learnt_problems
from armarius.store.sqlite.packing import (
    document_hash,
    full_text_rows,
    read_document_rows,
)
from armarius.store.sqlite.schema import keep_meta, meta

__all__ = ["keep_hash", "problems"]

_AT_ONCE = 1_000  # rows that are hashed together
# In the order in which they lie, which nothing has to sort.
_HASHED = {
    "graph": (
        "SELECT ref, id, name, type, level, payload FROM entities ORDER BY ref",
        "SELECT source, target, type, since, until FROM relations ORDER BY rowid",
    ),
    "records": ("SELECT collection, id, payload FROM records ORDER BY collection, id",),
}


def problems(connection: apsw.Connection) -> list[str]:
    """Everything that is wrong, as sentences.

    `integrity_check` for pages and b-trees, the FTS5 check for its segments, a hash per document for every stored
    column and for everything learnt, equal numbers of paragraphs and full-text rows, and the whole vocabulary against
    the text.

    Cost: reads the whole file; about 0.2 s for a novel of a million characters.
    """
    try:
        return list(_problems(connection))
    except (apsw.Error, StoreCorrupt, KeyError, IndexError, ValueError, TypeError) as error:
        return [f"cannot be read: {type(error).__name__}: {error}"]


def _problems(connection: apsw.Connection) -> list[str]:
    found = [f"integrity_check: {row[0]}" for row in connection.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
    if found:
        return found
    paragraphs = searchable = 0
    due = {number for (number,) in all_rows(connection, "SELECT document FROM full_text_due")}
    vocabulary: dict[str, int] = {}
    for row in all_rows(
        connection,
        "SELECT id, path, kind, title, chapter, encoding, content_hash, front_matter, text, version, hash, length, "
        "paragraphs, checksum FROM documents ORDER BY id",
    ):
        document = read_document_rows(connection, row[:9])
        if document_hash(document, row[9]) != row[10]:
            found.append(f"{row[1]}: stored content does not match its hash")
        if zlib.crc32(row[8]) != row[13]:
            found.append(f"{row[1]}: stored text does not match its checksum")
        if (len(document.text), len(document.paragraphs)) != (row[11], row[12]):
            found.append(f"{row[1]}: length or number of paragraphs is wrong")
        paragraphs += len(document.paragraphs)
        if row[0] in due:
            due.discard(row[0])
            continue
        searchable += len(document.paragraphs)
        for _, *columns in full_text_rows([(row[0], document)], {}):
            for token in {token for column in columns for token in column.split(" ") if token}:
                vocabulary[token] = vocabulary.get(token, 0) + 1
    for table, expected, count in (
        ("paragraphs", paragraphs, "SELECT count(*) FROM paragraphs"),
        ("full text", searchable, "SELECT count(*) FROM full_text_docsize"),
    ):
        actual = first_row(connection, count)[0]
        if actual != expected:
            found.append(f"{table}: {actual} rows, {expected} expected")
    found += [f"full text is due of document {number}, which is not there" for number in sorted(due)]
    found += learnt_problems(connection)
    if first_row(connection, "SELECT 1 FROM vector_sets") is not None:
        from armarius.store.sqlite.vectors_upkeep import vector_problems

        found += vector_problems(connection)
    if dict(all_rows(connection, "SELECT term, doc FROM full_text_terms")) != vocabulary:
        found.append("full text: terms differ from the documents")
    for name in _HASHED:
        kept = meta(connection, f"hash:{name}")
        if kept is not None and kept != _hash(connection, name):
            found.append(f"{name}: stored rows do not match their hash")
    return found


def keep_hash(connection: apsw.Connection, name: str) -> None:
    """Remember the hash of the graph or the records, for `problems`."""
    keep_meta(connection, f"hash:{name}", _hash(connection, name))


def _hash(connection: apsw.Connection, name: str) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for query in _HASHED[name]:
        rows = connection.execute(query)
        while some := list(islice(rows, _AT_ONCE)):
            digest.update(repr(some).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
