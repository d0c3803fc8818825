"""What an embedder is."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from armarius.store.fingerprint import Fingerprint
from armarius.store.vectors_protocol import Vectors

__all__ = ["Embedder", "Fingerprint", "Vectors"]


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors. Implementations are safe to call from several threads at once."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What decides the vectors; cheap after the first call."""
        ...

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """One vector per text, in the order of `texts`.

        Returns:
            float32, shape (len(texts), dimension), C-contiguous, scale as the fingerprint says. A row
            of zeros means that the text has nothing to embed (empty, or unknown throughout).
        """
        ...
