"""Asking a graph that may be slow, broken or gone, on behalf of a request that must be answered all the same.

A thing may go by one id in the files and by another in the graph: where the graph's name means exactly one entity of
the files, the two are one, under the id of the files.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace

from armarius.calls import patiently, remaining
from armarius.codex.merge import NameIndex
from armarius.codex.model import Codex
from armarius.graph.additions import (
    Known,
    failed,
    project_id,
    reason,
    sound,
)
from armarius.graph.entity_cache import Cast
from armarius.graph.protocol import Graph, GraphStore, relation_key
from armarius.warnings_table import KG_TRUNCATED

__all__ = ["GraphGuard"]

_MOST_OVERDUE = 4
_SHARE = 0.75  # of what is left of a call: others come after


class GraphGuard:
    """A graph store behind a clock. Threads may share it.

    A question runs in a thread of its own; one that is overdue is left to end by itself, and while four are, no more
    are asked.

    Args:
        store: The graph; may raise anything, return anything and never answer.
        timeout_s: Seconds that a request waits for it.
        max_entities: Entities of one walk.

    Attributes:
        cast: Everybody in the graph, to be found in texts.
    """

    def __init__(self, store: GraphStore, *, timeout_s: float = 2.0, max_entities: int = 200) -> None:
        self.store = store
        self.cast = Cast(store, timeout_s)
        self._timeout = timeout_s
        self._limit = max_entities
        self._free = threading.BoundedSemaphore(_MOST_OVERDUE)

    def around(self, entity_ids: Sequence[str], depth: int, codex: Codex) -> Known:
        """What the graph knows around these entities that `codex` does not; never raises. Hold no lock: this waits."""
        if not self._free.acquire(blocking=False):
            return failed("earlier questions are not answered yet")
        answer: list[Known] = []

        def ask() -> None:
            try:
                names = NameIndex(codex.entities)
                wanted = set(entity_ids)
                others = [one.id for one in self.cast.entities if project_id(one, names) in wanted]
                starts = sorted({*entity_ids, *others})
                found = sound(self.store.subgraph(starts, depth=depth, limit=self._limit))
                answer.append(self._beyond(found, codex, names))
            except BaseException as error:  # noqa: BLE001 - no source failure may fail the call, nor end in a traceback
                answer.append(failed(reason(error)))
            finally:
                self._free.release()

        thread = threading.Thread(target=ask, name="armarius-graph", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no thread to be had
            self._free.release()
            return failed(reason(error))

        def over(seconds: float) -> bool:
            thread.join(seconds)
            return bool(answer)

        seconds = remaining(self._timeout, share=_SHARE)
        return answer[0] if patiently(over, seconds) else failed(f"no answer within {round(seconds, 2):g} s")

    def _beyond(self, graph: Graph, codex: Codex, names: NameIndex) -> Known:
        ids = {entity.id: project_id(entity, names) for entity in graph.entities}
        whole = Graph.of(
            (replace(entity, id=ids[entity.id]) for entity in graph.entities),
            (
                replace(relation, source=ids[relation.source], target=ids[relation.target])
                for relation in graph.relations
            ),
        )
        stated = {relation_key(relation) for relation in codex.relations}
        warnings = list(graph.warnings)
        if graph.truncated:
            warnings.append(KG_TRUNCATED(limit=self._limit))
        return Known(
            tuple(entity for entity in whole.entities if entity.id not in names.entities),
            tuple(relation for relation in whole.relations if relation_key(relation) not in stated),
            tuple(warnings),
        )
