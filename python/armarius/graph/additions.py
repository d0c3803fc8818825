"""What a graph adds to the files, and what of its answers can be believed: a host's store may return anything."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from armarius.codex.merge import NameIndex
from armarius.codex.model import Entity, Relation
from armarius.errors import ContextWarning, GraphError
from armarius.graph.protocol import Graph, checked_entity, checked_relation
from armarius.warnings_table import KG_UNAVAILABLE

__all__ = ["Known", "failed", "project_id", "reason", "sound"]

logger = logging.getLogger("armarius")

Record = TypeVar("Record", Entity, Relation)


@dataclass(frozen=True, slots=True)
class Known:
    """What a graph adds to the files.

    Attributes:
        entities: By id, those that no file describes.
        relations: Those that no file states.
        warnings: `KG_UNAVAILABLE`, `KG_TRUNCATED`, or a depth that was not walked to its end.
        failure: Why there is nothing, "" when there is: names no path.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    warnings: tuple[ContextWarning, ...] = ()
    failure: str = ""


def sound(graph: Graph) -> Graph:
    """The entities and relations of `graph` that are some; `KG_UNAVAILABLE` warns of others, which are left out.

    Raises:
        TypeError, AttributeError: `graph` is none at all.
    """
    said: Iterable[object] = graph.warnings
    warnings = [warning for warning in said if isinstance(warning, ContextWarning)]
    entities, missing = _checked(graph.entities, Entity, _entity)
    relations, lacking = _checked(graph.relations, Relation, checked_relation)
    if missing or lacking:
        logger.debug("the graph store answered with %d entities and %d relations that are none", missing, lacking)
        warnings.append(KG_UNAVAILABLE())
    return Graph.of(entities, relations, truncated=bool(graph.truncated), warnings=dict.fromkeys(warnings))


def project_id(entity: Entity, names: NameIndex) -> str:
    """The id under which the files know an entity of the graph; its own where they do not."""
    if entity.id in names.entities:
        return entity.id
    return names.find(entity.name) or entity.id


def reason(error: BaseException) -> str:
    """Why a store failed, in words that may be shown: what it said itself is logged at debug level."""
    logger.debug("the graph store failed", exc_info=error)
    return str(error) if isinstance(error, GraphError) else type(error).__name__


def failed(why: str) -> Known:
    """Nothing, and the reason."""
    return Known(warnings=(KG_UNAVAILABLE(),), failure=why)


def _entity(entity: Entity) -> Entity:
    # Lists instead of tuples are no fault of the data.
    return checked_entity(replace(entity, aliases=tuple(entity.aliases), facts=tuple(entity.facts)))


def _checked(
    records: Iterable[object], kind: type[Record], check: Callable[[Record], Record]
) -> tuple[list[Record], int]:
    """Those that are whole, and how many are not."""
    kept, wrong = [], 0
    for record in records:
        try:
            if not isinstance(record, kind):
                raise ValueError(f"expected {kind.__name__}, got {type(record).__name__}")
            kept.append(check(record))
        except (ValueError, TypeError, AttributeError):
            wrong += 1
    return kept, wrong
