"""Entities and relations in SQLite."""

from collections.abc import Iterator, Sequence

import apsw

from armarius.store.rows import EntityRow, RelationRow
from armarius.store.sqlite.connection import all_rows

__all__ = ["entities", "entity_refs", "relations", "replace_graph"]

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
