"""Asking a graph that may be slow, broken or gone, on behalf of a request that must be answered all the same.

A thing may go by one id in the files and by another in the graph: where the graph's name means exactly one entity of
the files, the two are one, under the id of the files.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from armarius.codex.merge import NameIndex
from armarius.codex.model import Codex, Entity, Relation
from armarius.errors import KG_UNAVAILABLE, ContextWarning, GraphError
from armarius.graph.base import Graph, GraphStore, relation_key

__all__ = ["GraphGuard", "Known"]

logger = logging.getLogger("armarius")

_MOST_OVERDUE = 4
_AGAIN_S = 10.0  # after a failure the names are not asked for again for so long

Answer = TypeVar("Answer")


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


@dataclass(slots=True)
class _Listing:
    """The entities of the graph as last read, and when to read them again."""

    entities: tuple[Entity, ...] = ()
    stamp: object = None
    read: bool = False
    stale: bool = True
    again: float = 0.0
    loading: threading.Thread | None = None
    known: tuple[Codex, Known] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class GraphGuard:
    """A graph store behind a clock. Threads may share it.

    A question runs in a thread of its own; one that is overdue is left to end by itself, and while four are, no more
    are asked.

    Args:
        store: The graph; may raise anything and may never answer.
        timeout_s: Seconds that a request waits for it.
        max_entities: Entities of one walk.
    """

    def __init__(self, store: GraphStore, *, timeout_s: float = 2.0, max_entities: int = 200) -> None:
        self.store = store
        self._timeout = timeout_s
        self._limit = max_entities
        self._free = threading.BoundedSemaphore(_MOST_OVERDUE)
        self._listing = _Listing()

    def around(self, entity_ids: Sequence[str], depth: int, codex: Codex) -> Known:
        """What the graph knows around these entities that `codex` does not; never raises, never waits for long."""
        if not self._free.acquire(blocking=False):
            return _failed("earlier questions are not answered yet")
        answer: list[Known] = []

        def ask() -> None:
            try:
                names = NameIndex(codex.entities)
                wanted = set(entity_ids)
                others = [one.id for one in self._listing.entities if _project_id(one, names) in wanted]
                starts = sorted({*entity_ids, *others})
                found = self.store.subgraph(starts, depth=depth, limit=self._limit)
                answer.append(self._beyond(found, codex, names))
            except BaseException as error:  # noqa: BLE001 - no source failure may fail the call, nor end in a traceback
                answer.append(_failed(_reason(error)))
            finally:
                self._free.release()

        thread = threading.Thread(target=ask, name="armarius-graph", daemon=True)
        thread.start()
        thread.join(self._timeout)
        return answer[0] if answer else _failed(f"no answer within {self._timeout:g} s")

    def cast(self, codex: Codex) -> Known:
        """The entities of the graph that `codex` lacks, to be found in texts; the same object while nothing changes.

        Read when the store's stamp differs, and after `forget`. A reading that is overdue goes on and counts later;
        until there is one, and after one that failed, the warning says so.
        """
        listing = self._listing
        with listing.lock:
            stamp = self._stamp()
            due = listing.stale or stamp != listing.stamp
            if listing.loading is None and due and time.monotonic() >= listing.again:
                listing.loading = threading.Thread(target=self._list, name="armarius-graph", daemon=True)
                listing.loading.start()
            loading = listing.loading
        if loading is not None:
            loading.join(self._timeout)
        with listing.lock:
            if listing.known is None or listing.known[0] is not codex:
                names = NameIndex(codex.entities)
                mine = tuple(one for one in listing.entities if _project_id(one, names) not in names.entities)
                listing.known = (codex, Known(entities=mine))
            known = listing.known[1]
            late = loading is not None and listing.loading is loading
            warnings = (KG_UNAVAILABLE,) if late or listing.stale or not listing.read else ()
            if known.warnings != warnings:
                known = replace(known, warnings=warnings)
                listing.known = (codex, known)
            return known

    def forget(self) -> None:
        """Read the entities again before the next answer, whatever the stamp says."""
        with self._listing.lock:
            self._listing.stale, self._listing.again = True, 0.0

    def _list(self) -> None:
        listing = self._listing
        try:
            # The stamp first: what is written while we read is read once more.
            stamp, entities = self._stamp(), self.store.snapshot().entities
        except BaseException as error:  # noqa: BLE001 - as in `around`
            _reason(error)
            with listing.lock:
                listing.stale, listing.again, listing.loading = True, time.monotonic() + _AGAIN_S, None
            return
        with listing.lock:
            if not listing.read or entities != listing.entities:
                listing.entities, listing.known = entities, None
            listing.stamp, listing.read, listing.stale, listing.loading = stamp, True, False, None

    def _stamp(self) -> object:
        """What the store says changes with it; None where it says nothing."""
        stamp: Callable[[], object] | None = getattr(self.store, "stamp", None)
        try:
            return None if stamp is None else stamp()
        except Exception as error:  # noqa: BLE001 - a host's store may raise anything
            _reason(error)
            return None

    def _beyond(self, graph: Graph, codex: Codex, names: NameIndex) -> Known:
        ids = {entity.id: _project_id(entity, names) for entity in graph.entities}
        whole = Graph.of(
            (replace(entity, id=ids[entity.id]) for entity in graph.entities),
            (
                replace(relation, source=ids.get(relation.source, ""), target=ids.get(relation.target, ""))
                for relation in graph.relations
            ),
        )
        stated = {relation_key(relation) for relation in codex.relations}
        warnings = list(graph.warnings)
        if graph.truncated:
            warnings.append(ContextWarning("KG_TRUNCATED", f"the graph was walked up to {self._limit} entities"))
        return Known(
            tuple(entity for entity in whole.entities if entity.id not in names.entities),
            tuple(relation for relation in whole.relations if relation_key(relation) not in stated),
            tuple(warnings),
        )


def _project_id(entity: Entity, names: NameIndex) -> str:
    """The id under which the files know an entity of the graph; its own where they do not."""
    if entity.id in names.entities:
        return entity.id
    return names.find(entity.name) or entity.id


def _reason(error: BaseException) -> str:
    logger.debug("the graph store failed", exc_info=error)
    return str(error) if isinstance(error, GraphError) else type(error).__name__


def _failed(why: str) -> Known:
    return Known(warnings=(KG_UNAVAILABLE,), failure=why)
