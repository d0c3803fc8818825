"""The index of one project: kept equal to the source of its texts, asked by everything else.

`ProjectIndex` owns the store, the builder that fills it and the watcher. The source is the truth: whatever happens to
the index, the next look makes it equal to that again.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypeVar

from armarius.codex.authored.protocol import Authored
from armarius.codex.folder import FolderAuthored
from armarius.config import Config
from armarius.documents.classify import Kind
from armarius.documents.document import Skipped
from armarius.errors import ContextWarning, StoreCorrupt, StoreError
from armarius.files.paths import project_folder
from armarius.hits import Hits
from armarius.index.folder_source import FolderSource
from armarius.index.mentions import count_mentions
from armarius.index.place import place_of
from armarius.index.refresh import Refresher
from armarius.index.search import search
from armarius.index.settings import LiveConfig
from armarius.index.snapshot import Snapshot
from armarius.index.source import DocumentSource
from armarius.index.status import IndexStatus, Outcome, Progress
from armarius.store.protocol import Store
from armarius.store.sqlite.store import SqliteStore
from armarius.trust.asked import Permissions
from armarius.warnings_table import INDEX_BUILDING, INDEX_CANCELLED, INDEX_FAILED

if TYPE_CHECKING:
    from armarius.index.watcher import Watcher

__all__ = ["ProjectIndex"]

_INLINE = 20  # changed files that a request waits for; more are read in the background
_SNAPSHOT_SECONDS = 10.0
_PATIENCE_SECONDS = 0.25  # a request waits so long for somebody else's refresh, then answers from what is there
_QUICK_SECONDS = 0.005  # a comparison that costs less is made before every answer, watched or not

Answer = TypeVar("Answer")


class ProjectIndex:
    """An open index. Threads may share it. Make one with `ProjectIndex.open`, or `ProjectIndex.over` other texts.

    Attributes:
        source: Where the texts come from.
        authored: Where everything else that the user wrote comes from.
        root: The project folder, None where there is none.
        project_id: Of the project.
    """

    def __init__(
        self,
        source: DocumentSource,
        authored: Authored,
        open_store: Callable[[], Store],
        *,
        config: LiveConfig,
        project_id: str,
        root: Path | None = None,
    ) -> None:
        self.source = source
        self.authored = authored
        self.root = root
        self.project_id = project_id
        self._config = config
        self._refresher = Refresher(source, authored, config)
        self._lock = threading.RLock()  # one refresh at a time
        self._trouble: ContextWarning | None = None
        self._background: threading.Thread | None = None
        self._watcher: Watcher | None = None
        self._state: Literal["ready", "building", "cancelled", "stale"] = "building"
        self._closed = False
        self._store = open_store()

    @classmethod
    def open(
        cls,
        root: str | PathLike[str],
        *,
        config: Config | None = None,
        project_id: str | None = None,
        index_dir: str | PathLike[str] | None = None,
        wait: bool = True,
        watch: bool = False,
        progress: Callable[[Progress], None] | None = None,
        permissions: Permissions | None = None,
    ) -> Self:
        """Open the index of a project, building or repairing it.

        Args:
            root: The project folder.
            config: Read from `armarius.toml` when not given.
            project_id: The folder's name when not given.
            index_dir: Where the index lives; the user's cache directory when neither given nor configured.
            wait: Return when the index equals the folder; otherwise at once, and build in the background.
            watch: Follow changes from now on.
            progress: Called after every committed batch, from the thread that builds.
            permissions: What the project may say; None asks the user's configuration.

        Raises:
            ProjectError: `root` is no folder, or `index_dir` no path.
            ConfigError: `armarius.toml` is wrong, or its `index_dir` leads where only the user may lead.
            StoreError: The index cannot be used; a damaged one is rebuilt instead.
        """
        folder = project_folder(root)
        authored = FolderAuthored(folder)
        live = LiveConfig(authored, authored.config() if config is None else config)
        place = place_of(folder, live.now, index_dir, permissions=permissions)
        name = project_id or folder.resolve().name
        index = cls(
            FolderSource(folder, lambda: live.now),
            authored,
            partial(SqliteStore.open_repaired, place, project_id=name),
            config=live,
            project_id=name,
            root=folder,
        )
        return index._begun(wait=wait, watch=watch, progress=progress)

    @classmethod
    def over(
        cls,
        source: DocumentSource,
        authored: Authored,
        open_store: Callable[[], Store],
        *,
        project_id: str,
        wait: bool = True,
        progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Open the index of texts that are no folder.

        Args:
            source: Where the texts come from.
            authored: Where codex, records, configuration and profile come from.
            open_store: Opens the store of this project.
            project_id: Its id.
            wait: As for `open`.
            progress: As for `open`.

        Raises:
            ConfigError: The configuration is wrong.
            StoreError: The index cannot be used.
        """
        live = LiveConfig(authored, authored.config())
        index = cls(source, authored, open_store, config=live, project_id=project_id)
        return index._begun(wait=wait, watch=False, progress=progress)

    def _begun(self, *, wait: bool, watch: bool, progress: Callable[[Progress], None] | None) -> Self:
        try:
            if wait:
                self.refresh(progress=progress)
            else:
                self._refresh_in_background(progress)
            if watch:
                self.start_watching()
        except BaseException:
            self.close()
            raise
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def store(self) -> Store:
        """The store of the moment. A rebuilt index is another store: ask each time."""
        return self._store

    @property
    def config(self) -> Config:
        """The last configuration that was right."""
        return self._config.now

    @property
    def snapshot(self) -> Snapshot:
        """Codex and matcher as the index last saw them."""
        if self._background is not None:  # it needs the lock to the end, and has a world from the beginning
            self._refresher.loaded.wait(_SNAPSHOT_SECONDS)
        snapshot = self._refresher.snapshot
        if snapshot is None:
            with self._lock:
                snapshot = self._refresher.snapshot or self._refresher.load_snapshot(self._store)
        return snapshot

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Files that look like documents and are not, with the reason, by path."""
        skipped = dict(self._refresher.skipped)
        return tuple(skipped[path] for path in sorted(skipped))

    def refresh(
        self, paths: Collection[str] | None = None, *, progress: Callable[[Progress], None] | None = None
    ) -> Outcome:
        """Make the index equal to the folder, or to these relative paths of it.

        Raises:
            StoreBusy: Another process writes for longer than five seconds.
            StoreFull: The index cannot be written.

        Cost: a stat per file, a read per changed file, a rescan of all texts when names changed.
        """
        with self._lock:
            if self._closed:
                raise StoreError("the index is closed")
            self._refresher.cancelled.clear()
            self._state = "building"
            try:
                try:
                    outcome = self._refresher.refresh(self._store, paths, progress)
                except StoreCorrupt:
                    self._recover()
                    outcome = self._refresher.refresh(self._store, None, progress)
            except BaseException as error:
                self._state = "stale"
                self._trouble = INDEX_FAILED(kind=type(error).__name__, error=error)
                raise
            self._state, self._trouble = "cancelled" if outcome.cancelled else "ready", None
            return outcome

    def freshen(self) -> tuple[ContextWarning, ...]:
        """Before answering: see that the index equals the folder, or say that it does not.

        The folder is compared with the index, unless a watcher sees no change and comparing is slow (above about 1,000
        files). A few changed files are read at once, many in the background.

        Returns:
            `INDEX_STALE` when answers may lack something, `ENTITY_MATCH_FAILED` when names are found without habits.
        """
        waiting = False
        if self._background is None and self._state != "cancelled" and not self._is_fresh():
            try:
                waiting = not self._catch_up()
            except StoreError as error:
                self._trouble = INDEX_FAILED(kind=type(error).__name__, error=error)
        if waiting or (self._state == "building" and self._background is not None):
            done = self._refresher.progress
            return (INDEX_BUILDING(done=done.done, total=done.total),)
        if self._state == "cancelled":
            return (INDEX_CANCELLED(),)
        told = (self._trouble, self._config.warning, self._refresher.names_warning)
        return tuple(warning for warning in told if warning is not None)

    def _is_fresh(self) -> bool:
        if self._watcher is None or self._state != "ready" or self._refresher.compare_seconds < _QUICK_SECONDS:
            return False
        return not (self._watcher.blind or self._watcher.pending or self._refresher.is_authored_anew())

    def _catch_up(self) -> bool:
        """Compare and refresh; False when somebody else is at it for too long."""
        if not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            return False
        try:
            try:
                changed = self._refresher.differs(self._store) if self._state == "ready" else -1
            except StoreCorrupt:
                changed = -1
            if changed > _INLINE:
                self._refresh_in_background(None)
            elif changed:
                self.refresh()
        finally:
            self._lock.release()
        return True

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        chapters: tuple[int | None, int | None] = (None, None),
        match: Literal["all", "any"] = "all",
    ) -> Hits:
        """Passages that hold the words of `text`, best first; see `armarius.index.search.search`."""
        return self.ask(lambda store: search(store, text, limit=limit, kinds=kinds, chapters=chapters, match=match))

    def ask(self, question: Callable[[Store], Answer]) -> Answer:
        """Ask the store; a damaged or replaced index is repaired first and asked again."""
        store = self._store
        try:
            return question(store)
        except StoreError as error:
            with self._lock:
                if self._store is store:
                    if self._closed or not isinstance(error, StoreCorrupt):
                        raise
                    self._recover()
                    self.refresh()
            return question(self._store)

    def status(self) -> IndexStatus:
        """What the index is doing and what it holds."""
        state, mentions = self.ask(lambda store: (store.state(), count_mentions(store)))
        builder, watcher = self._refresher, self._watcher
        warnings = (*(builder.snapshot.warnings if builder.snapshot else ()), self._config.warning, self._trouble)
        return IndexStatus(
            state=self._state,
            progress=builder.progress,
            watching=watcher is not None,
            documents=state.documents,
            paragraphs=state.paragraphs,
            mentions=mentions,
            entities=state.entities,
            bytes=state.bytes,
            generation=state.generation,
            path=self._store.location,
            skipped=self.skipped,
            warnings=tuple(warning for warning in warnings if warning is not None),
        )

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a background build; False when it still runs after `timeout` seconds."""
        thread = self._background
        if thread is not None:
            thread.join(timeout)
            return not thread.is_alive()
        return True

    def cancel(self) -> None:
        """Stop a build after the transaction it is in; what is committed stays."""
        self._refresher.cancelled.set()

    def start_watching(self) -> None:
        """Follow changes until `stop_watching`; starting twice is fine.

        Only a folder has events: other sources are asked for their stamp before every answer, watched or not.
        """
        from armarius.index.watcher import Watcher

        if self._watcher is None and self.root is not None:
            self._watcher = Watcher(self.root, self._changed)
            self._watcher.start()

    def stop_watching(self) -> None:
        """Follow changes no longer."""
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()

    @contextmanager
    def watch(self) -> Iterator[Self]:
        """Follow changes inside a `with` block."""
        already = self._watcher is not None
        self.start_watching()
        try:
            yield self
        finally:
            if not already:
                self.stop_watching()

    def close(self) -> None:
        """Stop watching and building, close the store; closing twice is fine."""
        self.cancel()
        self.stop_watching()
        self.wait()
        with self._lock:
            self._closed = True
            self._store.close()

    def _changed(self, paths: set[str] | None) -> None:
        with suppress(StoreError, OSError):  # already in the status; the next look tries again
            self.refresh(paths)

    def _refresh_in_background(self, progress: Callable[[Progress], None] | None) -> None:
        def run() -> None:
            with suppress(StoreError, OSError):  # already in the status
                self.refresh(progress=progress)
            self._background = None

        self._state = "building"
        self._background = threading.Thread(target=run, name="armarius-builder", daemon=True)
        self._background.start()

    def _recover(self) -> None:
        """The store turned out damaged, deleted or replaced: open what lies there now, or an empty one."""
        self._store = self._store.reopen()
