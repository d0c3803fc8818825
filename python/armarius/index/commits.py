"""The transactions of one refresh: one, or one per 32 documents."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from armarius.index.status import Outcome, Progress
from armarius.store.protocol import Store
from armarius.store.rows import Change, Put, Remove, Restamp

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
        unsettled: Changes that mark the index as incomplete between two batches.
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
    unsettled: Callable[[], Sequence[Change]]
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
        return not self._documents or self._commit(self.unsettled())

    def finish(self, changes: Iterable[Change]) -> bool:
        """Commit the remaining changes and `changes`. False when the refresh was cancelled."""
        return self._commit(tuple(changes))

    def _commit(self, more: Sequence[Change]) -> bool:
        if self._documents and self.is_cancelled():
            self.outcome.cancelled = True
            return False
        changes = [*self._first, *self._batch, *more]
        stamps = sum(isinstance(change, Restamp) for change in changes)
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
