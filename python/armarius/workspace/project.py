"""What projects of folders and servers share: `ShelvedEngine`, and the reports `Health` and `ShelfStatus`."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from armarius.deadline import awaitable, calling
from armarius.engine.engine import ContextEngine
from armarius.errors import ContextWarning

P = ParamSpec("P")
Answer = TypeVar("Answer")


def _asked(verb: Callable[Concatenate[Any, P], Answer]) -> Callable[..., Answer]:
    """`verb` of one moment of the project, with `at_least`: not before that version of it is there."""

    @wraps(verb)
    def call(self: "ShelvedEngine", *args: Any, at_least: int | None = None, **keywords: Any) -> Answer:  # noqa: ANN401
        with calling(verb.__name__, keywords.get("timeout_s")), self.asked(at_least):
            return verb(self, *args, **keywords)

    return call


class ShelvedEngine(ContextEngine):
    """A `ContextEngine` that is created on demand and may be evicted from memory between requests."""

    def asked(self, at_least: int | None = None) -> AbstractContextManager[None]:
        """Keep the engine in memory during the `with` block, and count it as one request.

        Args:
            at_least: Wait for this version, on a server.
        """
        raise NotImplementedError

    assemble = _asked(ContextEngine.assemble)
    inspect = _asked(ContextEngine.inspect)
    aassemble = awaitable(assemble)
    ainspect = awaitable(inspect)
    locate = _asked(ContextEngine.locate)
    retrieve = _asked(ContextEngine.retrieve)
    aretrieve = awaitable(retrieve)
    search = _asked(ContextEngine.search)
    asearch = awaitable(search)
    excerpt = _asked(ContextEngine.excerpt)
    evidence = _asked(ContextEngine.evidence)
    aevidence = awaitable(evidence)
    propose = _asked(ContextEngine.propose)
    entities = _asked(ContextEngine.entities)
    entity = _asked(ContextEngine.entity)
    card = _asked(ContextEngine.card)
    documents = _asked(ContextEngine.documents)
    document = _asked(ContextEngine.document)
    map = _asked(ContextEngine.map)
    amap = awaitable(map)  # noqa: A003 - the verb
    map_request = _asked(ContextEngine.map_request)
    set_kind = _asked(ContextEngine.set_kind)
    active = _asked(ContextEngine.active)
    similar = _asked(ContextEngine.similar)
    asimilar = awaitable(similar)
    detect = _asked(ContextEngine.detect)
    mentions = _asked(ContextEngine.mentions)
    status = _asked(ContextEngine.status)


Texts = Mapping[str, str | bytes]


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a load balancer should send requests here.

    Attributes:
        ok: The server answered; or the folder can be read.
        seconds: Seconds since the server became unreachable; 0 if it is reachable.
        why: The fault, "" if there is none.
    """

    ok: bool
    seconds: float
    why: str


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
