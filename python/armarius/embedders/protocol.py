"""The protocol `Embedder`."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from armarius.store.vectors_protocol import Fingerprint, Vectors

__all__ = ["AnyEmbedder", "Embedder", "Fingerprint", "OneKindEmbedder", "Vectors"]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Queries and documents have separate methods: many models encode them differently.

    Implementations must be thread-safe.
    """

    @property
    def fingerprint(self) -> Fingerprint:
        """Identifies the model and the settings that determine document vectors; cheap after the first call."""
        ...

    def embed_queries(self, texts: Sequence[str], /) -> Vectors:
        """One vector per query, in the order of `texts`, comparable with document vectors.

        Returns:
            float32, shape (len(texts), dimension), C-contiguous. A row of zeros means that the text cannot be embedded
            (it is empty, or no token is known).
        """
        ...

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """One vector per paragraph or card, in the order of `texts`.

        Returns:
            As `embed_queries`; normalised if the fingerprint says so.
        """
        ...


@runtime_checkable
class OneKindEmbedder(Protocol):
    """An embedder with one method for queries and documents."""

    def embed(self, texts: Sequence[str], /) -> ArrayLike:
        """One vector per text: numbers of shape (len(texts), dimension)."""
        ...


AnyEmbedder = Embedder | OneKindEmbedder | Callable[[Sequence[str]], ArrayLike]
"""What a host may pass; `armarius.embedders.adapt.as_embedder` wraps it."""
