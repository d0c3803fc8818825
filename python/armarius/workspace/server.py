"""The projects of a server, each an engine: asked, written, listed, renamed, copied, deleted, pushed from a folder."""

import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from armarius.engine.build import EngineParts
from armarius.engine.project import counter_for
from armarius.errors import (
    ConfigError,
    ContractError,
    QuotaExceeded,
    StoreConflict,
    StoreCorrupt,
    StoreUnavailable,
    UnknownProject,
)
from armarius.index.project_index import ProjectIndex
from armarius.index.source import LiveConfig
from armarius.io import MAX_BYTES
from armarius.lorebooks.importing import Importing
from armarius.prompt.profile import read_settings
from armarius.rewording import Model, Reworder
from armarius.search.models import Reranker, Reranking
from armarius.store.postgres.pool import Connection, Pool
from armarius.store.postgres.schema import (
    ServerState,
    check_name,
    check_path,
    check_schema,
    copy_project,
    delete_project,
    has_project,
    list_projects,
    project_key,
    schema_name,
    server_state,
)
from armarius.store.postgres.session import PostgresSession, Transaction
from armarius.store.postgres.store import PostgresStore
from armarius.store.postgres.writing import count_files, digest_of_write, put_files
from armarius.store.protocol import Store
from armarius.trust.settings import CONFIG_NAME
from armarius.vectors.embedder import AnyEmbedder, as_embedder
from armarius.workspace.engines import (
    Counters,
    EngineCache,
    Health,
    HotEngine,
    Quota,
    ShelfStatus,
    ShelvedEngine,
    Texts,
    Turns,
    awaitable,
    bytes_in,
    unknown_project,
)
from armarius.workspace.stored import (
    Pulled,
    StoredAuthored,
    StoredBooks,
    StoredFiles,
    StoredSource,
    part_of,
    pull,
    served_config,
)


class HotStored(HotEngine):
    """An engine of a stored project.

    Attributes:
        session: Transactions of its project.
        configured: Generation of the configuration that it was created with.
    """

    base = 500_000
    per_character = 14

    def __init__(self, parts: EngineParts, session: PostgresSession, configured: int) -> None:
        super().__init__(parts)
        self.session = session
        self.configured = configured

    @property
    def characters(self) -> int:
        """Characters of the documents, from the project row."""
        return self.session.latest.characters


@dataclass(frozen=True, slots=True)
class ProjectEntry:
    """A project of a shelf.

    Attributes:
        id: Id of the project.
        tenant: Tenant of the project.
        version: Its generation.
        characters: Characters of its documents.
        bytes: Bytes of its files.
        touched: Time of the last write.
    """

    id: str
    tenant: str
    version: int
    characters: int
    bytes: int
    touched: datetime


_PATIENCE_SECONDS = 2.0
_LOOK_AGAIN = 0.02
logger = logging.getLogger("armarius")


class Novel(ShelvedEngine):
    """A `ContextEngine` with its texts on a server. Created by `Shelf.project`; no I/O before the first request.

    Every verb of `ContextEngine` also takes `at_least`: a version, returned by `write`, that the answer must include.
    What reads a project that does not exist raises UnknownProject.
    The engine may be evicted from memory and is then created again at the next request. Thread-safe.

    Attributes:
        tenant: Tenant of the project.
    """

    def __init__(self, shelf: "Shelf", project_id: str, tenant: str) -> None:
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
            ContractError: An invalid path, a text with half a character, or one of more than 64 MiB.
            ConfigError: `armarius.toml` is wrong.
            QuotaExceeded: The project would hold more than it may.
            StoreUnavailable: The server is away. `written` is False where nothing is written, None where that cannot be
                known; then the same call again is safe, on the same shelf with `expect` too.

        Cost: about what saving a file in a folder costs, and two round trips.
        """
        contents = {check_path(path): _bytes(path, text) for path, text in (files or {}).items()}
        if long := next((path for path, data in contents.items() if len(data) > MAX_BYTES), None):
            raise ContractError(f"{long}: {len(contents[long]):,} bytes, at most {MAX_BYTES:,}")
        gone = [check_path(path) for path in ([remove] if isinstance(remove, str) else remove)]
        if CONFIG_NAME in contents:
            # Raise on an invalid `armarius.toml`: an engine with it could not be opened
            try:
                read_settings(served_config(contents[CONFIG_NAME].decode("utf-8-sig")))
            except UnicodeDecodeError as error:
                raise ConfigError(f"{CONFIG_NAME}: not UTF-8: {error.reason}") from None
        used = self._shelf.used(self._name, self.tenant, create=True)
        with (
            self.turns.turn(),
            used as hot,
            self._shelf.in_doubt.again(self._key, contents, gone, expect) as (token, seen),
        ):

            def work(_: Store) -> None:
                with hot.session.writing(expect, token) as tx:
                    seen.append(tx)
                    put_files(tx, contents, gone, part_of)
                    self._shelf.check_quota(tx, hot.session, contents)

            hot.parts.index.write(work)
            self._shelf.counters.written(sum(map(len, contents.values())))
            return seen[0].row.generation

    awrite = awaitable(write)

    @property
    def version(self) -> int:
        """The generation of the project now; 0 when there is none. One round trip."""
        return self.session.look().generation

    @property
    def session(self) -> PostgresSession:
        """Transactions of the project, apart from those of its engine."""
        shelf = self._shelf
        return PostgresStore(shelf.pool, self._name, tenant=self.tenant, schema=shelf.schema).session

    def close(self) -> None:
        """Let its engine go from memory; the next question makes it again."""
        self._shelf.forget(self._name, self.tenant)

    def __repr__(self) -> str:
        owner = f" of {self.tenant}" if self.tenant else ""
        return f"Novel({self._name}{owner}, {self._shelf.place})"

    @property
    def _parts(self) -> EngineParts:
        with self._current_engine() as hot:
            return hot.parts

    @property
    def project_id(self) -> str:
        """The id this project goes by."""
        return self._name

    root = property(lambda self: None)
    turns = property(lambda self: self._shelf.turns)
    config = property(lambda self: self._parts.config)
    index = property(lambda self: self._parts.index)
    codex = property(lambda self: self._parts.project.codex)
    memories = property(lambda self: self._parts.project.memories)
    constraints = property(lambda self: self._parts.project.constraints)
    books = property(lambda self: self._parts.project.doors.lore.books)
    importing = property(lambda self: Importing(self._parts.project.doors.lore.books, self._parts.project.codex.list))
    graph = property(lambda self: self._parts.graph)

    @contextmanager
    def asked(self, at_least: int | None = None) -> Iterator[None]:
        """Read one version of the project during the `with` block, in this thread.

        Args:
            at_least: Wait for this version.

        Raises:
            UnknownProject: There is no such project.
            StoreUnavailable: The version did not appear in time.
        """
        started = time.monotonic()
        with self.turns.turn(), self._current_engine(at_least):
            yield
        self._shelf.counters.asked(time.monotonic() - started, stale=self._shelf.pool.away_for > 0)

    @contextmanager
    def _current_engine(self, at_least: int | None = None) -> Iterator[HotStored]:
        """The engine of the project that exists now, at one version of it."""
        with ExitStack() as stack:
            hot = self._enter_engine(stack, at_least)
            while not _is_current(hot):  # deleted, or its configuration changed: create the engine again
                stack.pop_all().close()
                self._shelf.forget(self._name, self.tenant, hot)
                hot = self._enter_engine(stack, at_least)
            yield hot

    def _enter_engine(self, stack: ExitStack, at_least: int | None) -> HotStored:
        hot = stack.enter_context(self._shelf.used(self._name, self.tenant))
        if at_least is not None:
            # Wait until the server has a version; only a replica may lag behind
            if type(at_least) is not int or at_least < 0:
                raise ContractError(f"at_least must be a version that write returned, got {at_least!r}")
            until = time.monotonic() + _PATIENCE_SECONDS
            while hot.session.latest.generation < at_least and (now := hot.session.look().generation) < at_least:
                if time.monotonic() > until:
                    raise StoreUnavailable(f"{hot.session.project_id}: at version {now}, {at_least} was asked for")
                time.sleep(_LOOK_AGAIN)
        stack.enter_context(hot.session.moment())
        return hot


def _is_current(hot: HotStored) -> bool:
    try:
        row = hot.session.look()
    except StoreUnavailable:
        if not hot.session.latest.born:
            raise
        return True  # the request is answered from memory
    except StoreCorrupt:
        return False
    return row.born > 0 and row.configured == hot.configured


def _bytes(path: str, text: str | bytes) -> bytes:
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise ContractError(f"{path}: expected str or bytes, got {type(text).__name__}")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ContractError(f"{path}: half a character (a lone surrogate) at {error.start}") from None


class InDoubt:
    """Writes with `expect` of which nobody could tell whether they were done: made again, they are no conflict.

    Each is proved by the token of its transaction, and once: of two callers that write the same, one is refused.
    """

    def __init__(self) -> None:
        self._tokens: dict[tuple[UUID, bytes], int] = {}

    @contextmanager
    def again(
        self, project: UUID, files: Mapping[str, bytes], remove: Collection[str], expect: int | None
    ) -> Iterator[tuple[int, list[Transaction]]]:
        """Around a write: the token of the earlier try, 0 if there is none; and a list for the transaction."""
        seen: list[Transaction] = []
        if expect is None:  # what is there already is not written again
            yield 0, seen
            return
        key = (project, digest_of_write(files, remove, expect))
        token = self._tokens.pop(key, 0)
        try:
            yield token, seen
        except StoreUnavailable as error:
            if error.written is None:
                token = seen[0].token
            if token:
                self._tokens[key] = token
            raise


class Shelf:
    """The projects of one server. Threads may share it; one for a process. Made by `armarius.connect`.

    Args are those of `armarius.connect`.

    Attributes:
        pool: Connections.
        schema: Of the tables.
        counters: What was asked and written.
        turns: Requests at once.
        in_doubt: Writes of which nobody could tell.
    """

    def __init__(
        self, dsn: str, *, memory: str | int, connections: int, schema: str, wait_s: float, stale_s: float,
        quota: Quota | None, embedder: AnyEmbedder | None, rerank: Reranker | Reranking | None,
        reword: Model | Reworder | None, max_concurrent: int | None, max_waiting: int,
    ) -> None:  # fmt: skip
        self.schema = schema_name(schema)
        self.pool = Pool(dsn, size=connections, wait_s=wait_s)
        self.counters, self.turns = Counters(), Turns(max_concurrent, max_waiting)
        self.in_doubt = InDoubt()
        self._hot = EngineCache[HotStored](bytes_in(memory))
        self._stale = stale_s
        self._quota = quota or Quota()
        self._embedder = None if embedder is None else as_embedder(embedder)
        self._rerank = rerank
        self._reword = reword
        self._state: ServerState | None = None

    @property
    def place(self) -> str:
        """Host and database, without user and password."""
        return self.pool.place

    def project(self, project_id: str, *, tenant: str = "", create: bool = False) -> Novel:
        """The engine of a project; no I/O before its first request. A project is made by its first `write`.

        Args:
            project_id: At most 512 bytes of UTF-8.
            tenant: Tenant, "" for none. Project ids are unique per tenant; tenants see only their own projects.
            create: Make the project, without files, if it does not exist: two round trips.

        Raises:
            ContractError: Either is not a valid name.
        """
        novel = Novel(self, project_id, tenant)
        if create:
            with novel.session.writing() as tx:
                tx.keep()
        return novel

    def unknown(self, project_id: str, tenant: str) -> UnknownProject:
        """The error about a project that does not exist, with near names of the same tenant."""
        return unknown_project(project_id, [entry.id for entry in self.projects(tenant=tenant, limit=10_000)])

    def key(self, project_id: str, tenant: str) -> UUID:
        """The key of every row of a project."""
        return project_key(tenant, project_id)

    @contextmanager
    def used(self, project_id: str, tenant: str, *, create: bool = False) -> Iterator[HotStored]:
        """The engine of a project with its present configuration; not evicted inside the `with` block.

        Raises:
            UnknownProject: There is no such project, and it is not to be created.
        """
        key = self.key(project_id, tenant)
        make = partial(self._make_engine, project_id, tenant, create=create)
        with self._hot.used(key, make) as hot:
            if hot.session.latest.configured == hot.configured:
                yield hot
                return
        self._hot.drop(key, hot)
        with self._hot.used(key, make) as hot:
            yield hot

    def projects(self, *, tenant: str | None = "", limit: int = 1_000, after: str = "") -> list[ProjectEntry]:
        """The projects of a tenant, by name.

        Args:
            tenant: The tenant; None lists all tenants, for administration.
            limit: Maximum number.
            after: Last name of the previous page.
        """
        with self.pool.lent() as connection:
            return [ProjectEntry(*row) for row in list_projects(connection, self.schema, tenant, after, limit)]

    def delete(self, project_id: str, *, tenant: str = "") -> None:
        """Delete all rows of a project and its engine in memory; other processes notice at their next request.

        Raises:
            UnknownProject: There is no such project.
        """
        key = project_key(tenant, project_id)
        with self._lock_project(key, project_id, tenant) as connection:
            delete_project(connection, self.schema, key)
        self.forget(project_id, tenant)

    def delete_tenant(self, tenant: str) -> int:
        """Delete all projects of a tenant, one transaction each. Returns their number."""
        check_name(tenant, "tenant")
        names = [entry.id for entry in self.projects(tenant=tenant, limit=1_000_000_000)]
        for name in names:
            self.delete(name, tenant=tenant)
        return len(names)

    def rename(self, project_id: str, name: str, *, tenant: str = "") -> None:
        """Rename a project.

        Raises:
            UnknownProject: There is no project of the old name.
            StoreConflict: There is one of the new name.

        Cost: writes all its rows again.
        """
        old, new = project_key(tenant, project_id), project_key(tenant, check_name(name, "project id"))
        with self._lock_project(old, project_id, tenant) as connection:
            self._copy_rows(connection, old, new, name)
            delete_project(connection, self.schema, old)
        self.forget(project_id, tenant)

    def copy(self, project_id: str, name: str, *, tenant: str = "") -> None:
        """Copy a project under another name. Errors and cost are those of `rename`."""
        old, new = project_key(tenant, project_id), project_key(tenant, check_name(name, "project id"))
        with self._lock_project(old, project_id, tenant) as connection:
            self._copy_rows(connection, old, new, name)

    def _copy_rows(self, connection: Connection, old: UUID, new: UUID, name: str) -> None:
        if has_project(connection, self.schema, new):
            raise StoreConflict(f"there is a project {name!r} already")
        copy_project(connection, self.schema, old, new, name)

    @contextmanager
    def _lock_project(self, key: UUID, project_id: str, tenant: str) -> Iterator[Connection]:
        with self.pool.lent() as connection, connection.transaction():
            if has_project(connection, self.schema, key, lock=True):
                yield connection
                return
        raise self.unknown(project_id, tenant)

    def forget(self, project_id: str, tenant: str, hot: HotStored | None = None) -> None:
        """Remove the engine of a project from memory; with `hot`, only if it is that one."""
        self._hot.drop(self.key(project_id, tenant), hot)

    def check_quota(self, tx: Transaction, session: PostgresSession, contents: object) -> None:
        """Check the quota, inside the transaction of a write.

        Raises:
            QuotaExceeded: Names the limit.
        """
        quota = self._quota
        if not contents or (quota.files is None and quota.bytes is None):
            return
        files, size = count_files(tx)
        for what, now, most in (("files", files, quota.files), ("bytes", size, quota.bytes)):
            if most is not None and now > most:
                raise QuotaExceeded(f"{session.project_id}: {now:,} {what}, at most {most:,}")

    def export(
        self, project_id: str, folder: str | PathLike[str], *, tenant: str = "", overwrite: bool = False
    ) -> Pulled:
        """Write the files of a project into a folder, as `armarius server pull` does; raises as `stored.pull`.

        Raises:
            UnknownProject: There is no such project.
        """
        return pull(self._existing_store(project_id, tenant).session, Path(folder), overwrite=overwrite)

    def verify(self, project_id: str, *, tenant: str = "") -> list[str]:
        """Everything that is wrong with the rows of a project, as sentences. Reads all of it.

        Raises:
            UnknownProject: There is no such project.
        """
        return self._existing_store(project_id, tenant).verify()

    def status(self) -> ShelfStatus:
        """What is in memory, and what was asked; no I/O."""
        hot, counted = self._hot, self.counters
        return ShelfStatus(
            self.place, len(hot), hot.bytes, hot.limit, hot.hits, hot.misses, hot.evicted,
            counted.questions, counted.seconds, counted.writes, counted.bytes, counted.stale, self.pool.away_for,
            refused=self.turns.refused,
        )  # fmt: skip

    def server(self) -> ServerState:
        """Version and sizes of the server. Cost: counts every project."""
        return server_state(self.pool, self.schema)

    def health(self) -> Health:
        """Whether the server answers: one small question, at once when it is known to be away."""
        try:
            self.pool.ask()
        except StoreUnavailable as error:
            ready = error.seconds < self._stale and len(self._hot) > 0
            return Health(ok=False, seconds=error.seconds, why=error.message, ready=ready)
        return Health(ok=True, seconds=0.0, why="", ready=True)

    def close(self) -> None:
        """Let every engine go, close the connections; closing twice is fine."""
        self._hot.close()
        self.pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Shelf({self.place}, {len(self._hot)} hot)"

    def _store(self, project_id: str, tenant: str) -> PostgresStore:
        if self._state is None:
            self._state = check_schema(self.pool, self.schema)
        pgvector = self._state.vectors == "pgvector"
        return PostgresStore(self.pool, project_id, tenant=tenant, schema=self.schema, pgvector=pgvector)

    def _existing_store(self, project_id: str, tenant: str) -> PostgresStore:
        store = self._store(project_id, tenant)
        if not store.session.look().born:
            raise self.unknown(project_id, tenant)
        return store

    def _make_engine(self, project_id: str, tenant: str, *, create: bool) -> HotStored:
        store = self._store(project_id, tenant)
        session = store.session
        files = StoredFiles(session)
        authored = StoredAuthored(files)
        if not (create or session.look().born):
            raise self.unknown(project_id, tenant)
        with session.moment():
            live = LiveConfig(authored, authored.config())  # not the index's: a finalizer holds what the source holds
            index = ProjectIndex(
                StoredSource(files, lambda: live.now),
                authored,
                lambda: store,
                config=live,
                project_id=project_id,
                whole=_whole_write,
                books=StoredBooks(files),
            )
            index.refresh()
            parts = EngineParts(
                index, fetchers=None, more_fetchers=(), counters=counter_for, fallback=None, project_id=project_id,
                watch=False, wait=True, index_dir=None, progress=None, embedder=self._embedder, graph=None,
                rerank=self._rerank, reword=self._reword,
            )  # fmt: skip
        parts.project.stale_s = self._stale
        logger.debug("opened %s", project_id)
        return HotStored(parts, session, session.latest.configured)


def _whole_write(store: Store) -> Any:  # noqa: ANN401 - the context of a transaction
    assert isinstance(store, PostgresStore)
    return store.writing()
