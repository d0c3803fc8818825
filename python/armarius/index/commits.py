"""The contents of a store as last read, and the transactions of one refresh: one, or one per 32 documents."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from armarius.corpus.part import KIND as PART
from armarius.index.status import Outcome, Progress
from armarius.store.protocol import Store
from armarius.store.rows import Change, FileRow, Note, Put, Remove, Restamp

_NOTES: Final = {"graph": "graph", "names": "names", "reader": "reader", "form": PART}  # field to key


@dataclass(frozen=True, slots=True)
class IndexContents:
    """The files and notes of a store at one generation.

    Attributes:
        store: The store.
        generation: Generation of the store.
        files: Rows by path, in path order.
        graph: Digest of its codex.
        names: Digest of the matched names; "" while documents were matched with different ones.
        reader: Version and settings of the document reader.
        form: Format version of the rows for retrieval.
    """

    store: Store
    generation: int
    files: Mapping[str, FileRow]
    graph: str | None
    names: str | None
    reader: str | None
    form: str | None

    def after(self, changes: Sequence[Change], generation: int) -> "IndexContents":
        """The contents after `changes`, without reading the store. `changes` must hold no `Restamp`.

        Cost: linear in the changes, and a copy of `files`.
        """
        files, known = dict(self.files), len(self.files)
        notes: dict[str, Any] = {field: getattr(self, field) for field in _NOTES}
        fields = {key: field for field, key in _NOTES.items()}
        for change in changes:
            if isinstance(change, Put):
                files[change.document.path] = FileRow(change.stamp, change.document.content_hash)
            elif isinstance(change, Remove):
                files.pop(change.path, None)
            elif isinstance(change, Note) and change.key in fields:
                notes[fields[change.key]] = change.value
        if len(files) > known:
            files = dict(sorted(files.items()))
        return replace(self, generation=generation, files=files, **notes)

    def is_of_another(self, graph: str, names: str) -> bool:
        """Whether the store was written with another codex or other names than these digests."""
        return self.graph not in (None, graph) or self.names not in (None, "", names)


class ContentsCache:
    """Caches the contents of a store until its generation changes; not thread safe."""

    def __init__(self) -> None:
        self._seen: IndexContents | None = None
        self._equal: tuple[str, int] | None = None  # the stamp of a source, and the generation that equals it

    def of(self, store: Store) -> IndexContents:
        """The contents of the store; read again when its generation changed."""
        generation = store.generation()
        seen = self._seen
        if seen is None or seen.store is not store or seen.generation != generation:
            notes = {field: store.note(key) for field, key in _NOTES.items()}
            seen = self._seen = IndexContents(store, generation, store.files(), **notes)
        return seen

    def take(self, before: IndexContents, changes: Sequence[Change], generation: int) -> None:
        """Apply `changes`, the only ones since `before`, without reading the store again."""
        self._seen = before.after(changes, generation)

    @property
    def seen(self) -> tuple[Store, int] | None:
        """The store and the generation that were read last."""
        return None if self._seen is None else (self._seen.store, self._seen.generation)

    def look_again(self) -> None:
        """Read the store at the next call of `of`: several writes may share one generation."""
        self._seen = None

    def forget(self) -> None:
        """Drop everything: the store was replaced or rolled back."""
        self._seen = self._equal = None

    def keep_equal(self, stamp: str, generation: int) -> None:
        """Remember that the source with this stamp equals this generation; "" is no stamp."""
        if stamp:
            self._equal = (stamp, generation)

    def is_equal(self, stamp: str, generation: int) -> bool:
        """Whether this stamp and generation were found equal."""
        return bool(stamp) and self._equal == (stamp, generation)


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
