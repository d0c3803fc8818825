"""A graph written down: the bytes of a `codex.json`, the same for the same graph in every process.

    {"entities": [{"id": "…", "name": "…", "type": "character", "aliases": ["…"], "aiContextLevel": "always", …}],
     "relations": [{"source": "…", "target": "…", "type": "…", "since": 4}]}

One line per entity and relation, in the order of the graph, so that two of them can be compared line by line.
"""

import json
from typing import Any

from armarius.codex.model import Entity, Fact, Relation
from armarius.graph.protocol import Graph, checked_entity, checked_relation

__all__ = ["entity_wire", "from_bytes", "read_entity", "to_bytes"]


def to_bytes(graph: Graph) -> bytes:
    """`graph` in UTF-8, without origins and warnings; a project reads it as its `codex.json`."""
    entities = ",\n".join(_line(entity_wire(entity)) for entity in graph.entities)
    relations = ",\n".join(_line(_relation_wire(relation)) for relation in graph.relations)
    return f'{{"entities": [\n{entities}\n],\n"relations": [\n{relations}\n]}}\n'.encode()


def from_bytes(data: bytes) -> Graph:
    """The graph that `to_bytes` wrote.

    Raises:
        ValueError: Not such bytes; names the entry.
    """
    try:
        whole = json.loads(data)
        entries, relations = whole["entities"], whole["relations"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"not a graph: {type(error).__name__}") from None
    try:
        return Graph.of(
            [read_entity(entry) for entry in entries],
            [
                checked_relation(Relation(r["source"], r["target"], r["type"], r.get("since"), r.get("until")))
                for r in relations
            ],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a graph: {type(error).__name__}: {error}") from None


def entity_wire(entity: Entity) -> dict[str, Any]:
    """An entity with the names of `codex.json`; what is empty is left out."""
    stated = {
        "id": entity.id,
        "name": entity.name,
        "type": entity.type,
        "aliases": list(entity.aliases),
        "description": entity.description,
        "attributes": dict(sorted(entity.attributes.items())),
        "aiContextLevel": entity.level,
        "facts": [_stated({"text": fact.text, "since": fact.since, "until": fact.until}) for fact in entity.facts],
    }
    return {key: value for key, value in stated.items() if value not in ("", [], {})}


def read_entity(entry: dict[str, Any]) -> Entity:
    """The entity that `entity_wire` wrote; only id and name are needed.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: It is not one.
    """
    return checked_entity(
        Entity(
            id=entry["id"],
            name=entry["name"],
            type=entry.get("type", "other"),
            aliases=tuple(entry.get("aliases", ())),
            description=entry.get("description", ""),
            attributes=dict(entry.get("attributes", {})),
            level=entry.get("aiContextLevel", "when_detected"),
            facts=tuple(Fact(fact["text"], fact.get("since"), fact.get("until")) for fact in entry.get("facts", ())),
        )
    )


def _relation_wire(relation: Relation) -> dict[str, Any]:
    return {
        "source": relation.source,
        "target": relation.target,
        "type": relation.type,
        **_stated({"since": relation.since, "until": relation.until}),
    }


def _stated(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
