"""Mentions in SQLite: spans packed with their document, counts in a table that can be asked by entity."""

from collections import Counter
from collections.abc import Mapping, Sequence

import apsw

from armarius.store.protocol import MentionCount, MentionRow
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.graph import entity_refs
from armarius.store.sqlite.packing import (
    PARAGRAPH_BITS,
    document_hash,
    pack_mentions,
    read_document_rows,
    unpack_mentions,
)

__all__ = ["drop_unknown", "insert_counts", "mention_counts", "mentions_of", "remove_counts", "replace_mentions"]

_MASK = (1 << PARAGRAPH_BITS) - 1


def insert_counts(connection: apsw.Connection, number: int, packed: bytes) -> None:
    """Count the mentions of a document by entity and paragraph."""
    base = number << PARAGRAPH_BITS
    counts = Counter((int(ref), int(paragraph)) for ref, paragraph in unpack_mentions(packed)[:, :2])
    connection.executemany(
        "INSERT INTO mention_counts VALUES (?, ?, ?)",
        [(ref, base + paragraph, n) for (ref, paragraph), n in sorted(counts.items()) if paragraph >= 0],
    )


def remove_counts(connection: apsw.Connection, number: int, packed: bytes) -> None:
    """Forget the counts of a document; its packed mentions say which entities it has."""
    low, high = number << PARAGRAPH_BITS, (number + 1) << PARAGRAPH_BITS
    refs = sorted({int(ref) for ref in unpack_mentions(packed)[:, 0]})
    connection.executemany(
        "DELETE FROM mention_counts WHERE entity = ? AND paragraph >= ? AND paragraph < ?",
        [(ref, low, high) for ref in refs],
    )


def replace_mentions(connection: apsw.Connection, mentions: Mapping[str, Sequence[MentionRow]]) -> None:
    """Replace the mentions of every document."""
    refs = entity_refs(connection)
    connection.execute("DELETE FROM mention_counts")
    rows = all_rows(
        connection,
        "SELECT id, path, kind, title, chapter, encoding, content_hash, front_matter, text, mentions FROM documents",
    )
    for row in rows:
        packed = pack_mentions(mentions.get(row[1], ()), refs)
        if packed != row[9]:
            hashed = document_hash(read_document_rows(connection, row[:9]), packed)
            connection.execute("UPDATE documents SET mentions = ?, hash = ? WHERE id = ?", (packed, hashed, row[0]))
        insert_counts(connection, row[0], packed)


def drop_unknown(connection: apsw.Connection) -> None:
    """Forget mentions of entities that are gone."""
    kept = {path: mentions_of(connection, path) for (path,) in all_rows(connection, "SELECT path FROM documents")}
    replace_mentions(connection, kept)


def mentions_of(connection: apsw.Connection, path: str) -> list[MentionRow]:
    """Mentions of a document in text order."""
    row = first_row(connection, "SELECT mentions FROM documents WHERE path = ?", (path,))
    if row is None:
        return []
    names = {ref: name for name, ref in entity_refs(connection).items()}
    quadruples = unpack_mentions(row[0]).tolist()
    return [MentionRow(names[ref], paragraph, start, end) for ref, paragraph, start, end in quadruples if ref in names]


def mention_counts(
    connection: apsw.Connection, entities: Sequence[str] | None, *, paragraphs: bool, paths: Sequence[str] | None
) -> list[MentionCount]:
    """See `Store.mention_counts`."""
    where, values = [], list[str]()
    if entities is not None:
        where.append(f"e.id IN ({', '.join('?' * len(entities))})")
        values += entities
    if paths is not None:
        where.append(f"d.path IN ({', '.join('?' * len(paths))})")
        values += paths
    place = f"m.paragraph & {_MASK}" if paragraphs else "NULL"
    rows = all_rows(
        connection,
        f"SELECT d.path, {place}, e.id, sum(m.count) FROM entities e CROSS JOIN mention_counts m ON m.entity = e.ref "  # noqa: S608
        f"CROSS JOIN documents d ON d.id = m.paragraph >> {PARAGRAPH_BITS} "
        f"{'WHERE ' + ' AND '.join(where) if where else ''} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        values,
    )
    return [MentionCount(path, paragraph, entity, count) for path, paragraph, entity, count in rows]
