"""`armarius.shelf`: many projects in the subfolders of one folder, with one watcher and a cache of engines.

`armarius.connect` loads the projects of a server, and psycopg, only when called: its absence names the extra.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import armarius.doors as doors
from armarius.engine.build import EngineParts, restore
from armarius.engine.project import counter_for
from armarius.errors import ContextWarning, ContractError, MissingExtra, ProjectError, StoreError, UnknownProject
from armarius.index.freshness import Progress
from armarius.index.watcher import Watcher
from armarius.io import make_folder, no_path, project_folder, scratch_folder
from armarius.io.processes import PerProcess, close_abandoned
from armarius.io.write import remove_folder
from armarius.search.models import Reranker, Reranking
from armarius.validation import shown, text, valid_text, whole
from armarius.warnings import SNAPSHOT_IGNORED, WATCH_UNAVAILABLE
from armarius.workspace.engines import (
    Counters,
    EngineCache,
    Health,
    HotEngine,
    ShelfStatus,
    ShelvedEngine,
    Turns,
    bytes_in,
    unknown_project,
)

if TYPE_CHECKING:
    from armarius.workspace.engines import Quota


def shelf(
    root: str | PathLike[str] | None,
    *,
    memory: str | int = "1 GiB",
    most: int = 64,
    watch: bool = True,
    wait: bool = True,
    index_dir: str | PathLike[str] | None = None,
    progress: Callable[[str, Progress], None] | None = None,
    embedder: "doors.AnyEmbedder | None" = None,
    rerank: Reranker | Reranking | None = None,
    reword: "doors.Model | doors.Reworder | None" = None,
    trusted: bool | None = None,
    max_concurrent: int | None = None,
    max_waiting: int = 16,
) -> "LocalShelf":
    """The projects that lie side by side in a folder. One shelf for a process; threads share it.

    A project is opened when it is first asked; those asked longest ago are closed when others need the room, and opened
    again when they are asked. One thread follows the files of all.

    Args:
        root: A folder of project folders; None keeps projects in memory, as `armarius.open` does.
        memory: For engines of projects that were asked lately, such as "2 GiB".
        most: So many are open at most: each takes about six descriptors.
        watch: Whether changes are followed as they happen; without, every request looks first. Where the system has no
            more events to give, folders are compared instead, and `status()` says `WATCH_UNAVAILABLE`.
        wait: Whether the first question of a project waits for its index, as for `armarius.open`; else for a second at
            most, so that a project that was closed for others is not called stale.
        index_dir: In which each project has a folder for its index; the user's cache directory when not given.
        progress: Called with the name of a project and how far its index is, from the thread that builds it.
        embedder: For every project; see `armarius.open`.
        rerank: Likewise.
        reword: Likewise.
        trusted: Likewise.
        max_concurrent: So many requests run at once in this process; None is unlimited.
        max_waiting: So many more wait for their turn; the next raises `Backpressure`, which says for how long.

    Raises:
        ProjectError: `root` is no folder.
        ContractError: `memory` is no size, `most` no number.

    Cost: none; a project is opened when it is asked.
    """
    return LocalShelf(
        root, memory=memory, most=most, watch=watch, wait=wait, index_dir=index_dir, progress=progress,
        embedder=embedder, rerank=rerank, reword=reword, trusted=trusted, max_concurrent=max_concurrent,
        max_waiting=max_waiting,
    )  # fmt: skip


logger = logging.getLogger("armarius")

_COMPARED_S = 1.0


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A project of a shelf of folders.

    Attributes:
        id: The name of its folder.
        folder: Where it lies.
        hot: Whether its engine is in memory.
    """

    id: str
    folder: Path
    hot: bool


class LocalNovel(ShelvedEngine):
    """A `ContextEngine` over one folder of a shelf. Made by `LocalShelf.project`; nothing is opened before it is asked.

    Attributes:
        name: Of the folder.
        root: The folder.
    """

    def __init__(self, shelf: "LocalShelf", name: str) -> None:
        self.name, self.in_memory = name, shelf.in_memory
        self._shelf = shelf

    @property
    def root(self) -> Path:
        """The folder."""
        return self._shelf.root / self.name

    @property
    def turns(self) -> Turns:
        """Those of its shelf."""
        return self._shelf.turns

    @property
    def _parts(self) -> EngineParts:
        with self._shelf.used(self.name) as hot:
            return hot.parts

    @contextmanager
    def asked(self, at_least: int | None = None) -> Iterator[None]:
        """See `ShelvedEngine`.

        Raises:
            ContractError: `at_least` is given: an answer about a folder always has what is saved.
        """
        if at_least is not None:
            raise ContractError("at_least: a folder has no versions; every answer has what is saved in it")
        started = time.monotonic()
        with self.turns.turn(), self._shelf.used(self.name):
            yield
        self._shelf.counters.asked(time.monotonic() - started)

    def close(self) -> None:
        """Remove its engine from memory; the next request creates it again."""
        self._shelf.forget(self.name)

    def __repr__(self) -> str:
        return f"LocalNovel({self.name}, {self._shelf.place})"


class _HotFolder(HotEngine):
    """An engine of a folder, with the pages that SQLite keeps of its index."""

    base = 1_500_000
    per_character = 17

    def close(self) -> None:
        """Release store and watcher. Callers that still hold a part can use it."""
        super().close()
        try:
            self.parts.index.rest()
        except (StoreError, OSError) as error:  # the next question opens and checks it
            logger.debug("closing %s: %s", self.parts.index.project_id, error)


class _State:
    """Resources of a process: engines, and the watcher of their folders."""

    def __init__(self, root: Path, limit: int, most: int, *, watch: bool) -> None:
        self.hot = EngineCache[_HotFolder](limit, most)
        self.watcher = Watcher(root, many=True) if watch else None


class LocalShelf:
    """The projects in a folder. Thread-safe. Created by `armarius.shelf`, once per process.

    Args are those of `armarius.shelf`.

    Attributes:
        root: The folder.
        in_memory: Whether its projects are gone when it is closed.
        counters: Totals of requests.
        turns: Requests at once.
    """

    def __init__(
        self, root: str | PathLike[str] | None, *, memory: str | int, most: int, watch: bool, wait: bool,
        index_dir: str | PathLike[str] | None, progress: Callable[[str, Progress], None] | None,
        embedder: "doors.AnyEmbedder | None", max_concurrent: int | None, max_waiting: int, **models: Any,  # noqa: ANN401
    ) -> None:  # fmt: skip
        self._scratch = ExitStack()  # of projects in memory
        self.in_memory = root is None
        if root is None:
            index_dir = self._scratch.enter_context(scratch_folder())
            make_folder(root := index_dir / "projects")
        self.root = project_folder(root).absolute()
        self.counters, self.turns = Counters(), Turns(max_concurrent, max_waiting)
        self._wait, self._progress = wait, progress
        if index_dir is not None and (problem := no_path(index_dir)):
            raise ProjectError(f"index_dir: {problem}")
        self._index_dir = None if index_dir is None else Path(index_dir)
        self._given = {"embedder": None if embedder is None else doors.as_embedder(embedder), **models}
        self._new = partial(_State, self.root, bytes_in(memory), whole("most", most, least=1), watch=watch)
        state = self._new()
        self._made = PerProcess(state)
        if state.watcher is not None:
            self._unclosed = close_abandoned(self, state.watcher.stop)

    @property
    def place(self) -> str:
        """The name of the folder."""
        return self.root.name

    def projects(self, *, limit: int = 1_000, after: str = "") -> list[FolderEntry]:
        """The projects, by name: all folders that are not hidden and not links.

        Args:
            limit: Maximum number.
            after: Last name of the previous page.

        Raises:
            ProjectError: The folder of the shelf is gone.
        """
        limit, hot = whole("limit", limit), self._state.hot
        with os.scandir(project_folder(self.root)) as entries:
            names = sorted(entry.name for entry in entries if entry.name > after and _is_project(entry))
        return [FolderEntry(name, self.root / name, name in hot) for name in names[:limit]]

    def project(self, name: str, *, tenant: str = "", create: bool = False) -> LocalNovel:
        """The engine of a project; opened at its first request.

        Args:
            name: Name of a folder in the shelf's folder.
            tenant: Must be "": a shelf of folders has one owner; use one shelf per tenant.
            create: Make the folder if it does not exist.

        Raises:
            ContractError: The name is invalid, or a tenant is given.
            UnknownProject: There is no such folder; the error names similar ones.
        """
        if text("tenant", tenant):
            raise ContractError(f"tenant: a shelf of folders has none, got {shown(tenant)}")
        name = valid_text("name", name)
        if name in ("", os.curdir, os.pardir) or {"/", "\\", os.sep} & set(name):
            raise ContractError(f"name: expected the name of a folder, got {shown(name)}")
        if problem := no_path(name):
            raise ContractError(f"name: {problem}")
        folder = self.root / name
        is_hidden = name.startswith(".") or folder.is_symlink()
        if create and not is_hidden:
            make_folder(folder)
        if is_hidden or not folder.is_dir():
            raise unknown_project(name, [project.id for project in self.projects(limit=10_000)])
        return LocalNovel(self, name)

    def delete(self, name: str, *, tenant: str = "") -> None:
        """Remove a project in memory.

        Raises:
            ContractError: Projects in folders are the user's, who removes them.
            UnknownProject: There is no such folder.
        """
        if not self.in_memory:
            raise ContractError("delete: a folder of the user is not removed")
        folder = self.project(name, tenant=tenant).root
        self.forget(name)
        remove_folder(folder, below=self.root)

    def restore(self, name: str, snapshot: bytes, *, tenant: str = "") -> tuple[ContextWarning, ...]:
        """Make a project in memory of the `snapshot()` of one of this name; one that is there stays as it is.

        Returns:
            `SNAPSHOT_IGNORED` where it is damaged, or of another version or name (its texts are then indexed anew), or
            where the project is there.

        Raises:
            ContractError: The shelf is one of folders, the name is invalid, or `snapshot` no bytes.
            StoreFull: The disk is full; there is no project then.
        """
        if not isinstance(snapshot, bytes):
            raise ContractError(f"snapshot: expected the bytes of one, got {shown(snapshot)}")
        if not self.in_memory:
            raise ContractError("restore: only a project in memory has a snapshot; the index of a folder is kept")
        try:
            self.project(name, tenant=tenant)
        except UnknownProject:
            root = self.project(name, tenant=tenant, create=True).root
            try:
                return restore(snapshot, root, self._index_dir or self.root)
            except StoreError:
                self.delete(name)  # a part of it would stand in the way of the next attempt
                raise
        return (SNAPSHOT_IGNORED(part="all", why="the project is there"),)

    def used(self, name: str) -> AbstractContextManager[HotEngine]:
        """The engine of a project; not evicted inside the `with` block."""
        state = self._state
        return state.hot.used(name, lambda: self._open_engine(state, name))

    def forget(self, name: str) -> None:
        """Remove the engine of a project from memory."""
        self._state.hot.drop(name)

    def status(self) -> ShelfStatus:
        """Engines in memory and totals of requests; no I/O."""
        state, counted = self._state, self.counters
        hot, trouble = state.hot, "" if state.watcher is None else state.watcher.trouble
        return ShelfStatus(
            self.place, len(hot), hot.bytes, hot.limit, hot.hits, hot.misses, hot.evicted,
            counted.questions, counted.seconds, 0, 0, 0, 0.0 if state.watcher is None else state.watcher.lag,
            (WATCH_UNAVAILABLE(why=trouble),) if trouble else (), self.turns.refused,
        )  # fmt: skip

    def health(self) -> Health:
        """Whether the folder can be read."""
        try:
            with os.scandir(self.root):
                return Health(ok=True, seconds=0.0, why="", ready=True)
        except OSError as error:
            return Health(ok=False, seconds=0.0, why=f"{self.place}: {error.strerror}", ready=False)

    def close(self) -> None:
        """Close all engines and the watcher. Idempotent."""
        state = self._made.current()
        if state is None:  # of a parent, which closes it
            return
        state.hot.close()
        if state.watcher is not None:
            state.watcher.stop()
        self._scratch.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LocalShelf({self.place}, {len(self._state.hot)} hot)"

    @property
    def _state(self) -> _State:
        return self._made.here(self._new)

    def _open_engine(self, state: _State, name: str) -> _HotFolder:
        folder = self.root / name
        parts = EngineParts(
            folder, fetchers=None, more_fetchers=(), counters=counter_for, fallback=None, project_id=None,
            watch=False, wait=self._wait, index_dir=self._index_dir,
            progress=self._progress and partial(self._progress, name), graph=None, **self._given,
        )  # fmt: skip
        if state.watcher is not None:
            parts.index._watch_folders(state.watcher)
        if not self._wait:  # a stored index is compared with its folder within that; a build goes on
            parts.index.wait(_COMPARED_S)
        logger.debug("opened %s", name)
        return _HotFolder(parts)


def _is_project(entry: "os.DirEntry[str]") -> bool:
    return not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)


def connect(
    dsn: str,
    *,
    memory: str | int = "1 GiB",
    connections: int = 4,
    schema: str = "armarius",
    wait_s: float = 5.0,
    stale_s: float = 300.0,
    quota: "Quota | None" = None,
    embedder: "doors.AnyEmbedder | None" = None,
    rerank: Reranker | Reranking | None = None,
    reword: "doors.Model | doors.Reworder | None" = None,
    max_concurrent: int | None = None,
    max_waiting: int = 16,
) -> "doors.Shelf":
    """The projects of a PostgreSQL server. One shelf for a process; threads share it. Needs `armarius[postgres]`.

    Args:
        dsn: A connection string of PostgreSQL. With several hosts it should say `target_session_attrs=read-write`. A
            pooler in transaction mode may stand between.
        memory: For engines of projects that were asked lately, such as "2 GiB"; the least lately asked go first.
        connections: At most so many.
        schema: Of the tables, made by `armarius server migrate`; one for each tenant, for instance.
        wait_s: How long a caller waits for a connection.
        stale_s: How long projects in memory answer, with `INDEX_STALE`, while the server is away.
        quota: What a project may hold.
        embedder: For every project; see `armarius.open`.
        rerank: Likewise.
        reword: Likewise.
        max_concurrent: So many requests run at once in this process; None is unlimited.
        max_waiting: So many more wait for their turn; the next raises `Backpressure`, which says for how long.

    Raises:
        MissingExtra: psycopg is not installed.
        ContractError: Something here is no DSN, size or name.

    Cost: none; the server is asked when a project is.
    """
    if find_spec("psycopg") is None:
        raise MissingExtra("a shelf on a server", "postgres")
    return doors.Shelf(
        dsn, memory=memory, connections=connections, schema=schema, wait_s=wait_s, stale_s=stale_s, quota=quota,
        embedder=embedder, rerank=rerank, reword=reword, max_concurrent=max_concurrent, max_waiting=max_waiting,
    )  # fmt: skip
