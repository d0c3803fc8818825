"""A cache of all entities of a graph store, and a guard with timeouts for its queries.

A background thread reads the store's stamp, then its snapshot; one reading runs at a time. Requests wait for it until
it is `timeout_s` old; after that they use the previous result at once.

The table `graph` of `armarius.toml`:

    store = "nervusdb"               # "project" (the default): what the files say, and nothing else
    path = ".armarius/nervusdb"      # the database, inside the project unless that is trusted
    timeout_s = 2.0                  # that a request waits; then KG_UNAVAILABLE and the answer from the files
    max_entities = 200               # of one answer; then KG_TRUNCATED

A project cannot choose the program: `NERVUSDB_BIN`, the user's configuration or the PATH does. The program reads and
writes files of the project, so it is run only for trusted projects; otherwise the graph returns the reason.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import armarius.doors as doors
from armarius.codex.model import Codex, Entity, GraphEntities, NameIndex, Relation
from armarius.deadline import remaining, wait_until
from armarius.errors import ConfigError, ContextWarning, GraphError
from armarius.graph.protocol import Graph, GraphStore, checked_entity, checked_relation, relation_key
from armarius.trust.settings import CONFIG_NAME, Config, Permissions
from armarius.warnings import KG_TRUNCATED, KG_UNAVAILABLE

logger = logging.getLogger("armarius")

Record = TypeVar("Record", Entity, Relation)


def valid_graph(graph: Graph) -> Graph:
    """The valid entities and relations of `graph`; the others are left out with a warning `KG_UNAVAILABLE`.

    Raises:
        TypeError, AttributeError: `graph` is not a graph.
    """
    notes: Iterable[object] = graph.warnings
    warnings = [warning for warning in notes if isinstance(warning, ContextWarning)]
    entities, missing = _check_records(graph.entities, Entity, _entity)
    relations, lacking = _check_records(graph.relations, Relation, checked_relation)
    if missing or lacking:
        logger.debug("the graph store answered with %d entities and %d relations that are none", missing, lacking)
        warnings.append(KG_UNAVAILABLE())
    return Graph.of(entities, relations, truncated=bool(graph.truncated), warnings=dict.fromkeys(warnings))


def project_id(entity: Entity, names: NameIndex) -> str:
    """The id of an entity of the graph in the files, else its own id."""
    if entity.id in names.entities:
        return entity.id
    return names.find(entity.name) or entity.id


def reason(error: BaseException) -> str:
    """Why a store failed, as text for users; its own message is logged at debug level."""
    logger.debug("the graph store failed", exc_info=error)
    return str(error) if isinstance(error, GraphError) else type(error).__name__


def no_result(why: str) -> GraphEntities:
    """An empty result with the reason."""
    return GraphEntities(warnings=(KG_UNAVAILABLE(),), failure=why)


def _entity(entity: Entity) -> Entity:
    # Lists are accepted for tuples.
    return checked_entity(replace(entity, aliases=tuple(entity.aliases), facts=tuple(entity.facts)))


def _check_records(
    records: Iterable[object], kind: type[Record], check: Callable[[Record], Record]
) -> tuple[list[Record], int]:
    """The valid items, and the number of invalid ones."""
    kept, wrong = [], 0
    for record in records:
        try:
            if not isinstance(record, kind):
                raise ValueError(f"expected {kind.__name__}, got {type(record).__name__}")
            kept.append(check(record))
        except (ValueError, TypeError, AttributeError):
            wrong += 1
    return kept, wrong


_SHARE = 0.5  # share of the remaining time: all other steps follow
_AGAIN_S = 10.0  # pause after a reading that failed or was late


@dataclass(slots=True)
class _ReadJob:
    """A reading of the store in progress."""

    deadline: float
    wish: int
    done: threading.Event = field(default_factory=threading.Event)


class Cast:
    """All entities and relations of a graph store, cached. Thread safe.

    Args:
        store: May raise anything, return anything and never answer.
        timeout_s: Seconds that requests wait for one reading in total.
    """

    def __init__(self, store: GraphStore, timeout_s: float) -> None:
        self._store = store
        self._timeout = timeout_s
        self._lock = threading.Lock()
        self._entities: tuple[Entity, ...] = ()
        self._stamp: object = None
        self._wish, self._granted = 1, 0  # counts of `forget`: now, and at the last reading
        self._read = self._incomplete = False
        self._again = 0.0
        self._reading: _ReadJob | None = None
        self._known: tuple[Codex, GraphEntities] | None = None

    @property
    def entities(self) -> tuple[Entity, ...]:
        """As last read, by id."""
        return self._entities

    def look(self) -> None:
        """Read changes. Call without locks: waits until the current reading is `timeout_s` old.

        Cost: one thread, about 0.1 ms, and the store's `stamp`; its `snapshot` when that differs.
        """
        with self._lock:
            if self._reading is None and time.monotonic() >= self._again:
                self._reading = self._begin()
            reading = self._reading
        if reading is not None:
            left = max(0.0, reading.deadline - time.monotonic())
            wait_until(reading.done.wait, remaining(left, share=_SHARE))

    def missing_from(self, codex: Codex) -> GraphEntities:
        """Entities and relations that `codex` lacks; the same object while nothing changes. Never waits."""
        with self._lock:
            if self._known is None or self._known[0] is not codex:
                names = NameIndex(codex.entities)
                mine = tuple(entity for entity in self._entities if project_id(entity, names) not in names.entities)
                self._known = (codex, GraphEntities(entities=mine))
            result = self._known[1]
            late = self._reading is not None and time.monotonic() >= self._reading.deadline
            warnings = (KG_UNAVAILABLE(),) if late or self._incomplete or not self._read else ()
            if result.warnings != warnings:
                result = replace(result, warnings=warnings)
                self._known = (codex, result)
            return result

    def forget(self) -> None:
        """Read everything at the next `look`, also with an unchanged stamp."""
        with self._lock:
            self._wish += 1
            self._again = 0.0

    def _begin(self) -> _ReadJob | None:
        reading = _ReadJob(time.monotonic() + self._timeout, self._wish)
        try:
            threading.Thread(target=self._look, args=(reading,), name="armarius-graph", daemon=True).start()
        except RuntimeError as error:  # no thread to be had
            reason(error)
            self._note_failure()
            return None
        return reading

    def _look(self, reading: _ReadJob) -> None:
        try:
            # The stamp first, so that writes during the reading cause another one.
            ask: Callable[[], object] | None = getattr(self._store, "stamp", None)
            stamp = None if ask is None else ask()
            if self._granted != reading.wish or bool(stamp != self._stamp):
                graph = valid_graph(self._store.snapshot())
                with self._lock:
                    if not self._read or graph.entities != self._entities:
                        self._entities, self._known = graph.entities, None
                    self._stamp, self._read, self._granted = stamp, True, reading.wish
                    self._incomplete = KG_UNAVAILABLE() in graph.warnings
        except BaseException as error:  # noqa: BLE001 - no source failure may fail the call, nor end in a traceback
            reason(error)
            with self._lock:
                self._note_failure()
        with self._lock:
            if time.monotonic() >= reading.deadline:
                self._again = time.monotonic() + _AGAIN_S
            if self._wish != reading.wish:  # `forget` was called meanwhile
                self._again = 0.0
            self._reading = None
        reading.done.set()

    def _note_failure(self) -> None:
        self._granted, self._incomplete, self._again = 0, True, time.monotonic() + _AGAIN_S


_MOST_OVERDUE = 4
_SHARE_OF_DEADLINE = 0.75  # share of the remaining time: other steps follow


class GraphGuard:
    """A graph store with a timeout. Thread safe.

    Each query runs in a thread; an overdue one is abandoned, and with four abandoned threads no query is sent.

    Args:
        store: The graph; may fail in any way, or never return.
        timeout_s: Seconds that a request waits.
        max_entities: Entities of one walk.

    Attributes:
        cast: All entities of the graph, for finding them in texts.
    """

    def __init__(self, store: GraphStore, *, timeout_s: float = 2.0, max_entities: int = 200) -> None:
        self.store = store
        self.cast = Cast(store, timeout_s)
        self._timeout = timeout_s
        self._limit = max_entities
        self._free = threading.BoundedSemaphore(_MOST_OVERDUE)

    def around(self, entity_ids: Sequence[str], depth: int, codex: Codex) -> GraphEntities:
        """The neighbourhood of these entities, without what `codex` has; never raises. Call without locks: it waits."""
        if not self._free.acquire(blocking=False):
            return no_result("earlier questions are not answered yet")
        answer: list[GraphEntities] = []

        def ask() -> None:
            try:
                names = NameIndex(codex.entities)
                wanted = set(entity_ids)
                others = [entity.id for entity in self.cast.entities if project_id(entity, names) in wanted]
                starts = sorted({*entity_ids, *others})
                graph = valid_graph(self.store.subgraph(starts, depth=depth, limit=self._limit))
                answer.append(self._graph_entities(graph, codex, names))
            except BaseException as error:  # noqa: BLE001 - no source failure may fail the call, nor end in a traceback
                answer.append(no_result(reason(error)))
            finally:
                self._free.release()

        thread = threading.Thread(target=ask, name="armarius-graph", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no thread to be had
            self._free.release()
            return no_result(reason(error))

        def over(seconds: float) -> bool:
            thread.join(seconds)
            return bool(answer)

        seconds = remaining(self._timeout, share=_SHARE_OF_DEADLINE)
        return answer[0] if wait_until(over, seconds) else no_result(f"no answer within {round(seconds, 2):g} s")

    def _graph_entities(self, graph: Graph, codex: Codex, names: NameIndex) -> GraphEntities:
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
        return GraphEntities(
            tuple(entity for entity in whole.entities if entity.id not in names.entities),
            tuple(relation for relation in whole.relations if relation_key(relation) not in stated),
            tuple(warnings),
        )


_KEYS: dict[str, tuple[type, ...]] = {
    "store": (str,), "path": (str,), "timeout_s": (int, float), "max_entities": (int,),
}  # fmt: skip
_PATH = ".armarius/nervusdb"


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """The table `graph`, checked; `store` is None for the project's own graph."""

    store: GraphStore | None = None
    timeout_s: float = 2.0
    max_entities: int = 200

    def guard(self, store: GraphStore) -> GraphGuard:
        """`store` with these limits."""
        return GraphGuard(store, timeout_s=self.timeout_s, max_entities=self.max_entities)


def read_graph_options(config: Config, root: Path | None, *, permissions: Permissions | None = None) -> GraphOptions:
    """The table `graph` of a project's configuration; does not look for a program.

    Args:
        config: The project's configuration.
        root: The project folder, None where there is none.
        permissions: Permissions of the project; None reads the user's configuration.

    Raises:
        ConfigError: An unknown key, a value of the wrong kind, or a database in the folder of a project that has none;
            names file and key.
    """
    options = config.typed_table("graph", _KEYS)
    name, path = options.pop("store", "project"), options.pop("path", None)
    if name not in ("project", "nervusdb"):
        raise ConfigError(f"{CONFIG_NAME}: graph.store must be project or nervusdb, got {name!r}")
    if root is None:
        if name == "nervusdb":
            raise ConfigError(f"{CONFIG_NAME}: graph.store is nervusdb, which needs a project folder")
        return GraphOptions(None, **options)
    permissions = Permissions.of(root) if permissions is None else permissions
    heeded = permissions.heeded_config(config).table("graph")
    path = heeded.get("path")
    where = None if path is None else permissions.place("graph.path", path)
    if where is not None and where.resolve() == root.resolve():
        raise ConfigError(f"{CONFIG_NAME}: graph.path must be a folder of its own, got {path!r}")
    if heeded.get("store", "project") == "project":
        return GraphOptions(None, **options)
    return GraphOptions(doors.NervusDBGraph(where or root / _PATH, project=root), **options)
