"""Entities and relations in SQLite: a breadth-first walk, one query per level.

A recursive query over both directions took 1.2 s on 500,000 relations; level by level it is 0.01 / 0.12 / 1.5 ms.
"""

from collections.abc import Iterator, Sequence

import apsw

from armarius.store.protocol import EntityRow, RelationRow, Step
from armarius.store.sqlite.connection import all_rows

__all__ = ["entities", "entity_refs", "neighbours", "relations", "replace_graph"]

_AT_ONCE = 500  # ids in one IN (…)


def replace_graph(connection: apsw.Connection, entities: Sequence[EntityRow], relations: Sequence[RelationRow]) -> bool:
    """Replace all; entities that stay keep their ref, so their mentions stay valid. True when an entity went."""
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
    return bool(gone)


def entity_refs(connection: apsw.Connection) -> dict[str, int]:
    """The number under which mentions know each entity."""
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


def neighbours(connection: apsw.Connection, entities: Sequence[str], depth: int, limit: int) -> list[list[Step]]:
    """See `Store.neighbours`."""
    seen, frontier = set(entities), sorted(set(entities))
    levels: list[list[Step]] = []
    while frontier and len(levels) < depth and limit > 0:
        found: list[Step] = []
        for some, marks in _portions(frontier):
            for forward, (here, there) in ((True, ("source", "target")), (False, ("target", "source"))):
                rows = all_rows(
                    connection,
                    f"SELECT {here}, {there}, type FROM relations WHERE {here} IN ({marks}) "  # noqa: S608
                    "ORDER BY 1, 2, 3 LIMIT ?",
                    (*some, 50_000),
                )
                found.extend(Step(entity, reached, name, forward) for entity, reached, name in rows)
        level, reached_now = [], set[str]()
        for step in sorted(set(found), key=lambda s: (s.entity, s.reached, s.type, not s.forward)):
            if step.reached in seen:
                continue
            if step.reached not in reached_now:
                if limit <= 0:
                    continue
                limit -= 1
                reached_now.add(step.reached)
            level.append(step)
        if not level:
            break
        levels.append(level)
        seen |= reached_now
        frontier = sorted(reached_now)
    return levels
