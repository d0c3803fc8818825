"""Progress, transactions and outcome of a refresh, status of an index, and a progress bar."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from armarius.documents.document import Skipped
from armarius.errors import ContextWarning
from armarius.headings.display import is_terminal
from armarius.store.protocol import Change, Put, Remove, Restamp, Store


@dataclass(frozen=True, slots=True)
class Progress:
    """Number of committed files, of all that differ; everything up to `path` survives a crash."""

    done: int
    total: int
    path: str


@dataclass(slots=True)
class Outcome:
    """Result of a refresh."""

    written: int = 0
    removed: int = 0
    skipped: tuple[Skipped, ...] = ()
    cancelled: bool = False
    seconds: float = 0.0

    def count(self, changes: Iterable[Change]) -> None:
        """Count committed changes."""
        for change in changes:
            self.written += isinstance(change, Put)
            self.removed += isinstance(change, Remove)


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """An index at one moment.

    Attributes:
        state: "ready", "building", "cancelled" or "stale" (a refresh failed, see `warnings`).
        progress: Progress of the current or last build.
        watching: Whether the folder is watched.
        documents: Indexed documents.
        paragraphs: Indexed paragraphs.
        mentions: Mentions of all entities.
        entities: Entities of the codex.
        bytes: Size on disk.
        generation: Grows with every change of any process.
        path: Location of the index: a file, for the embedded store.
        skipped: Files that could not be read as documents, with the reason.
        warnings: Warnings of the codex (once all texts have been read), the configuration and the index.
    """

    state: Literal["ready", "building", "cancelled", "stale"]
    progress: Progress
    watching: bool
    documents: int
    paragraphs: int
    mentions: int
    entities: int
    bytes: int
    generation: int
    path: str
    skipped: tuple[Skipped, ...]
    warnings: tuple[ContextWarning, ...]


@contextmanager
def progress_bar(what: str = "indexing") -> Iterator[Callable[[Any], None] | None]:
    """A callback that draws `done` of `total` as a bar on standard error; None if that is not a terminal."""
    if not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def advance(progress: Any) -> None:  # noqa: ANN401 - whatever has `done` and `total`
            bar.update(task, completed=progress.done, total=progress.total, visible=progress.done < progress.total)

        yield advance


BATCH = 32  # documents in one transaction; what is committed survives a crash and can be asked


@dataclass(slots=True)
class Commits:
    """Collects changes and commits them in batches. The last batch also commits the remaining changes.

    Attributes:
        store: The store to write.
        generation: Generation of the store after the last commit.
        progress: Progress of the refresh.
        report: Called after every committed batch of documents.
        is_cancelled: Called before every batch of documents.
        pending_notes: Changes that mark the index as incomplete between two batches.
        outcome: Counts of the committed changes.
        restamped: Whether a `Restamp` was committed.
        alone: No other writer committed since the refresh began.
        whole: All changes, if one transaction held them; else None.
    """

    store: Store
    generation: int
    progress: Progress
    report: Callable[[Progress], None]
    is_cancelled: Callable[[], bool]
    pending_notes: Callable[[], Sequence[Change]]
    outcome: Outcome = field(default_factory=Outcome)
    restamped: bool = False
    alone: bool = True
    whole: Sequence[Change] | None = ()
    _first: list[Change] = field(default_factory=list)
    _batch: list[Change] = field(default_factory=list)
    _documents: list[Put | Remove | Restamp] = field(default_factory=list)

    def before(self, changes: Iterable[Change]) -> None:
        """Add changes to the next batch, before its documents."""
        self._first += changes

    def documents(self, changes: Sequence[Put | Remove | Restamp], learnt: Iterable[Change]) -> bool:
        """Add a batch with its derived rows. False when the refresh was cancelled."""
        if not self.flush():
            return False
        self._documents += changes
        self._batch += (*changes, *learnt)
        return True

    def flush(self) -> bool:
        """Commit the collected batch; more will follow. False when the refresh was cancelled."""
        is_whole = all(isinstance(change, Restamp) for change in self._batch)  # stamps leave an index complete
        return not self._documents or self._commit(() if is_whole else self.pending_notes())

    def finish(self, changes: Iterable[Change]) -> bool:
        """Commit the remaining changes and `changes`. False when the refresh was cancelled."""
        return self._commit(tuple(changes))

    def _commit(self, more: Sequence[Change]) -> bool:
        if self._documents and self.is_cancelled():
            self.outcome.cancelled = True
            return False
        changes = [*self._first, *self._batch, *more]
        stamps = [*map(type, changes)].count(Restamp)
        if changes:
            self.whole = changes if self.whole == () else None
            before, self.generation = self.generation, self.store.apply(changes)
            # A commit of stamps alone adds no generation; if the generation rose, another writer committed.
            self.alone = self.alone and self.generation - before <= (len(changes) > stamps)
        self.outcome.count(changes)
        self.restamped = self.restamped or stamps > 0
        documents = self._documents
        self._first, self._batch, self._documents = [], [], []
        if documents:
            last = documents[-1]
            path = last.document.path if isinstance(last, Put) else last.path
            self.progress = Progress(self.progress.done + len(documents), self.progress.total, path)
            self.report(self.progress)
        return True
