"""`GraphStore`: entities and typed, directed relations in any store.

A store implements `GraphStore`; `armarius.testing.GraphStoreConformance` tests these rules:

- The key of an entity is its id; the key of a relation is (source, target, type). Loops are allowed, and two entities
  may have any number of relations of different types in either direction.
- Ids, names and types are any text without white space at either end and without lone surrogates: quotes, line breaks,
  emoji and query language are text. `checked_entity` and `checked_relation` refuse the rest.
- Writes are idempotent and replace an existing entity or relation.
- Results are sorted: entities by id, relations by (source, target, type).
- `Entity.origins` and `Relation.origin` refer to files; no store keeps them.

Optional methods: `stamp() -> object`, cheap, differs after every change, also by other programs; without it the engine
sees new entities only after `engine.refresh()`. `upsert_all(graph) -> None` writes a whole graph, for
`Graph.load_into`.

Every method may raise `GraphError` when the store cannot answer; the engine turns that into `KG_UNAVAILABLE`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from armarius.codex.model import CONTEXT_LEVELS, Entity, Fact, Relation
from armarius.errors import ContextWarning, ContractError
from armarius.validation import has_surrogate, option_error, shown, texts, valid_text, whole
from armarius.warnings import CODE_DEPTH_LIMIT


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities and the relations between them. Create one with `Graph.of`.

    Attributes:
        entities: By id, each once.
        relations: By (source, target, type), each once; both ends are among `entities`.
        truncated: The limit was reached; the entities nearest to the start are included.
        warnings: Reasons for missing entities or relations.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    truncated: bool = False
    warnings: tuple[ContextWarning, ...] = ()

    @classmethod
    def of(
        cls,
        entities: Iterable[Entity],
        relations: Iterable[Relation] = (),
        *,
        truncated: bool = False,
        warnings: Iterable[ContextWarning] = (),
    ) -> "Graph":
        """Sorted, without origins; the later of two with one key wins; relations with unknown ends are left out."""
        by_id = {entity.id: replace(entity, origins=()) for entity in entities}
        edges = (replace(edge, origin=None) for edge in relations if edge.source in by_id and edge.target in by_id)
        return cls(tuple(by_id[id_] for id_ in sorted(by_id)), sort_relations(edges), truncated, tuple(warnings))

    def load_into(self, store: "GraphStore") -> None:
        """Write all entities and relations into `store`; its other content stays.

        Cost: one `upsert_all` where the store has it, else a write for each entity and relation.
        """
        if (upsert_all := getattr(store, "upsert_all", None)) is not None:
            upsert_all(self)
            return
        for entity in self.entities:
            store.upsert_entity(entity)
        for relation in self.relations:
            store.upsert_relation(relation)


@runtime_checkable
class GraphStore(Protocol):
    """A store of a graph. Thread safe."""

    def neighbors(self, entity_id: str, /, *, limit: int = 1000) -> Sequence[Relation]:
        """The first `limit` relations that begin or end at an entity, in order; () for an unknown one.

        Raises:
            ContractError: `limit` is below 1.
        """

    def subgraph(self, entity_ids: Sequence[str], /, *, depth: int = 1, limit: int = 1000) -> Graph:
        """The entities within `depth` steps in either direction, breadth first, and their relations.

        Unknown ids are ignored. `armarius.graph.walk` implements this method for a store that can list the relations of
        an entity.

        Args:
            entity_ids: Start of the walk; included in the result.
            depth: Steps, >= 1. Capped at `armarius.graph.MAX_DEPTH`, with a warning when more would follow.
            limit: Maximum number of entities, nearest first, by id within one step; sets `truncated`.

        Raises:
            ContractError: `depth` or `limit` is below 1.
        """

    def upsert_entity(self, entity: Entity, /) -> None:
        """Write an entity; replaces one with this id, keeping its relations.

        Raises:
            ContractError: An invalid field; nothing is written.
        """

    def upsert_relation(self, relation: Relation, /) -> None:
        """Write a relation; replaces the chapters of one with this source, target and type.

        Raises:
            KeyError: An unknown end; nothing is written.
            ContractError: As for `upsert_entity`.
        """

    def delete_entity(self, entity_id: str, /) -> None:
        """Remove an entity and its relations; an unknown id is ignored."""

    def snapshot(self) -> Graph:
        """The whole graph. `armarius.graph.to_bytes` serialises it, `Graph.load_into` copies it to another store."""


def relation_key(relation: Relation) -> tuple[str, str, str]:
    """The key of a relation: source, target, type."""
    return relation.source, relation.target, relation.type


def sort_relations(relations: Iterable[Relation]) -> tuple[Relation, ...]:
    """The relations by key, each once; the later of two with one key wins."""
    by_key = {relation_key(relation): relation for relation in relations}
    return tuple(by_key[key] for key in sorted(by_key))


def checked_entity(entity: Entity) -> Entity:
    """`entity` without origins.

    Raises:
        ContractError: A field that no store can hold, named.
    """
    if not isinstance(entity, Entity):
        raise ContractError(f"entity: expected an Entity, got {type(entity).__name__}")
    for field in ("id", "name", "type"):
        _text(f"entity.{field}", getattr(entity, field))
    _check_text("entity.description", entity.description)
    for alias in entity.aliases:
        _text("entity.aliases", alias)
    for key, value in entity.attributes.items():
        _check_text("entity.attributes", key)
        _check_text("entity.attributes", value)
    for fact in entity.facts:
        if not isinstance(fact, Fact):
            raise ContractError(f"entity.facts: expected Fact, got {type(fact).__name__}")
        _check_text("entity.facts", fact.text)
        _chapters("entity.facts", fact.since, fact.until)
    if entity.level not in CONTEXT_LEVELS:
        raise ContractError(f"entity.level: {option_error(CONTEXT_LEVELS, entity.level)}")
    return replace(entity, origins=())


def checked_relation(relation: Relation) -> Relation:
    """`relation` without its origin.

    Raises:
        ContractError: A field that no store can hold, named.
    """
    if not isinstance(relation, Relation):
        raise ContractError(f"relation: expected a Relation, got {type(relation).__name__}")
    for field in ("source", "target", "type"):
        _text(f"relation.{field}", getattr(relation, field))
    _chapters("relation", relation.since, relation.until)
    return replace(relation, origin=None)


def checked_ids(entity_ids: object) -> tuple[str, ...]:
    """The ids that a walk begins at, without duplicates, in order; unknown ones are not checked.

    Raises:
        ContractError: Not a list of ids; a str is refused too, as its characters would be ids.
    """
    return tuple(dict.fromkeys(valid_text("entity_ids", item) for item in texts("entity_ids", entity_ids, what="ids")))


def _text(field: str, value: object) -> None:
    _check_text(field, value)
    if not isinstance(value, str) or not value or value != value.strip():
        raise ContractError(f"{field}: expected text without white space at its ends, got {shown(value)}")


def _check_text(field: str, value: object) -> None:
    if not isinstance(value, str):
        raise ContractError(f"{field}: expected text, got {type(value).__name__}")
    if has_surrogate(value):
        raise ContractError(f"{field}: holds a lone surrogate")


def _chapters(field: str, *chapters: object) -> None:
    for chapter in chapters:
        if chapter is not None and (type(chapter) is not int or chapter < 0):
            raise ContractError(f"{field}: expected a chapter number or None, got {shown(chapter)}")


MAX_DEPTH = 5
"""Maximum depth of a walk: five steps reach most entities of a novel."""


def walk(
    entity_ids: Sequence[str],
    *,
    depth: int,
    limit: int,
    entities: Callable[[Sequence[str]], Iterable[Entity]],
    touching: Callable[[Sequence[str]], Iterable[Relation]],
) -> Graph:
    """`GraphStore.subgraph` from two queries of a store.

    Args:
        entity_ids: See `GraphStore.subgraph`.
        depth: See `GraphStore.subgraph`.
        limit: See `GraphStore.subgraph`.
        entities: Returns the existing entities of the ids, in any order.
        touching: Returns the relations that begin or end at one of the ids, in any order, with or without duplicates.

    Raises:
        ContractError: `entity_ids` is no list of ids; `depth` or `limit` is below 1.

    Cost: one call of `touching` per level, two of `entities`.
    """
    depth, limit = whole("depth", depth, least=1), whole("limit", limit, least=1)
    by_id = {entity.id: entity for entity in entities(sorted(checked_ids(entity_ids)))}
    frontier = sorted(by_id)[:limit]
    truncated = len(by_id) > limit
    reached = set(frontier)
    edges: dict[tuple[str, str, str], Relation] = {}
    for _ in range(min(depth, MAX_DEPTH)):
        if not frontier:
            break
        level = {relation_key(relation): relation for relation in touching(frontier)}
        edges |= level
        ends = sorted({end for source, target, _ in level for end in (source, target)} - reached)
        frontier = ends[: limit - len(reached)]
        truncated = truncated or len(ends) > len(frontier)
        reached.update(frontier)
    by_id |= {entity.id: entity for entity in entities(sorted(reached - by_id.keys()))}
    return Graph.of(
        (by_id[id_] for id_ in reached if id_ in by_id),
        edges.values(),
        truncated=truncated,
        warnings=[CODE_DEPTH_LIMIT(maximum=MAX_DEPTH)] if depth > MAX_DEPTH and frontier else (),
    )
