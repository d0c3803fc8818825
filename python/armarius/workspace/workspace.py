"""The projects of a server, each an engine; a folder to and from one of them."""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from armarius.codex.codex_json import IMPORTERS
from armarius.config import CONFIG_NAME, load_config
from armarius.documents.document import walk_files
from armarius.embedders.adapt import as_embedder
from armarius.embedders.protocol import AnyEmbedder
from armarius.engine.build import build
from armarius.errors import ContractError, ProjectError, QuotaExceeded, StoreUnavailable
from armarius.index.project_index import ProjectIndex
from armarius.io import make_folder, names_in, read_file, write_atomic
from armarius.io.folder import project_folder
from armarius.lorebooks.project_books import FILES, FOLDER
from armarius.project import counter_for
from armarius.rewording.reworder import Model, Reworder
from armarius.search.rerank import Reranker, Reranking
from armarius.store.postgres.files import count_files
from armarius.store.postgres.packing import check_path, project_key
from armarius.store.postgres.pool import Pool
from armarius.store.postgres.schema import ServerState, check_schema, schema_name, server_state
from armarius.store.postgres.session import Session, Transaction
from armarius.store.postgres.store import PostgresStore
from armarius.store.protocol import Store
from armarius.workspace.cache import Counters, EngineCache, Quota, bytes_in
from armarius.workspace.novel import HotStored, Keeping, Novel
from armarius.workspace.project import Health, ShelfStatus
from armarius.workspace.stored import PROFILE, RECORDS, StoredAuthored, StoredBooks, StoredFiles, StoredSource

_MOST_BYTES = 256 * 1024 * 1024


_AUTHORED = (CONFIG_NAME, PROFILE, *IMPORTERS, *RECORDS)


@dataclass(frozen=True, slots=True)
class Pushed:
    """Result of a push.

    Attributes:
        version: Version of the project that equals the folder.
        files: Number of files in the folder.
        written: New or changed paths.
        removed: Paths that the folder does not have.
    """

    version: int
    files: int
    written: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pulled:
    """Result of a pull.

    Attributes:
        files: Number of files in the project.
        written: New or changed paths.
        beside: Documents that only the folder has; they stay.
    """

    files: int
    written: tuple[str, ...]
    beside: tuple[str, ...]


def folder_files(root: Path) -> dict[str, bytes]:
    """The files of a project in a folder: documents, codex and records, configuration.

    Raises:
        ProjectError: It is no folder.
        ConfigError: Its `armarius.toml` is wrong.
    """
    root = project_folder(root)
    config = load_config(root)
    paths = [stamp.path for stamp in walk_files(root, config)[0]]
    found = {}
    for path in sorted({*paths, *_AUTHORED, *_files_of_books(root)}):
        try:
            found[path] = read_file(root.joinpath(*path.split("/")), limit=_MOST_BYTES, below=root)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ProjectError(f"{path}: not read: {error.strerror}") from None
    return found


def _files_of_books(root: Path) -> list[str]:
    """The files of lorebooks, cards and vaults that were imported."""
    found = []
    for id_ in names_in(root / FOLDER, below=root):
        here = names_in(root / FOLDER / id_, below=root)
        found += [f"{FOLDER}/{id_}/{name}" for name in FILES if name in here]
    return found


def push(novel: Novel, root: Path, *, expect: int | None = None) -> Pushed:
    """Make a project what a folder is, in one write; raises as `folder_files` and `Novel.write`."""
    files = folder_files(root)
    before = _stored(novel)
    version = novel.write(files, remove=[path for path in before if path not in files], expect=expect)
    written = tuple(path for path, data in files.items() if before.get(path) != data)
    return Pushed(version, len(files), written, tuple(sorted(before.keys() - files.keys())))


def pull(novel: Novel, root: Path, *, overwrite: bool = False) -> Pulled:
    """Write the files of a project into a folder, which is made when it is not there. Nothing is deleted.

    Args:
        novel: Of a shelf.
        root: The folder.
        overwrite: Whether files that say something else are replaced.

    Raises:
        ContractError: Some of them do, and nothing is written.
        StoreFull: The folder cannot be written.
    """
    files = {check_path(path): data for path, data in _stored(novel).items()}
    make_folder(root)
    here = folder_files(root)
    other = sorted(path for path, data in here.items() if path in files and files[path] != data)
    if other and not overwrite:
        raise ContractError(f"{other[0]} and {len(other) - 1} more are other files in {root.name}; --overwrite them?")
    written = [path for path, data in files.items() if here.get(path) != data]
    for path in written:
        write_atomic(root.joinpath(*path.split("/")), files[path], below=root)
    return Pulled(len(files), tuple(written), tuple(sorted(here.keys() - files.keys())))


def _stored(novel: Novel) -> Mapping[str, bytes]:
    session = novel.session
    with session.reading():
        files = StoredFiles(session)
        return files.read(list(files.entries()))


logger = logging.getLogger("armarius.shelf")


class Shelf(Keeping):
    """The projects of one server. Threads may share it; one for a process. Made by `armarius.connect`.

    Args are those of `armarius.connect`.

    Attributes:
        pool: Connections.
        schema: Of the tables.
        counters: What was asked and written.
    """

    def __init__(
        self,
        dsn: str,
        *,
        memory: str | int = "1 GiB",
        connections: int = 4,
        schema: str = "armarius",
        wait_s: float = 5.0,
        stale_s: float = 300.0,
        quota: Quota | None = None,
        embedder: AnyEmbedder | None = None,
        rerank: Reranker | Reranking | None = None,
        reword: Model | Reworder | None = None,
    ) -> None:
        self.schema = schema_name(schema)
        self.pool = Pool(dsn, size=connections, wait_s=wait_s)
        self.counters = Counters()
        self._hot = EngineCache[HotStored](bytes_in(memory))
        self._stale = stale_s
        self._quota = quota or Quota()
        self._embedder = None if embedder is None else as_embedder(embedder)
        self._rerank = rerank
        self._reword = reword
        self._state: ServerState | None = None
        self._sessions: dict[UUID, Session] = {}
        self._lock = threading.Lock()

    @property
    def place(self) -> str:
        """Host and database, without user and password."""
        return self.pool.place

    def project(self, project_id: str, *, tenant: str = "") -> Novel:
        """The engine of a project; no I/O before its first request. The first `write` creates the project.

        Args:
            project_id: At most 512 bytes of UTF-8.
            tenant: Tenant, "" for none. Project ids are unique per tenant; tenants see only their own projects.

        Raises:
            ContractError: Either is not a valid name.
        """
        return Novel(self, project_id, tenant)

    def key(self, project_id: str, tenant: str) -> UUID:
        """The key of every row of a project."""
        return project_key(tenant, project_id)

    @contextmanager
    def used(self, project_id: str, tenant: str) -> Iterator[HotStored]:
        """The engine of a project with its present configuration; not evicted inside the `with` block."""
        key = self.key(project_id, tenant)
        make = partial(self._made, project_id, tenant)
        with self._hot.used(key, make) as hot:
            if hot.session.latest.configured == hot.configured:
                yield hot
                return
        self._hot.drop(key, hot)
        with self._hot.used(key, make) as hot:
            yield hot

    def session_of(self, project_id: str, tenant: str) -> Session:
        """Transactions of a project, whether its engine is in memory or not."""
        return PostgresStore(self.pool, project_id, tenant=tenant, schema=self.schema).session

    def forget(self, project_id: str, tenant: str) -> None:
        """Remove the engine of a project from memory."""
        self._hot.drop(self.key(project_id, tenant))

    def check_quota(self, tx: Transaction, session: Session, given: object) -> None:
        """Check the quota, inside the transaction of a write.

        Raises:
            QuotaExceeded: Names the limit.
        """
        quota = self._quota
        if not given or (quota.files is None and quota.bytes is None):
            return
        files, size = count_files(tx, session.project)
        for what, now, most in (("files", files, quota.files), ("bytes", size, quota.bytes)):
            if most is not None and now > most:
                raise QuotaExceeded(f"{session.project_id}: {now:,} {what}, at most {most:,}")

    def export(self, project_id: str, folder: str | PathLike[str], *, tenant: str = "") -> Pulled:
        """Write the files of a project into a folder, as `armarius server pull` does; raises as `shelf.folder.pull`."""
        return pull(self.project(project_id, tenant=tenant), Path(folder))

    def verify(self, project_id: str, *, tenant: str = "") -> list[str]:
        """Everything that is wrong with the rows of a project, as sentences. Reads all of it."""
        return self._store(project_id, tenant).verify()

    def status(self) -> ShelfStatus:
        """What is in memory, and what was asked; no I/O."""
        hot, counted = self._hot, self.counters
        return ShelfStatus(
            self.place, len(hot), hot.bytes, hot.limit, hot.hits, hot.misses, hot.evicted,
            counted.questions, counted.seconds, counted.writes, counted.bytes, counted.stale, self.pool.away_for,
        )  # fmt: skip

    def server(self) -> ServerState:
        """Version and sizes of the server. Cost: counts every project."""
        return server_state(self.pool, self.schema)

    def health(self) -> Health:
        """Whether the server answers: one small question, at once when it is known to be away."""
        try:
            self.pool.ask()
        except StoreUnavailable as error:
            return Health(ok=False, seconds=error.seconds, why=error.message)
        return Health(ok=True, seconds=0.0, why="")

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

    def _made(self, project_id: str, tenant: str) -> HotStored:
        store = self._store(project_id, tenant)
        session = store.session
        files = StoredFiles(session)
        authored = StoredAuthored(files)
        index: list[ProjectIndex] = []

        def config() -> Any:  # noqa: ANN401
            return index[0].config if index else authored.config()

        with session.moment():
            index.append(
                ProjectIndex.over(
                    StoredSource(files, config),
                    authored,
                    lambda: store,
                    project_id=project_id,
                    whole=_whole,
                    books=StoredBooks(files),
                )
            )
            parts = build(
                index[0], fetchers=None, more_fetchers=(), counters=counter_for, fallback=None, project_id=project_id,
                watch=False, wait=True, index_dir=None, progress=None, embedder=self._embedder, graph=None,
                rerank=self._rerank, reword=self._reword,
            )  # fmt: skip
        parts.project.stale_s = self._stale
        logger.debug("opened %s", project_id)
        return HotStored(parts, session, session.latest.configured)


def _whole(store: Store) -> Any:  # noqa: ANN401 - the context of a transaction
    assert isinstance(store, PostgresStore)
    return store.writing()
