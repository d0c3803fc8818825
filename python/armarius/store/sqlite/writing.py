"""One `apply` inside the transaction of the caller; and rows as what the store answers."""

import itertools
import json
from collections.abc import Iterator, Sequence
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
    PARAGRAPH_BITS,
    ROLES,
    insert_documents,
    remove_document,
    unpack_text,
    unread_documents,
)
from armarius.store.sqlite.schema import keep_full_text, keep_meta, meta, standing


def read_passages(connection: apsw.Connection, keys: Sequence[PassageKey]) -> list[Passage]:
    """See `Store.passages`."""
    wanted: dict[str, list[int]] = {}
    for path, index in keys:
        wanted.setdefault(path, []).append(index)
    found: dict[PassageKey, Passage] = {}
    for path, indexes in wanted.items():
        row = first_row(connection, "SELECT id, kind, title, text FROM documents WHERE path = ?", (path,))
        if row is None:
            continue
        number, kind, title, packed = row
        text, base = unpack_text(path, packed), number << PARAGRAPH_BITS
        for index in indexes:
            paragraph = first_row(
                connection,
                'SELECT p.start, p."end", p.role, p.chapter, h.path FROM paragraphs p JOIN headings h '
                "ON h.id = p.heading WHERE p.id = ?",
                (base + index,),
            )
            if paragraph is None or not 0 <= index < 1 << PARAGRAPH_BITS:
                continue
            start, end, role, chapter, titles = paragraph
            heading = tuple(json.loads(titles))
            found[path, index] = Passage(
                path, index, kind, title, chapter, heading, ROLES[role], start, end, text[start:end]
            )
    return [found[key] for key in keys if key in found]


_AT_ONCE = 500  # ids in one IN (…)


def replace_graph(connection: apsw.Connection, entities: Sequence[EntityRow], relations: Sequence[RelationRow]) -> None:
    """Replace all; entities that stay keep their ref, by which their vectors are kept."""
    kept = {entity.id for entity in entities}
    gone = [name for name in entity_refs(connection) if name not in kept]
    connection.executemany("DELETE FROM entities WHERE id = ?", [(name,) for name in gone])
    connection.executemany(
        "INSERT INTO entities (id, name, type, level, payload) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
        "name = excluded.name, type = excluded.type, level = excluded.level, payload = excluded.payload",
        [(e.id, e.name, e.type, e.level, e.payload) for e in entities],
    )
    connection.execute("DELETE FROM relations")
    connection.executemany(
        "INSERT INTO relations VALUES (?, ?, ?, ?, ?)",
        [(r.source, r.target, r.type, r.since, r.until) for r in relations],
    )


def entity_refs(connection: apsw.Connection) -> dict[str, int]:
    """The number under which vectors know each entity."""
    return dict(all_rows(connection, "SELECT id, ref FROM entities"))


def entities(connection: apsw.Connection, ids: Sequence[str] | None) -> list[EntityRow]:
    """See `Store.entities`."""
    select = "SELECT id, name, type, level, payload FROM entities"
    if ids is None:
        rows = all_rows(connection, f"{select} ORDER BY id")
    else:
        rows = [
            row
            for some, marks in _portions(sorted(set(ids)))
            for row in all_rows(connection, f"{select} WHERE id IN ({marks}) ORDER BY id", some)
        ]
    return [EntityRow(*row) for row in rows]


def relations(connection: apsw.Connection, touching: Sequence[str] | None) -> list[RelationRow]:
    """See `Store.relations`."""
    if touching is None:
        rows = all_rows(connection, "SELECT * FROM relations ORDER BY source, target, type, since, until")
        return [RelationRow(*row) for row in rows]
    found = {
        row
        for some, marks in _portions(sorted(set(touching)))
        for end in ("source", "target")
        for row in all_rows(connection, f"SELECT * FROM relations WHERE {end} IN ({marks})", some)  # noqa: S608
    }
    # NULL first, as SQLite orders it.
    order = sorted(found, key=lambda r: (*r[:3], *((part is not None, part or 0) for part in r[3:])))
    return [RelationRow(*row) for row in order]


def _portions(ids: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """So many ids at a time, and the marks that stand for them."""
    for at in range(0, len(ids), _AT_ONCE):
        some = tuple(ids[at : at + _AT_ONCE])
        yield some, ", ".join("?" * len(some))


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
        sweep(connection)


def _make(connection: apsw.Connection, change: Change, version: int) -> None:
    match change:
        case Remove(path):
            number = _ids(connection, [path]).get(path)
            if number is not None:
                remove_document(connection, number)
                remember(connection, path, version)
                _carry_vectors(connection, [(number, None)])
        case Restamp(path, stamp, content):
            query = "UPDATE documents SET stamp = ? WHERE path = ? AND ? IN ('', content_hash)"
            connection.execute(query, (stamp, path, content))
        case Note(key, value):
            connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", (key, value, version))
        case GraphRows():
            _replace_graph(connection, change)
        case Records():
            _replace_records(connection, change)


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
    forget(connection, list(of_path))
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
    if _has_vectors(connection):
        from armarius.store.sqlite.vectors_rows import forget_entities

        forget_entities(connection, {entity.id for entity in graph.entities})
    replace_graph(connection, graph.entities, graph.relations)


def _replace_records(connection: apsw.Connection, change: Records) -> None:
    connection.execute("DELETE FROM records WHERE collection = ?", (change.collection,))
    connection.executemany(
        "INSERT INTO records VALUES (?, ?, ?)", [(change.collection, *astuple(record)) for record in change.records]
    )


def _carry_vectors(connection: apsw.Connection, documents: Sequence[tuple[int, Document | None]]) -> None:
    """No vector outlives its text. What handles vectors is loaded only where there are some."""
    if _has_vectors(connection):
        from armarius.store.sqlite.vectors_rows import carry_document

        for number, document in documents:
            carry_document(connection, number, document)


def _has_vectors(connection: apsw.Connection) -> bool:
    return first_row(connection, "SELECT 1 FROM vector_sets") is not None
