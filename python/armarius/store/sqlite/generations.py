"""Generations in SQLite: which write a row belongs to, what came after one, and what is remembered of what went."""

from collections.abc import Sequence

import apsw

from armarius.errors import StoreConflict
from armarius.store.rows import Changed
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.packing import unread_documents
from armarius.store.sqlite.schema import keep_meta, meta

__all__ = ["GENERATION", "changed", "expected", "forget", "generation", "next_generation", "remember", "sweep"]

GENERATION = "SELECT value FROM meta WHERE key = 'generation'"

# So many removed paths are remembered; who looks after a longer time reads everything again.
_REMEMBERED = 10_000


def generation(connection: apsw.Connection) -> int:
    """See `Store.generation`."""
    return int(meta(connection, "generation") or 0)


def expected(connection: apsw.Connection, expect: int | None) -> int:
    """The generation that stands, inside a write transaction.

    Raises:
        StoreConflict: Somebody has written since `expect`.
    """
    now = generation(connection)
    if expect is not None and now != expect:
        raise StoreConflict(f"the index is at generation {now}, the changes were made from {expect}")
    return now


def next_generation(connection: apsw.Connection, expect: int | None) -> int:
    """The generation of what is written now, inside a write transaction; raises as `expected` does."""
    now = expected(connection, expect)
    keep_meta(connection, "generation", str(now + 1))
    return now + 1


def changed(connection: apsw.Connection, since: int) -> Changed:
    """See `Store.changed`."""
    now = generation(connection)
    whole = not int(meta(connection, "forgotten") or 0) <= since <= now
    after = 0 if whole else since
    rows = all_rows(
        connection,
        "SELECT id, path, kind, title, chapter, encoding, content_hash, front_matter, text "
        "FROM documents WHERE version > ? ORDER BY path",
        (after,),
    )
    gone = [] if whole else all_rows(connection, "SELECT path FROM gone WHERE version > ? ORDER BY path", (after,))
    notes = dict(all_rows(connection, "SELECT key, value FROM notes WHERE version > ? ORDER BY key", (after,)))
    documents = tuple(unread_documents(connection, rows))
    return Changed(now, documents, tuple(path for (path,) in gone), notes, whole)


def remember(connection: apsw.Connection, path: str, version: int) -> None:
    """`path` is a document no more."""
    connection.execute("INSERT OR REPLACE INTO gone VALUES (?, ?)", (path, version))


def forget(connection: apsw.Connection, paths: Sequence[str]) -> None:
    """These are documents again."""
    connection.executemany("DELETE FROM gone WHERE path = ?", [(path,) for path in paths])


def sweep(connection: apsw.Connection) -> None:
    """Drop the older half of what is remembered when it is too much."""
    if first_row(connection, "SELECT count(*) FROM gone")[0] > _REMEMBERED:
        query = "SELECT version FROM gone ORDER BY version DESC LIMIT 1 OFFSET ?"
        until = first_row(connection, query, (_REMEMBERED // 2,))[0]
        connection.execute("DELETE FROM gone WHERE version <= ?", (until,))
        keep_meta(connection, "forgotten", str(until))
