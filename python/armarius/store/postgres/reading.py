"""Reads in a transaction: changes since a generation, derived rows, graph and records."""

import json
import zlib
from collections.abc import Sequence
from uuid import UUID

from armarius.errors import StoreCorrupt
from armarius.store.postgres.packing import read_documents, read_pieces
from armarius.store.postgres.transaction import Transaction
from armarius.store.postgres.writing import unpack_graph
from armarius.store.rows import Changed, DerivedRow, GraphRows, Record

__all__ = ["changed", "learnt", "read_graph", "read_records"]


def changed(tx: Transaction, project: UUID, since: int) -> Changed:
    """See `Store.changed`."""
    now = tx.row.generation
    whole = not tx.row.forgotten <= since <= now
    after = 0 if whole else since
    if after == now:
        return Changed(now, (), (), {}, whole=False)
    documents = read_documents(tx, project, "d.version > %s", (after,))
    gone: list[tuple[str]] = []
    if not whole:
        query = "SELECT path FROM {s}.gone WHERE project = %s AND version > %s ORDER BY path"
        gone = [(str(path),) for (path,) in tx.rows(query, (project, after))]
    query = "SELECT key, value FROM {s}.notes WHERE project = %s AND version > %s ORDER BY key"
    notes = {key: value.decode("utf-8", "surrogatepass") for key, value in tx.rows(query, (project, after))}
    return Changed(now, tuple(documents), tuple(path for (path,) in gone), notes, whole)


def learnt(tx: Transaction, project: UUID, kind: str, paths: Sequence[str] | None) -> dict[str, DerivedRow]:
    """See `Store.learnt`."""
    if paths is not None and not paths:
        return {}
    where = "" if paths is None else "AND l.path = ANY(%s) "
    rows = tx.rows(
        "SELECT l.path, l.about, (SELECT array_agg(p.data ORDER BY p.piece) FROM {s}.pieces p WHERE "
        "p.project = l.project AND p.area = 'learnt' AND p.path = l.path AND p.kind = l.kind) "
        f"FROM {{s}}.learnt l WHERE l.project = %s AND l.kind = %s {where}ORDER BY l.path",
        (project, kind, *(() if paths is None else (list(set(paths)),))),
    )
    return {path: DerivedRow(path, kind, about, b"".join(data or ())) for path, about, data in rows}


def read_graph(tx: Transaction, project: UUID) -> GraphRows:
    """Entities by id and relations in order."""
    data = read_pieces(tx, project, "graph", "")
    try:
        return unpack_graph(data)
    except (ValueError, TypeError, zlib.error) as error:
        raise StoreCorrupt(f"the graph is damaged: {error}") from error


def read_records(data: bytes | None) -> list[Record]:
    """A collection by id, from its value."""
    if data is None:
        return []
    try:
        rows = json.loads(zlib.decompress(data[4:]))
        return sorted((Record(*row) for row in rows), key=lambda one: one.id)
    except (ValueError, TypeError, zlib.error) as error:
        raise StoreCorrupt(f"records are damaged: {error}") from error
