"""The index of one project: kept equal to the source of its texts, asked by everything else.

`ProjectIndex` owns the keeper of the store and the watcher. The source is the truth: whatever happens to the index, the
next look makes it equal to that again.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Literal, Self

from armarius.arguments import Bounds, Kind, checked, read_wordings
from armarius.codex.authored.protocol import Authored
from armarius.codex.load import FolderAuthored
from armarius.config import Config
from armarius.corpus.paragraphs import StoreCorpus
from armarius.deadline import verb_of
from armarius.documents.document import Document, Skipped
from armarius.errors import ContractError, StoreError
from armarius.index.folder_source import FolderSource
from armarius.index.keeper import StoreKeeper
from armarius.index.mentions import count_mentions
from armarius.index.refresh import Refresher
from armarius.index.search import search
from armarius.index.series import Root, SeriesAuthored, SeriesConfig, SeriesSource, read_roots
from armarius.index.settings import LiveConfig, place_of
from armarius.index.snapshot import Snapshot
from armarius.index.source import DocumentSource
from armarius.index.status import IndexStatus, Progress
from armarius.index.watcher import Following, Watcher, weakly
from armarius.io.folder import project_folder, project_name
from armarius.io.processes import let_go_unclosed
from armarius.lorebooks.storage import BookKeeping
from armarius.store.protocol import Store
from armarius.store.rows import Passage
from armarius.store.sqlite.store import SqliteStore
from armarius.trust.settings import Permissions
from armarius.types import Hits
from armarius.validation import LONGEST_QUESTION
from armarius.validation import shown as what_came
from armarius.validation import text as strict_text
from armarius.warnings import WATCH_UNAVAILABLE

__all__ = ["ProjectIndex"]


class ProjectIndex:
    """An open index. Threads may share it. Make one with `ProjectIndex.open`, or `ProjectIndex.over` other texts.

    One that nobody closed and nobody holds any longer is closed in the background.

    Attributes:
        source: Where the texts come from.
        authored: Where everything else that the user wrote comes from.
        root: The project folder, None where there is none.
        books: Where its books are kept, when not in its folder.
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
        whole: Callable[[Store], AbstractContextManager[object]] | None = None,
        roots: Mapping[str, Path] | None = None,
        books: BookKeeping | None = None,
    ) -> None:
        self.source = source
        self.authored = authored
        self.root = root
        self.books = books
        self.project_id = project_id
        self._folders = {} if root is None else {"": root, **(roots or {})}
        self._config = config
        self._refresher = Refresher(source, authored, config)
        self._process = os.getpid()
        self._following = Following()
        self._corpus = StoreCorpus()
        self._kept = StoreKeeper(self._refresher, config, open_store, told=self._following.is_told, whole=whole)
        self._unclosed = let_go_unclosed(self, self._kept.cancel, self._following.stop, self._kept.close)

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
        with_: Sequence[str | PathLike[str]] = (),
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
            with_: Other folders of a series, read and never written; see `armarius.open`.

        Raises:
            ProjectError: `root` is no folder, or `index_dir` no path; folders of `with_` that do not lie apart.
            ContractError: `with_` is no list of folders.
            ConfigError: `armarius.toml` is wrong.
            StoreError: The index cannot be used; a damaged one is rebuilt instead.
        """
        folder = project_folder(root)
        roots = read_roots(folder, with_)
        authored, source, live = _parts(folder, config, roots)
        besides = [one.folder for one in roots]
        place, live.ignored = place_of(folder, live.now, index_dir, permissions=permissions, besides=besides)
        name = project_id or project_name(folder)
        index = cls(
            source,
            authored,
            partial(SqliteStore.open_repaired, place, project_id=name),
            config=live,
            project_id=name,
            root=folder,
            roots={one.name: one.folder for one in roots},
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
        whole: Callable[[Store], AbstractContextManager[object]] | None = None,
        books: BookKeeping | None = None,
    ) -> Self:
        """Open the index of texts that are no folder.

        Args:
            source: Where the texts come from.
            authored: Where codex, records, configuration and profile come from.
            open_store: Opens the store of this project.
            project_id: Its id.
            wait: As for `open`.
            progress: As for `open`.
            whole: For a store that keeps the texts too: everything done to it inside is one transaction, and other
                writers wait.
            books: Where its lorebooks are kept; None is in memory.

        Raises:
            ConfigError: The configuration is wrong.
            StoreError: The index cannot be used.
        """
        live = LiveConfig(authored, authored.config())
        index = cls(source, authored, open_store, config=live, project_id=project_id, whole=whole, books=books)
        return index._begun(wait=wait, watch=False, progress=progress)

    def _begun(self, *, wait: bool, watch: bool, progress: Callable[[Progress], None] | None) -> Self:
        try:
            if wait:
                self.refresh(progress=progress)
            else:
                self._kept.refresh_in_background(progress)
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
        return self._kept.store

    @property
    def config(self) -> Config:
        """The last configuration that was right."""
        return self._config.now

    @property
    def equal(self) -> tuple[Store, int] | None:
        """The store and its generation, where the last `freshen` found them equal to the texts."""
        return self._kept.equal

    @property
    def snapshot(self) -> Snapshot:
        """Codex and matcher as the index last saw them."""
        return self._kept.snapshot

    @property
    def complete(self) -> bool:
        """Whether the texts have been read to their end; before that, what nothing describes may only be unread."""
        return self._kept.complete

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Files that look like documents and are not, with the reason, by path."""
        skipped = dict(self._refresher.skipped)
        return tuple(skipped[path] for path in sorted(skipped))

    def marked(self, document: Document) -> Document:
        """A document of the store, which does not keep that it is of an earlier book of a series; unpacks nothing."""
        return self.source.marked(document) if isinstance(self.source, SeriesSource) else document

    def placed(self, document: Document) -> Document:
        """A document that was read by its path alone, as the source reads what lies there."""
        return self.source.placed(document) if isinstance(self.source, SeriesSource) else document

    refresh = verb_of("_kept", StoreKeeper.refresh, question=False)
    """Make the index equal to the folder, or to some paths of it."""
    freshen = verb_of("_kept", StoreKeeper.freshen, question=False)
    """Before answering: see that the index equals the folder, or say that it does not."""
    ask = verb_of("_kept", StoreKeeper.ask, question=False)
    """Ask the store; a damaged or replaced index is repaired first and asked again."""
    write = verb_of("_kept", StoreKeeper.write, question=False)
    """Something done to the store, and all that follows from it, in one transaction."""
    wait = verb_of("_kept", StoreKeeper.wait, question=False)
    cancel = verb_of("_kept", StoreKeeper.cancel, question=False)

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        chapters: tuple[int | None, int | None] = (None, None),
        match: Literal["all", "any"] = "all",
        also: Sequence[str] = (),
        shown: Callable[[Passage], str] | None = None,
    ) -> Hits:
        """Passages that hold the words of `text`, best first; see `armarius.index.search.search`.

        Raises:
            ContractError: An argument that is none, a kind that there is not among them.
        """
        text, bounds = strict_text("text", text, most=LONGEST_QUESTION), Bounds.of(chapters, kinds)
        if match not in ("all", "any"):
            raise ContractError(f"match must be 'all' or 'any', got {what_came(match)}")
        also = checked("also", read_wordings, also)
        found = partial(
            search, text=text, limit=limit, kinds=bounds.kinds, chapters=bounds.chapters, match=match, also=also,
            shown=shown,
        )  # fmt: skip
        return self.ask(lambda store: found(store, self._corpus.at(store)))

    def status(self) -> IndexStatus:
        """What the index is doing and what it holds."""
        state, mentions = self.ask(lambda store: (store.state(), count_mentions(store)))
        refresher = self._refresher
        warnings = (
            *(refresher.snapshot.warnings if refresher.snapshot and self.complete else ()),
            *self._config.warnings,
            self._kept.trouble,
            WATCH_UNAVAILABLE(why=trouble) if (trouble := self._following.trouble) else None,
        )
        return IndexStatus(
            state=self._kept.state,
            progress=refresher.progress,
            watching=self._following.on,
            documents=state.documents,
            paragraphs=state.paragraphs,
            mentions=mentions,
            entities=state.entities,
            bytes=state.bytes,
            generation=state.generation,
            path=self.store.location,
            skipped=self.skipped,
            warnings=tuple(warning for warning in warnings if warning is not None),
        )

    def start_watching(self) -> None:
        """Follow changes until `stop_watching`; starting twice is fine.

        Only a folder has events: other sources are asked for their stamp before every answer, watched or not.
        """
        self._follow()

    def _follow(self, by: Watcher | None = None) -> None:
        """Follow changes of the main folder by a watcher of many, this among them; of every folder by its own, else."""
        if self._folders:
            self._following.start(self._folders, weakly(self._changed), by)

    def stop_watching(self) -> None:
        """Follow changes no longer."""
        self._following.stop()

    @contextmanager
    def watch(self) -> Iterator[Self]:
        """Follow changes inside a `with` block."""
        already = self._following.on
        self.start_watching()
        try:
            yield self
        finally:
            if not already:
                self.stop_watching()

    def rest(self) -> None:
        """Hold nothing open: no events, no store, no memory of it. Whoever asks next opens it again."""
        self.stop_watching()
        self._kept.rest()

    def close(self) -> None:
        """Stop watching and building, close the store; closing twice is fine."""
        if self._process != os.getpid():  # the threads and the store are its parent's
            return
        self._unclosed.detach()
        self.cancel()
        self.stop_watching()
        self._kept.close()

    def _changed(self, paths: set[str] | None) -> None:
        with suppress(StoreError, OSError):  # already in the status; the next look tries again
            self.refresh(paths)


def _parts(
    folder: Path, config: Config | None, roots: Sequence[Root]
) -> tuple[FolderAuthored, DocumentSource, LiveConfig]:
    """What is authored in a folder, its documents and its configuration, with those of its series."""
    if not roots:
        authored = FolderAuthored(folder)
        live = LiveConfig(authored, authored.config() if config is None else config)
        return authored, FolderSource(folder, lambda: live.now), live
    of_all = SeriesAuthored(folder, roots)
    whole = SeriesConfig(of_all, of_all.config() if config is None else config, roots)
    return of_all, SeriesSource(folder, lambda: whole.now, roots), whole
