"""Verification of an index: SQLite's checks, and agreement between the tables."""

import apsw

from armarius.errors import StoreCorrupt
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.packing import full_text_rows, read_document_rows

__all__ = ["problems"]


def problems(connection: apsw.Connection) -> list[str]:
    """Everything that is wrong, as sentences.

    `integrity_check` for pages, b-trees and FTS5; then documents that can be read, equal numbers of paragraphs and
    full-text rows, the whole vocabulary against the text, and vectors with their checksums.

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
        "SELECT id, path, kind, title, chapter, encoding, content_hash, front_matter, text, length, paragraphs "
        "FROM documents ORDER BY id",
    ):
        document = read_document_rows(connection, row[:9])
        if (len(document.text), len(document.paragraphs)) != tuple(row[9:]):
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
    orphans = all_rows(connection, "SELECT kind FROM learnt WHERE document NOT IN (SELECT id FROM documents)")
    found += [f"{kind} learnt from a document that is not there" for (kind,) in orphans]
    if first_row(connection, "SELECT 1 FROM vector_sets") is not None:
        from armarius.store.sqlite.vectors_rows import vector_problems

        found += vector_problems(connection)
    if dict(all_rows(connection, "SELECT term, doc FROM full_text_terms")) != vocabulary:
        found.append("full text: terms differ from the documents")
    return found
