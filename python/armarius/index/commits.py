"""What a store holds as it was last looked at, and what one refresh writes to it: one transaction, or batches of 32."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from armarius.corpus.kept import KIND as PART
from armarius.index.status import Outcome, Progress
from armarius.store.protocol import Store
from armarius.store.rows import Change, FileRow, Note, Put, Remove, Restamp

__all__ = ["BATCH", "Commits", "Held", "Holdings"]

_NOTES: Final = {"graph": "graph", "names": "names", "reader": "reader", "form": PART}  # field to key


@dataclass(frozen=True, slots=True)
class Held:
    """What a store holds at a generation: its files, and what it says of itself.

    Attributes:
        store: Which.
        generation: Of the store.
        files: By path, in path order.
        graph: Digest of its codex.
        names: Digest of the names that were looked for; "" while some texts have been searched for others.
        reader: How its texts were read.
        form: Of what it keeps for retrieval.
    """

    store: Store
    generation: int
    files: Mapping[str, FileRow]
    graph: str | None
    names: str | None
    reader: str | None
    form: str | None

    def after(self, changes: Sequence[Change], generation: int) -> "Held":
        """What it holds after these changes, of which none is a `Restamp`; nobody else has written.

        Cost: one look at every change, and a copy of `files`.
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
        """Whether it says that it was made with another codex or other names than those of these digests."""
        return self.graph not in (None, graph) or self.names not in (None, "", names)


class Holdings:
    """The last look at a store; not thread safe."""

    def __init__(self) -> None:
        self._seen: Held | None = None
        self._equal: tuple[str, int] | None = None  # the stamp of a source, and the generation that equals it

    def of(self, store: Store) -> Held:
        """What the store holds, read again when it is at another generation."""
        generation = store.generation()
        seen = self._seen
        if seen is None or seen.store is not store or seen.generation != generation:
            notes = {field: store.note(key) for field, key in _NOTES.items()}
            seen = self._seen = Held(store, generation, store.files(), **notes)
        return seen

    def take(self, before: Held, changes: Sequence[Change], generation: int) -> None:
        """These changes alone were made to what `before` says: there is nothing to be read again."""
        self._seen = before.after(changes, generation)

    @property
    def seen(self) -> tuple[Store, int] | None:
        """The store and its generation that were looked at last."""
        return None if self._seen is None else (self._seen.store, self._seen.generation)

    def look_again(self) -> None:
        """Read what the store holds once more: one generation may stand for several writes."""
        self._seen = None

    def forget(self) -> None:
        """The store is another one, or may hold something else than it seemed."""
        self._seen = self._equal = None

    def keep_equal(self, stamp: str, generation: int) -> None:
        """A source of this stamp was found equal to this generation; "" is no stamp."""
        if stamp:
            self._equal = (stamp, generation)

    def is_equal(self, stamp: str, generation: int) -> bool:
        """Whether it is still the same source, and the same generation."""
        return bool(stamp) and self._equal == (stamp, generation)


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
