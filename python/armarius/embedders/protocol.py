"""What an embedder is."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from armarius.store.fingerprint import Fingerprint
from armarius.store.vectors_protocol import Vectors

__all__ = ["AnyEmbedder", "Embedder", "Fingerprint", "OneKindEmbedder", "Vectors"]


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors: a question and the paragraph that answers it are two kinds of text.

    Implementations are safe to call from several threads at once.
    """

    @property
    def fingerprint(self) -> Fingerprint:
        """What decides the vectors of documents; cheap after the first call."""
        ...

    def embed_queries(self, texts: Sequence[str], /) -> Vectors:
        """One vector per question, in the order of `texts`, comparable with those of documents.

        Returns:
            float32, shape (len(texts), dimension), C-contiguous. A row of zeros means that the text has nothing to
            embed (empty, or unknown throughout).
        """
        ...

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """One vector per paragraph or card, in the order of `texts`.

        Returns:
            As `embed_queries`, scale as the fingerprint says.
        """
        ...


@runtime_checkable
class OneKindEmbedder(Protocol):
    """An embedder that makes no difference between questions and documents."""

    def embed(self, texts: Sequence[str], /) -> ArrayLike:
        """One vector per text: numbers of shape (len(texts), dimension)."""
        ...


AnyEmbedder = Embedder | OneKindEmbedder | Callable[[Sequence[str]], ArrayLike]
"""What a host may give; `armarius.embedders.adapt.as_embedder` makes an `Embedder` of it."""
