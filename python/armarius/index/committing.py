"""What one refresh writes: a single transaction, or, of many documents, one for each 32 and what they bring along."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from armarius.index.status import Outcome, Progress
from armarius.store.protocol import Store
from armarius.store.rows import Change, Put, Remove, Restamp

__all__ = ["BATCH", "Commits"]

BATCH = 32  # documents in one transaction; what is committed survives a crash and can be asked


@dataclass(slots=True)
class Commits:
    """Collects changes, and commits a batch when another follows it: the last one takes everything else along.

    Attributes:
        store: Written to.
        generation: Of the store, before and after.
        progress: Of the refresh.
        report: Called after every committed batch of documents.
        is_cancelled: Asked before every batch of documents.
        unsettled: What an index says of itself between two batches, when it is not whole.
        outcome: What was committed.
        restamped: Whether stamps of files were among it.
        alone: Nobody else has written meanwhile: `generation` holds what the refresh knew, and what it wrote.
        whole: All that was written, where one transaction was enough for it; None where it was not.
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
        """To be committed with the next batch, ahead of its documents."""
        self._first += changes

    def documents(self, changes: Sequence[Put | Remove | Restamp], learnt: Iterable[Change]) -> bool:
        """A batch, and what was learnt from its documents. False when the refresh was cancelled."""
        if not self.flush():
            return False
        self._documents += changes
        self._batch += (*changes, *learnt)
        return True

    def flush(self) -> bool:
        """Commit the batch at hand, another follows. False when the refresh was cancelled."""
        return not self._documents or self._commit(self.unsettled())

    def finish(self, changes: Iterable[Change]) -> bool:
        """Commit what is left, with `changes`. False when the refresh was cancelled."""
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
            # Stamps alone need no generation: one that came with them may be somebody else's.
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
