"""Asking a graph that may be slow, broken or gone, on behalf of a request that must be answered all the same."""

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from armarius.codex.model import Codex, Entity, Relation
from armarius.errors import KG_UNAVAILABLE, ContextWarning, GraphError
from armarius.graph.base import Graph, GraphStore, relation_key

__all__ = ["GraphGuard", "Known"]

logger = logging.getLogger("armarius")

_MOST_OVERDUE = 4


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


class GraphGuard:
    """A graph store behind a clock. Threads may share it.

    A question runs in a thread of its own; one that is overdue is left to end by itself, and while four are, no more
    are asked.

    Args:
        store: The graph; may raise anything and may never answer.
        timeout_s: Seconds that a request waits for it.
        max_entities: Entities of one answer.
    """

    def __init__(self, store: GraphStore, *, timeout_s: float = 2.0, max_entities: int = 200) -> None:
        self.store = store
        self._timeout = timeout_s
        self._limit = max_entities
        self._free = threading.BoundedSemaphore(_MOST_OVERDUE)

    def around(self, entity_ids: Sequence[str], depth: int, codex: Codex) -> Known:
        """What the graph knows around these entities that `codex` does not; never raises, never waits for long."""
        if not self._free.acquire(blocking=False):
            return _failed("earlier questions are not answered yet")
        answer: list[Known] = []

        def ask() -> None:
            try:
                found = self.store.subgraph(list(entity_ids), depth=depth, limit=self._limit)
                answer.append(self._beyond(found, codex))
            except BaseException as error:
                logger.debug("the graph store failed", exc_info=error)
                answer.append(_failed(str(error) if isinstance(error, GraphError) else type(error).__name__))
            finally:
                self._free.release()

        thread = threading.Thread(target=ask, name="armarius-graph", daemon=True)
        thread.start()
        thread.join(self._timeout)
        return answer[0] if answer else _failed(f"no answer within {self._timeout:g} s")

    def _beyond(self, graph: Graph, codex: Codex) -> Known:
        graph = Graph.of(graph.entities, graph.relations, truncated=graph.truncated, warnings=graph.warnings)
        described = {entity.id for entity in codex.entities}
        stated = {relation_key(relation) for relation in codex.relations}
        warnings = list(graph.warnings)
        if graph.truncated:
            warnings.append(ContextWarning("KG_TRUNCATED", f"the graph was walked up to {self._limit} entities"))
        return Known(
            tuple(entity for entity in graph.entities if entity.id not in described),
            tuple(relation for relation in graph.relations if relation_key(relation) not in stated),
            tuple(warnings),
        )


def _failed(why: str) -> Known:
    return Known(warnings=(KG_UNAVAILABLE,), failure=why)
