"""The walk over a graph: level by level, for every store that can list the relations of some entities."""

from collections.abc import Callable, Iterable, Sequence

from armarius.codex.model import Entity, Relation
from armarius.graph.protocol import Graph, checked_ids, relation_key
from armarius.strict import whole
from armarius.warnings_table import CODE_DEPTH_LIMIT

__all__ = ["MAX_DEPTH", "walk"]

MAX_DEPTH = 5
"""Steps that no walk exceeds: five steps from anybody is most of a novel."""


def walk(
    entity_ids: Sequence[str],
    *,
    depth: int,
    limit: int,
    entities: Callable[[Sequence[str]], Iterable[Entity]],
    touching: Callable[[Sequence[str]], Iterable[Relation]],
) -> Graph:
    """`GraphStore.subgraph` from two questions that a store can answer.

    Args:
        entity_ids: See `GraphStore.subgraph`.
        depth: See `GraphStore.subgraph`.
        limit: See `GraphStore.subgraph`.
        entities: From ids to those entities that there are, in any order.
        touching: From ids to the relations that begin or end at one of them, in any order, repeated or not.

    Raises:
        ContractError: `entity_ids` is no list of ids; `depth` or `limit` is below 1.

    Cost: one call of `touching` per level, two of `entities`.
    """
    depth, limit = whole("depth", depth, least=1), whole("limit", limit, least=1)
    known = {entity.id: entity for entity in entities(sorted(checked_ids(entity_ids)))}
    frontier = sorted(known)[:limit]
    truncated = len(known) > limit
    reached = set(frontier)
    found: dict[tuple[str, str, str], Relation] = {}
    for _ in range(min(depth, MAX_DEPTH)):
        if not frontier:
            break
        level = {relation_key(relation): relation for relation in touching(frontier)}
        found |= level
        ends = sorted({end for source, target, _ in level for end in (source, target)} - reached)
        frontier = ends[: limit - len(reached)]
        truncated = truncated or len(ends) > len(frontier)
        reached.update(frontier)
    known |= {entity.id: entity for entity in entities(sorted(reached - known.keys()))}
    return Graph.of(
        (known[id_] for id_ in reached if id_ in known),
        found.values(),
        truncated=truncated,
        warnings=[CODE_DEPTH_LIMIT(maximum=MAX_DEPTH)] if depth > MAX_DEPTH and frontier else (),
    )
