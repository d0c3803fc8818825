"""What was learnt from documents, in SQLite: one row for a document and a kind, each with a hash of its own."""

import hashlib
from collections.abc import Sequence

import apsw

from armarius.store.rows import Learnt
from armarius.store.sqlite.connection import all_rows, first_row

__all__ = ["keep_learnt", "learnt", "learnt_problems"]


def keep_learnt(connection: apsw.Connection, rows: Sequence[Learnt]) -> None:
    """Keep what was learnt; that of a path that is no document is dropped."""
    connection.executemany(
        "INSERT OR REPLACE INTO learnt SELECT id, ?, ?, ?, ? FROM documents WHERE path = ?",
        [(row.kind, row.about, row.data, _hash(row), row.path) for row in rows],
    )


def learnt(connection: apsw.Connection, kind: str, paths: Sequence[str] | None) -> dict[str, Learnt]:
    """See `Store.learnt`."""
    select = "SELECT d.path, l.about, l.data FROM documents d JOIN learnt l ON l.document = d.id AND l.kind = ?"
    if paths is None:
        rows = all_rows(connection, f"{select} ORDER BY d.path", (kind,))
    else:
        rows = [
            row
            for path in sorted(set(paths))
            if (row := first_row(connection, f"{select} WHERE d.path = ?", (kind, path))) is not None
        ]
    return {path: Learnt(path, kind, about, data) for path, about, data in rows}


def learnt_problems(connection: apsw.Connection) -> list[str]:
    """What is wrong with it, as sentences."""
    rows = all_rows(
        connection,
        "SELECT d.path, l.kind, l.about, l.data, l.hash FROM learnt l LEFT JOIN documents d ON d.id = l.document "
        "ORDER BY l.document, l.kind",
    )
    found = [f"{kind} learnt from a document that is not there" for path, kind, *_ in rows if path is None]
    return found + [
        f"{path}: {kind} learnt from it do not match their hash"
        for path, kind, about, data, kept in rows
        if path is not None and _hash(Learnt(path, kind, about, data)) != kept
    ]


def _hash(row: Learnt) -> bytes:
    digest = hashlib.blake2b(repr((row.path, row.kind, row.about)).encode("utf-8", "surrogatepass"), digest_size=16)
    digest.update(row.data)
    return digest.digest()
