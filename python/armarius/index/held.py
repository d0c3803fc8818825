"""What a store holds, as it was last looked at, and which state of the texts it was found equal to."""

from collections.abc import Mapping
from dataclasses import dataclass

from armarius.store.protocol import Store
from armarius.store.rows import FileRow

__all__ = ["Held", "Holdings"]


@dataclass(frozen=True, slots=True)
class Held:
    """What a store holds at a generation: its files, and what it says of itself."""

    store: Store
    generation: int
    files: Mapping[str, FileRow]
    graph: str | None
    names: str | None
    reader: str | None

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
            notes = [store.note(key) for key in ("graph", "names", "reader")]
            seen = self._seen = Held(store, generation, store.files(), *notes)
        return seen

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
