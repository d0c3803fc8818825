"""Which names stand in the texts of a document: read from what the store kept, when somebody asks."""

from collections.abc import Callable, Sequence

from armarius.corpus.kept import names_in
from armarius.corpus.part import DocumentPart, Named

__all__ = ["DocumentNames"]


class DocumentNames:
    """The names of a document, text by text.

    Args:
        known: As kept, or as just worked out.
        again: Works them out, should what was kept be damaged.

    Cost: what is kept is read each time it is asked, 20 µs for a chapter; who needs it again remembers it.
    """

    __slots__ = ("_again", "_known")

    def __init__(self, known: bytes | DocumentPart, again: Callable[[], DocumentPart]) -> None:
        self._known: bytes | list[tuple[Named, ...]]
        self._known = known if isinstance(known, bytes) else [text.names for text in known.texts]
        self._again = again

    def all(self) -> list[tuple[Named, ...]]:
        """Of every text."""
        if isinstance(self._known, bytes):
            try:
                return names_in(self._known)
            except ValueError:
                self._known = [text.names for text in self._again().texts]
        return self._known

    def of(self, position: int) -> Sequence[Named]:
        """Of one text."""
        return self.all()[position]
