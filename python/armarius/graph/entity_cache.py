"""The entities of a graph, read beside the requests: whoever comes waits for one reading, and for no longer than once.

One reading at a time runs in a thread of its own, the store's stamp first. Requests wait until it has ended or is
`timeout_s` old; while one is older than that, they are answered at once from what was read before.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from armarius.codex.identity import NameIndex
from armarius.codex.model import Codex, Entity, Relation
from armarius.deadline import remaining, wait_until
from armarius.errors import ContextWarning, GraphError
from armarius.graph.protocol import Graph, GraphStore, checked_entity, checked_relation, relation_key
from armarius.warnings import KG_TRUNCATED, KG_UNAVAILABLE

__all__ = ["Cast", "GraphGuard", "Known", "failed", "project_id", "reason", "sound"]

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


_SHARE = 0.5  # of what is left of a call: everything else comes after
_AGAIN_S = 10.0  # after a reading that failed or was late, the store is left alone for so long


@dataclass(slots=True)
class _Reading:
    """One look at the store, under way."""

    deadline: float
    wish: int
    done: threading.Event = field(default_factory=threading.Event)


class Cast:
    """Everybody in a graph. Threads may share it.

    Args:
        store: May raise anything, return anything and never answer.
        timeout_s: Seconds that requests wait for one reading, all together.
    """

    def __init__(self, store: GraphStore, timeout_s: float) -> None:
        self._store = store
        self._timeout = timeout_s
        self._lock = threading.Lock()
        self._entities: tuple[Entity, ...] = ()
        self._stamp: object = None
        self._wish, self._granted = 1, 0  # of `forget`: the last one, and the one that was read for
        self._read = self._incomplete = False
        self._again = 0.0
        self._reading: _Reading | None = None
        self._known: tuple[Codex, Known] | None = None

    @property
    def entities(self) -> tuple[Entity, ...]:
        """As last read, by id."""
        return self._entities

    def look(self) -> None:
        """Read what has changed. Hold no lock: this waits, until the reading under way is `timeout_s` old.

        Cost: one thread, about 0.1 ms, and the store's `stamp`; its `snapshot` when that differs.
        """
        with self._lock:
            if self._reading is None and time.monotonic() >= self._again:
                self._reading = self._begin()
            reading = self._reading
        if reading is not None:
            left = max(0.0, reading.deadline - time.monotonic())
            wait_until(reading.done.wait, remaining(left, share=_SHARE))

    def beside(self, codex: Codex) -> Known:
        """Those that `codex` lacks; the same object while nothing changes. Never waits."""
        with self._lock:
            if self._known is None or self._known[0] is not codex:
                names = NameIndex(codex.entities)
                mine = tuple(one for one in self._entities if project_id(one, names) not in names.entities)
                self._known = (codex, Known(entities=mine))
            known = self._known[1]
            late = self._reading is not None and time.monotonic() >= self._reading.deadline
            warnings = (KG_UNAVAILABLE(),) if late or self._incomplete or not self._read else ()
            if known.warnings != warnings:
                known = replace(known, warnings=warnings)
                self._known = (codex, known)
            return known

    def forget(self) -> None:
        """Read everything at the next look, whatever the stamp says."""
        with self._lock:
            self._wish += 1
            self._again = 0.0

    def _begin(self) -> _Reading | None:
        reading = _Reading(time.monotonic() + self._timeout, self._wish)
        try:
            threading.Thread(target=self._look, args=(reading,), name="armarius-graph", daemon=True).start()
        except RuntimeError as error:  # no thread to be had
            reason(error)
            self._failed()
            return None
        return reading

    def _look(self, reading: _Reading) -> None:
        try:
            # The stamp first: what is written while we read is read once more.
            stamp = self._ask_stamp()
            if self._granted != reading.wish or bool(stamp != self._stamp):
                graph = sound(self._store.snapshot())
                with self._lock:
                    if not self._read or graph.entities != self._entities:
                        self._entities, self._known = graph.entities, None
                    self._stamp, self._read, self._granted = stamp, True, reading.wish
                    self._incomplete = KG_UNAVAILABLE() in graph.warnings
        except BaseException as error:  # noqa: BLE001 - no source failure may fail the call, nor end in a traceback
            reason(error)
            with self._lock:
                self._failed()
        with self._lock:
            if time.monotonic() >= reading.deadline:
                self._again = time.monotonic() + _AGAIN_S
            if self._wish != reading.wish:  # told to forget meanwhile
                self._again = 0.0
            self._reading = None
        reading.done.set()

    def _failed(self) -> None:
        self._granted, self._incomplete, self._again = 0, True, time.monotonic() + _AGAIN_S

    def _ask_stamp(self) -> object:
        """What the store says changes with it; None where it says nothing."""
        stamp: Callable[[], object] | None = getattr(self._store, "stamp", None)
        return None if stamp is None else stamp()


_MOST_OVERDUE = 4
_SHARE_OF_DEADLINE = 0.75  # of what is left of a call: others come after


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

        seconds = remaining(self._timeout, share=_SHARE_OF_DEADLINE)
        return answer[0] if wait_until(over, seconds) else failed(f"no answer within {round(seconds, 2):g} s")

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
