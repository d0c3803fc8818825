"""One `apply` inside the transaction of the caller; and rows as what the store answers."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import astuple
from itertools import groupby

import apsw

from armarius.documents.document import Document
from armarius.errors import StoreConflict
from armarius.store.rows import (
    Change,
    Changed,
    DerivedRow,
    EntityRow,
    GraphRows,
    Note,
    Passage,
    PassageKey,
    Put,
    Records,
    RelationRow,
    Remove,
    Restamp,
)
from armarius.store.sqlite.connection import all_rows, first_row
from armarius.store.sqlite.packing import (
    DOCUMENT,
    PARAGRAPH_BITS,
    ROLES,
    insert_documents,
    remove_document,
    unpack_text,
    unread_documents,
)
from armarius.store.sqlite.schema import keep_full_text, keep_meta, meta, standing

_PASSAGE = (
    'SELECT d.kind, d.title, d.text, p.start, p."end", p.role, p.chapter, h.path FROM documents d JOIN paragraphs p '
    "ON p.id = (d.id << ?) + ? JOIN headings h ON h.id = p.heading WHERE d.path = ?"
)


def read_passages(connection: apsw.Connection, keys: Sequence[PassageKey]) -> list[Passage]:
    """See `Store.passages`."""
    texts: dict[str, str] = {}
    found = []
    for path, index in keys:
        row = first_row(connection, _PASSAGE, (PARAGRAPH_BITS, index, path))
        if row is None or not 0 <= index < 1 << PARAGRAPH_BITS:
            continue
        kind, title, packed, start, end, role, chapter, titles = row
        text = texts[path] = texts.get(path) or unpack_text(path, packed)
        heading = tuple(json.loads(titles))
        found.append(Passage(path, index, kind, title, chapter, heading, ROLES[role], start, end, text[start:end]))
    return found


def entity_refs(connection: apsw.Connection) -> dict[str, int]:
    """The number under which vectors know each entity."""
    return dict(all_rows(connection, "SELECT id, ref FROM entities"))


_LISTED = "IN (SELECT value FROM json_each(?1))"


def entities(connection: apsw.Connection, ids: Sequence[str] | None) -> list[EntityRow]:
    """See `Store.entities`."""
    select, values = "SELECT id, name, type, level, payload FROM entities", list[str]()
    if ids is not None:
        select, values = f"{select} WHERE id {_LISTED}", [json.dumps(list(ids))]
    rows = all_rows(connection, f"{select} ORDER BY id", values)
    return [EntityRow(*row) for row in rows]


def relations(connection: apsw.Connection, touching: Sequence[str] | None) -> list[RelationRow]:
    """See `Store.relations`."""
    select, values = "SELECT * FROM relations", list[str]()
    if touching is not None:
        select = f"{select} WHERE source {_LISTED} UNION {select} WHERE target {_LISTED}"
        values = [json.dumps(list(touching))]
    return [RelationRow(*row) for row in all_rows(connection, f"{select} ORDER BY 1, 2, 3, 4, 5", values)]


GENERATION = "SELECT value FROM meta WHERE key = 'generation'"

# So many removed paths are remembered; who looks after a longer time reads everything again.
_REMEMBERED = 10_000


def generation(connection: apsw.Connection) -> int:
    """See `Store.generation`."""
    return int(meta(connection, "generation") or 0)


def claim_generation(connection: apsw.Connection, expect: int | None, *, same: bool) -> int:
    """The generation of what is written now, inside a write transaction: the next one, unless it stays the `same`.

    Raises:
        StoreConflict: Somebody has written since `expect`.
    """
    now = generation(connection)
    if expect is not None and now != expect:
        raise StoreConflict(f"the index is at generation {now}, the changes were made from {expect}")
    if same:
        return now
    keep_meta(connection, "generation", str(now + 1))
    return now + 1


def changed(connection: apsw.Connection, since: int) -> Changed:
    """See `Store.changed`."""
    now = generation(connection)
    whole = not int(meta(connection, "forgotten") or 0) <= since <= now
    after = 0 if whole else since
    rows = all_rows(connection, f"{DOCUMENT} WHERE d.version > ? ORDER BY d.path", (after,))
    gone = [] if whole else all_rows(connection, "SELECT path FROM gone WHERE version > ? ORDER BY path", (after,))
    notes = dict(all_rows(connection, "SELECT key, value FROM notes WHERE version > ? ORDER BY key", (after,)))
    documents = tuple(unread_documents(connection, rows))
    return Changed(now, documents, tuple(path for (path,) in gone), notes, whole)


def _sweep(connection: apsw.Connection) -> None:
    """Drop the older half of what is remembered when it is too much."""
    if first_row(connection, "SELECT count(*) FROM gone")[0] > _REMEMBERED:
        query = "SELECT version FROM gone ORDER BY version DESC LIMIT 1 OFFSET ?"
        until = first_row(connection, query, (_REMEMBERED // 2,))[0]
        connection.execute("DELETE FROM gone WHERE version <= ?", (until,))
        keep_meta(connection, "forgotten", str(until))


def write(connection: apsw.Connection, changes: Sequence[Change], version: int) -> None:
    """Make the changes, in order; rows remember the generation `version`.

    Cost: documents that follow each other are written together, and so is what was learnt.
    """
    for kind, some in groupby(changes, type):
        together = list(some)
        if kind is Put:
            _put(connection, [one for one in together if isinstance(one, Put)], version)
        elif kind is DerivedRow:
            _keep_learnt(connection, [one for one in together if isinstance(one, DerivedRow)])
        else:
            for change in together:
                _make(connection, change, version)
    if any(isinstance(change, Remove) for change in changes):
        _sweep(connection)


def _make(connection: apsw.Connection, change: Change, version: int) -> None:
    match change:
        case Remove(path):
            number = _ids(connection, [path]).get(path)
            if number is not None:
                remove_document(connection, number)
                connection.execute("INSERT OR REPLACE INTO gone VALUES (?, ?)", (path, version))
                _carry_vectors(connection, [(number, None)])
        case Restamp(path, stamp, content):
            query = "UPDATE documents SET stamp = ? WHERE path = ? AND ? IN ('', content_hash)"
            connection.execute(query, (stamp, path, content))
        case Note(key, value):
            connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", (key, value, version))
        case GraphRows():
            _replace_graph(connection, change)
        case Records():
            connection.execute("DELETE FROM records WHERE collection = ?", (change.collection,))
            rows = [(change.collection, *astuple(record)) for record in change.records]
            connection.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)


def _put(connection: apsw.Connection, changes: Sequence[Put], version: int) -> None:
    """Documents in the place of those of their paths; the last of a path stays."""
    of_path = {change.document.path: change for change in changes}
    known = _ids(connection, list(of_path))
    free = itertools.count(first_row(connection, "SELECT coalesce(max(id), 0) FROM documents")[0] + 1)
    put = [(known.get(path) or next(free), change.document, change.stamp) for path, change in of_path.items()]
    numbered = [(number, document) for number, document, _ in put]
    stands = standing(connection, numbered)
    for number in known.values():
        remove_document(connection, number, stands.get(number, ()))
    insert_documents(connection, put, version)
    keep_full_text(connection, numbered, stands)
    connection.executemany("DELETE FROM gone WHERE path = ?", [(path,) for path in of_path])
    _carry_vectors(connection, numbered)


def _keep_learnt(connection: apsw.Connection, rows: Sequence[DerivedRow]) -> None:
    """Keep what was learnt; that of a path that is no document is dropped."""
    connection.executemany(
        "INSERT OR REPLACE INTO learnt SELECT id, ?, ?, ? FROM documents WHERE path = ?",
        [(row.kind, row.about, row.data, row.path) for row in rows],
    )


def _ids(connection: apsw.Connection, paths: Sequence[str]) -> dict[str, int]:
    """The ids of documents; unknown paths are left out."""
    query = "SELECT path, id FROM documents WHERE path IN (SELECT value FROM json_each(?))"
    return dict(all_rows(connection, query, (json.dumps(paths),)))


def _replace_graph(connection: apsw.Connection, graph: GraphRows) -> None:
    """Replace all; entities that stay keep their ref, by which their vectors are kept."""
    kept = {entity.id for entity in graph.entities}
    if _has_vectors(connection):
        from armarius.store.sqlite.vectors_rows import forget_entities

        forget_entities(connection, kept)
    gone = [(name,) for name in entity_refs(connection) if name not in kept]
    connection.executemany("DELETE FROM entities WHERE id = ?", gone)
    connection.executemany(
        "INSERT INTO entities (id, name, type, level, payload) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
        "name = excluded.name, type = excluded.type, level = excluded.level, payload = excluded.payload",
        [(e.id, e.name, e.type, e.level, e.payload) for e in graph.entities],
    )
    connection.execute("DELETE FROM relations")
    connection.executemany(
        "INSERT INTO relations VALUES (?, ?, ?, ?, ?)",
        [(r.source, r.target, r.type, r.since, r.until) for r in graph.relations],
    )


def _carry_vectors(connection: apsw.Connection, documents: Sequence[tuple[int, Document | None]]) -> None:
    """No vector outlives its text. What handles vectors is loaded only where there are some."""
    if _has_vectors(connection):
        from armarius.store.sqlite.vectors_rows import carry_document

        for number, document in documents:
            carry_document(connection, number, document)


def _has_vectors(connection: apsw.Connection) -> bool:
    return first_row(connection, "SELECT 1 FROM vector_sets") is not None
