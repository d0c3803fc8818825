"""What a store holds, as it was last looked at, and which state of the texts it was found equal to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from armarius.corpus.kept import KIND as PART
from armarius.store.protocol import Store
from armarius.store.rows import Change, FileRow, Note, Put, Remove

__all__ = ["Held", "Holdings"]


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
