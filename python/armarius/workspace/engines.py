"""Engines of projects in folders and on servers: an LRU cache of them, `ShelvedEngine`, counters, quotas, reports."""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar, cast

from armarius.deadline import awaitable as in_thread
from armarius.deadline import calling, stage, wait_until
from armarius.engine.build import EngineParts
from armarius.engine.engine import ContextEngine
from armarius.engine.maps import Model
from armarius.engine.replies import Proposals
from armarius.errors import Backpressure, ContextWarning, ContractError, StoreError, UnknownProject
from armarius.text.chat import check_model
from armarius.validation import near, shown, suggestion, whole

if TYPE_CHECKING:
    from armarius.workspace.verbs import ShelvedVerbs
else:
    ShelvedVerbs = ContextEngine


class HotEngine:
    """An engine in memory; base class of the entries of an `EngineCache`.

    Attributes:
        base, per_character: Memory in bytes of an engine without texts, and of each character; measured: see
            docs/decisions/0140.
        parts: Parts of the engine.
        users: Number of threads that use it now.
        bytes: Estimated memory, from the characters of the project; computed at its last use.
    """

    base: ClassVar[int]
    per_character: ClassVar[int]

    def __init__(self, parts: EngineParts) -> None:
        self.parts = parts
        self.users = self.bytes = 0

    @property
    def characters(self) -> int:
        """Characters of the documents in memory."""
        return self.parts.project.characters

    def measure(self) -> None:
        """Set `bytes`."""
        self.bytes = self.base + self.per_character * self.characters

    def close(self) -> None:
        """Stop its background work. Callers that still hold the engine can use it."""
        if self.parts.recall is not None:
            self.parts.recall.close()


Hot = TypeVar("Hot", bound=HotEngine)


class EngineCache(Generic[Hot]):
    """An LRU cache of engines. Thread-safe; threads wait only for an engine of the same project.

    Args:
        limit: Maximum memory in bytes.
        most: Maximum number of engines; None is unlimited.

    Attributes:
        hits: Requests with an engine in memory.
        misses: Requests that created an engine.
        evicted: Number of evicted engines.
    """

    def __init__(self, limit: int, most: int | None = None) -> None:
        self.limit = limit
        self.most = most
        self.hits = self.misses = self.evicted = 0
        self._lock = threading.Lock()
        self._opening: dict[Hashable, threading.Lock] = {}
        self._kept: OrderedDict[Hashable, Hot] = OrderedDict()
        self._closed = False

    @contextmanager
    def used(self, key: Hashable, make: Callable[[], Hot]) -> Iterator[Hot]:
        """The engine of a project, created if absent; not evicted inside the `with` block."""
        hot = self._take_engine(key)
        if hot is None:
            with self._lock:
                opening = self._opening.setdefault(key, threading.Lock())
            with opening:
                hot = self._take_engine(key)
                if hot is None:
                    try:
                        with stage("open"):
                            made = make()
                    except BaseException:
                        with self._lock:
                            self._opening.pop(key, None)
                        raise
                    hot = self._add_engine(key, made)
        try:
            yield hot
        finally:
            with self._lock:
                hot.users -= 1
                hot.measure()
            self._evict_engines()

    def drop(self, key: Hashable, hot: Hot | None = None) -> None:
        """Remove an engine; with `hot`, only if it is that one."""
        with self._lock:
            engine = self._kept.get(key)
            if engine is None or (hot is not None and engine is not hot):
                return
            del self._kept[key]
        engine.close()

    def close(self) -> None:
        """Remove all engines; later requests raise StoreError."""
        with self._lock:
            self._closed = True
            engines, self._kept = list(self._kept.values()), OrderedDict()
        for hot in engines:
            hot.close()

    @property
    def bytes(self) -> int:
        """Estimated memory of all engines, in bytes."""
        with self._lock:
            return sum(hot.bytes for hot in self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def _take_engine(self, key: Hashable) -> Hot | None:
        with self._lock:
            if self._closed:
                raise StoreError("the shelf is closed")
            hot = self._kept.get(key)
            if hot is not None:
                self._kept.move_to_end(key)
                hot.users += 1
                self.hits += 1
            return hot

    def _add_engine(self, key: Hashable, hot: Hot) -> Hot:
        hot.measure()
        hot.users = 1
        with self._lock:
            self._opening.pop(key, None)
            closed = self._closed
            if not closed:
                self.misses += 1
                self._kept[key] = hot
        if closed:
            hot.close()
            raise StoreError("the shelf is closed")
        self._evict_engines()
        return hot

    def _evict_engines(self) -> None:
        """Evict least recently used engines; the most recent one stays even above the limit."""
        leaving = []
        with self._lock:
            total = sum(hot.bytes for hot in self._kept.values())
            for key in list(self._kept)[:-1]:
                if total <= self.limit and (self.most is None or len(self._kept) <= self.most):
                    break
                hot = self._kept[key]
                if not hot.users:
                    total -= hot.bytes
                    leaving.append(self._kept.pop(key))
                    self.evicted += 1
        for hot in leaving:
            hot.close()


_TURN: ContextVar["tuple[Turns, bool] | None"] = ContextVar("armarius_turn", default=None)
"""The shelf that the request under way has a place at, and whether it runs or waits."""
_PATIENCE_S = 30.0


class Turns:
    """How many requests of a shelf run at once, and how many wait; the next is refused at once. Thread-safe.

    Args:
        running: At most so many; None is unlimited.
        waiting: At most so many more.

    Attributes:
        refused: Number of requests that were refused.
    """

    def __init__(self, running: int | None, waiting: int) -> None:
        self._running = None if running is None else whole("max_concurrent", running, least=1)
        self._places = (running or 0) + whole("max_waiting", waiting)
        self._turns = threading.Semaphore(running or 1)
        self._lock = threading.Lock()
        self._taken = self.refused = 0
        self._seconds = 0.1  # that a request takes, about

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for the block, running or waiting; a block inside has that of the outer one.

        Raises:
            Backpressure: No place is free.
        """
        at = _TURN.get()
        if self._running is None or (at is not None and at[0] is self):
            yield
            return
        with self._lock:
            if self._taken >= self._places:
                self.refused += 1
                raise self._full_error()
            self._taken += 1
        token = _TURN.set((self, False))
        try:
            yield
        finally:
            _TURN.reset(token)
            with self._lock:
                self._taken -= 1

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Run the block when it is its turn.

        Raises:
            Backpressure: There is no place, or the turn does not come before the deadline of the call.
        """
        with self.place():
            if self._running is None or _TURN.get() == (self, True):
                yield
                return
            if not wait_until(lambda seconds: self._turns.acquire(timeout=seconds), _PATIENCE_S):
                raise self._full_error()
            token = _TURN.set((self, True))
            began = time.monotonic()
            try:
                yield
            finally:
                self._seconds += (time.monotonic() - began - self._seconds) / 8
                _TURN.reset(token)
                self._turns.release()

    def _full_error(self) -> Backpressure:
        seconds = max(0.1, round(self._seconds * self._taken / (self._running or 1), 1))
        return Backpressure(f"{self._taken} requests run or wait; try again in {seconds} s", seconds=seconds)


class Counters:
    """Totals since the shelf was created. Thread-safe.

    Attributes:
        questions: Requests to any project.
        seconds: Their total time.
        stale: Requests answered from memory while the server was unreachable.
        writes: Committed writes.
        bytes: Total size of the written files.
    """

    def __init__(self) -> None:
        self.questions = self.stale = self.writes = self.bytes = 0
        self.seconds = 0.0
        self._lock = threading.Lock()

    def asked(self, seconds: float, *, stale: bool = False) -> None:
        """Count one request."""
        with self._lock:
            self.questions += 1
            self.seconds += seconds
            self.stale += stale

    def written(self, size: int) -> None:
        """Count one write."""
        with self._lock:
            self.writes += 1
            self.bytes += size


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(B|KB|KiB|MB|MiB|GB|GiB)\s*", re.IGNORECASE)
_UNITS = {"b": 1, "kb": 10**3, "kib": 2**10, "mb": 10**6, "mib": 2**20, "gb": 10**9, "gib": 2**30}
_LEAST = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits of one project; None is unlimited.

    Attributes:
        files: Maximum number of files.
        bytes: Maximum size of all files.
    """

    files: int | None = None
    bytes: int | None = None


def bytes_in(memory: str | int) -> int:
    """Parse a size such as "2 GiB" or a number of bytes.

    Raises:
        ContractError: The value is invalid, or below 16 MiB.
    """
    if isinstance(memory, str):
        match = _SIZE.fullmatch(memory)
        if match is None:
            raise ContractError(f'memory: expected a size such as "2 GiB" or a number of bytes, got {shown(memory)}')
        memory = int(float(match[1]) * _UNITS[match[2].lower()])
    if type(memory) is not int or memory < _LEAST:
        raise ContractError(f"memory: at least 16 MiB, got {shown(memory)}")
    return memory


def unknown_project(name: str, names: Iterable[str]) -> UnknownProject:
    """The error about a project that a shelf does not have, with the closest of its names."""
    close = near(name, names)
    return UnknownProject(f"no project is called {name!r}{suggestion(close)}", close)


P = ParamSpec("P")
Self = TypeVar("Self", bound="ShelvedEngine")
Answer = TypeVar("Answer")
ASKED = (
    "assemble inspect locate retrieve find search excerpt rewording_request evidence propose entities entity card"
    " documents document map understand understanding_request model_log set_kind active similar detect mentions status"
)
"""The verbs that take `at_least` too, each with its form for coroutines."""


def _at_moment(verb: Callable[Concatenate[Any, P], Answer]) -> Callable[..., Answer]:
    """`verb` of one moment of the project, with `at_least`: not before that version of it is there."""

    @wraps(verb)
    def call(self: "ShelvedEngine", *args: Any, at_least: int | None = None, **keywords: Any) -> Answer:  # noqa: ANN401
        with calling(verb.__name__, keywords.get("timeout_s")), self.asked(at_least):
            return verb(self, *args, **keywords)

    return call


def awaitable(
    verb: Callable[Concatenate[Self, P], Answer],
) -> Callable[Concatenate[Self, P], Coroutine[Any, Any, Answer]]:
    """As `deadline.awaitable`; refused before a thread is taken, where the shelf has no place for it."""
    threaded = in_thread(verb)

    @wraps(threaded)
    async def call(self: Self, *args: P.args, **keywords: P.kwargs) -> Answer:
        with self.turns.place():
            return await threaded(self, *args, **keywords)

    return cast("Callable[Concatenate[Self, P], Coroutine[Any, Any, Answer]]", call)


class ShelvedEngine(ShelvedVerbs):
    """A `ContextEngine` that is created on demand and may be evicted from memory between requests."""

    _closed = ""

    @property
    def turns(self) -> Turns:
        """Those of its shelf."""
        raise NotImplementedError

    def asked(self, at_least: int | None = None) -> AbstractContextManager[None]:
        """Keep the engine in memory during the `with` block, and count it as one request.

        Args:
            at_least: Wait for this version, on a server.
        """
        raise NotImplementedError

    def understand(
        self, model: Model, *, model_name: str = "", timeout_s: float | None = None, at_least: int | None = None
    ) -> Proposals:
        """As `ContextEngine.understand`; `at_least` is a version of the project, not before which it is asked about."""
        check_model("model", model)
        request = self.understanding_request(at_least=at_least)  # which alone has a turn: a model may take minutes
        return self._parts.understanding.answered(request, model, model_name, timeout_s)

    aunderstand = in_thread(understand)  # type: ignore[arg-type]  # the stub has another class before it


for _name in ASKED.split():
    if _name not in vars(ShelvedEngine):
        _verb = _at_moment(getattr(ContextEngine, _name))
        setattr(ShelvedEngine, _name, _verb)
        if hasattr(ContextEngine, f"a{_name}"):
            setattr(ShelvedEngine, f"a{_name}", awaitable(_verb))


Texts = Mapping[str, str | bytes]


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a load balancer should send requests here.

    Attributes:
        ok: The server answered; or the folder can be read.
        seconds: Seconds since the server became unreachable; 0 if it is reachable.
        why: The fault, "" if there is none.
        ready: Whether requests are answered: `ok`, or of projects in memory while the server is away.
    """

    ok: bool
    seconds: float
    why: str
    ready: bool


@dataclass(frozen=True, slots=True)
class ShelfStatus:
    """Engines in memory and totals of requests of a shelf.

    Attributes:
        place: Host and database, without user and password; or the name of the folder.
        hot: Engines in memory.
        bytes: Their estimated memory; at most `limit` for more than one engine.
        limit: Maximum memory in bytes.
        hits: Requests with an engine in memory.
        misses: Requests that created an engine.
        evicted: Number of evicted engines.
        asked: Number of requests.
        seconds: Their total time.
        writes: Committed calls of `write`.
        written: Their total size in bytes.
        stale: Requests answered from memory while the server was unreachable.
        lag: Seconds. On a server: age of the data in memory, 0 while the server is reachable. In folders: time from
            the last file change to its comparison with the index.
        warnings: Warnings of the whole shelf: `WATCH_UNAVAILABLE`.
        refused: Requests that were refused, as too many ran or waited.
    """

    place: str
    hot: int
    bytes: int
    limit: int
    hits: int
    misses: int
    evicted: int
    asked: int
    seconds: float
    writes: int
    written: int
    stale: int
    lag: float = 0.0
    warnings: tuple[ContextWarning, ...] = ()
    refused: int = 0
