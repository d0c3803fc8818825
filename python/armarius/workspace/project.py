"""The engine of one project on a server: the same verbs, and `write`."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar
from uuid import UUID

from armarius.config import CONFIG_NAME
from armarius.deadline import awaitable, calling
from armarius.engine.build import Parts
from armarius.engine.engine import ContextEngine
from armarius.errors import ConfigError, ContextWarning, ContractError, StoreError, StoreUnavailable
from armarius.lorebooks.importing import Importing
from armarius.prompt.profile import read_settings
from armarius.store.postgres.files import put_files
from armarius.store.postgres.keys import check_path
from armarius.store.postgres.pool import Pool
from armarius.store.postgres.session import Session
from armarius.store.postgres.transaction import Transaction
from armarius.store.protocol import Store
from armarius.workspace.cache import Counters, HotStored
from armarius.workspace.stored import part_of, served_config

__all__ = ["Health", "Host", "Novel", "ShelfStatus", "ShelvedEngine"]

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
    """A `ContextEngine` that is made when it is asked, and goes from memory when others need the room."""

    def asked(self, at_least: int | None = None) -> AbstractContextManager[None]:
        """Whatever is asked inside, by this thread, keeps the engine in memory and is counted.

        Args:
            at_least: Not before this version is there, where projects have versions.
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
    active = _asked(ContextEngine.active)
    similar = _asked(ContextEngine.similar)
    asimilar = awaitable(similar)
    detect = _asked(ContextEngine.detect)
    mentions = _asked(ContextEngine.mentions)
    status = _asked(ContextEngine.status)


class Host(Protocol):
    """What a novel asks of its shelf."""

    pool: Pool
    counters: Counters

    @property
    def place(self) -> str:
        """Host and database."""
        ...

    def key(self, project_id: str, tenant: str) -> UUID:
        """The key of every row of a project."""
        ...

    def used(self, project_id: str, tenant: str) -> AbstractContextManager[HotStored]:
        """The engine of a project while somebody asks it."""
        ...

    def session_of(self, project_id: str, tenant: str) -> Session:
        """Transactions of a project."""
        ...

    def forget(self, project_id: str, tenant: str) -> None:
        """Let the engine of a project go from memory."""
        ...

    def check_quota(self, tx: Transaction, session: Session, given: object) -> None:
        """Refuse what would be too much."""
        ...


_PATIENCE_SECONDS = 2.0
_LOOK_AGAIN = 0.02

Texts = Mapping[str, str | bytes]


class Novel(ShelvedEngine):
    """A `ContextEngine` whose texts are rows of a server. Made by `Shelf.project`; no I/O before it is asked.

    Every verb of `ContextEngine` takes `at_least`, too: a version that `write` returned, and the answer must have seen.
    The engine itself is in memory while the shelf has room, and made again when it is asked; threads may share it.

    Attributes:
        tenant: Whose project it is.
    """

    def __init__(self, shelf: Host, project_id: str, tenant: str) -> None:
        self.tenant = tenant
        self._shelf = shelf
        self._name = project_id
        self._key = shelf.key(project_id, tenant)

    def write(self, files: Texts | None = None, *, remove: Iterable[str] = (), expect: int | None = None) -> int:
        """Write texts and authored files, and everything that follows from them: all of it or nothing, for everybody.

        Args:
            files: By path: chapters, outlines, settings, source files, `codex.json`, `armarius.toml` (what it says of
                folders, programs and models of a machine is passed over), `.armarius/*.toml`. Text is kept as UTF-8.
            remove: Paths to forget; unknown ones are ignored.
            expect: The version that these were made from.

        Returns:
            The version of the project that has them; the present one when they change nothing.

        Raises:
            StoreConflict: `expect` is given, and somebody was faster; nothing is changed.
            ContractError: A path that is none, or a text with half a character.
            ConfigError: `armarius.toml` is wrong.
            QuotaExceeded: The project would hold more than it may.
            StoreUnavailable: The server is away; nothing is half written. Where that cannot be known, it says so.

        Cost: about what saving a file in a folder costs, and two round trips.
        """
        given = {check_path(path): _bytes(path, text) for path, text in (files or {}).items()}
        gone = [check_path(path) for path in ([remove] if isinstance(remove, str) else remove)]
        if CONFIG_NAME in given:
            _check_config(given[CONFIG_NAME])
        with self._used() as hot:
            seen: list[Transaction] = []

            def work(_: Store) -> None:
                with hot.session.writing(expect) as tx:
                    seen.append(tx)
                    put_files(tx, hot.session.project, given, gone, part_of)
                    self._shelf.check_quota(tx, hot.session, given)

            hot.parts.index.write(work)
            self._shelf.counters.written(sum(map(len, given.values())))
            return seen[0].row.generation

    awrite = awaitable(write)

    @property
    def version(self) -> int:
        """The generation of the project now; 0 when there is none. One round trip."""
        return self.session.look().generation

    @property
    def session(self) -> Session:
        """Transactions of the project, apart from those of its engine."""
        return self._shelf.session_of(self._name, self.tenant)

    def close(self) -> None:
        """Let its engine go from memory; the next question makes it again."""
        self._shelf.forget(self._name, self.tenant)

    def __repr__(self) -> str:
        owner = f" of {self.tenant}" if self.tenant else ""
        return f"Novel({self._name}{owner}, {self._shelf.place})"

    @property
    def _parts(self) -> Parts:
        with self._used() as hot:
            return hot.parts

    @property
    def project_id(self) -> str:
        """The id this project goes by."""
        return self._name

    root = property(lambda self: None)
    config = property(lambda self: self._parts.config)
    index = property(lambda self: self._parts.index)
    codex = property(lambda self: self._parts.project.codex)
    memories = property(lambda self: self._parts.project.memories)
    constraints = property(lambda self: self._parts.project.constraints)
    books = property(lambda self: self._parts.project.books)
    importing = property(lambda self: Importing(self._parts.project.books, self._parts.project.codex.list))
    graph = property(lambda self: self._parts.graph)

    @contextmanager
    def _used(self) -> Iterator[HotStored]:
        with self._shelf.used(self._name, self.tenant) as hot:
            yield hot

    @contextmanager
    def asked(self, at_least: int | None = None) -> Iterator[None]:
        """Whatever is asked inside, by this thread, is answered of one version of the project.

        Args:
            at_least: Not before this version is there.

        Raises:
            StoreUnavailable: It does not come.
        """
        started = time.monotonic()
        with ExitStack() as stack:
            hot = self._entered(stack, at_least)
            if not _is_of_now(hot):  # somebody else has written another configuration: an engine is made with it
                stack.pop_all().close()
                self._entered(stack, at_least)
            yield
        self._shelf.counters.asked(time.monotonic() - started, stale=self._shelf.pool.away_for > 0)

    def _entered(self, stack: ExitStack, at_least: int | None) -> HotStored:
        hot = stack.enter_context(self._used())
        if at_least is not None:
            _wait_for(hot, at_least)
        stack.enter_context(hot.session.moment())
        return hot


def _is_of_now(hot: HotStored) -> bool:
    try:
        return hot.session.look().configured == hot.configured
    except StoreError:  # away, or deleted: who asks next says so, or answers from memory
        return True


def _wait_for(hot: HotStored, version: int) -> None:
    """Until the server has a version: at once, but where a replica answers.

    Raises:
        ContractError: No version at all.
        StoreUnavailable: It does not come.
    """
    if type(version) is not int or version < 0:
        raise ContractError(f"at_least must be a version that write returned, got {version!r}")
    until = time.monotonic() + _PATIENCE_SECONDS
    while hot.session.latest.generation < version and (now := hot.session.look().generation) < version:
        if time.monotonic() > until:
            raise StoreUnavailable(f"{hot.session.project_id}: at version {now}, {version} was asked for")
        time.sleep(_LOOK_AGAIN)


def _bytes(path: str, text: str | bytes) -> bytes:
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise ContractError(f"{path}: expected str or bytes, got {type(text).__name__}")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ContractError(f"{path}: half a character (a lone surrogate) at {error.start}") from None


def _check_config(data: bytes) -> None:
    """As an engine reads it: one that cannot be opened could not be mended either."""
    try:
        read_settings(served_config(data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{CONFIG_NAME}: not UTF-8: {error.reason}") from None


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a load balancer should send requests here.

    Attributes:
        ok: The server answered; or the folder can be read.
        seconds: How long it has been away, 0 when it is there.
        why: What is wrong, "" for nothing.
    """

    ok: bool
    seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class ShelfStatus:
    """What a shelf has in memory, and what was asked of it.

    Attributes:
        place: Host and database, without user and password; or the name of the folder.
        hot: Engines in memory.
        bytes: That they take, about; at most `limit`, when more than one is there.
        limit: Of memory.
        hits: Questions whose engine was there.
        misses: Questions whose engine had to be made.
        evicted: Engines that went to make room.
        asked: Questions.
        seconds: All of them together.
        writes: Calls of `write` that were committed.
        written: Bytes of them.
        stale: Questions that were answered from memory while the server was away.
        lag: Seconds. On a server: how old what is in memory may be, 0 while the server answers. In folders: from the
            last change of a file to the index that has it.
        warnings: Of the shelf as a whole: `WATCH_UNAVAILABLE`.
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
