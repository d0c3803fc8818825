"""The pipeline every transformer embedder shares: tokens, forward pass, pooling, scale."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armarius.embedders.preprocess import (
    Pooling,
    Tokens,
    pool,
)
from armarius.embedders.prompts import prompted
from armarius.embedders.protocol import Fingerprint, Vectors
from armarius.errors import EmbeddingError
from armarius.store.vector_rows import unit_rows

__all__ = ["Forward", "TransformerEmbedder"]

Forward = Callable[[NDArray[np.int64], NDArray[np.int64]], Vectors]
"""(ids, mask), each int64 of shape (n, length), to token vectors: float32, shape (n, length, d)."""


@dataclass(frozen=True, slots=True)
class TransformerEmbedder:
    """Texts to vectors through a transformer that runs in this process, without network.

    Safe to call from several threads; the forward pass releases the GIL. Memory follows the batch
    (1,024 tokens), not the number of texts.

    Attributes:
        fingerprint: What decides the vectors of documents, their prompt included.
        query_prompt: Stands before every question.
    """

    fingerprint: Fingerprint
    tokens: Tokens
    forward: Forward
    query_prompt: str = ""

    @property
    def _pooling(self) -> Pooling:
        pooling: Pooling = self.fingerprint.pooling  # type: ignore[assignment]
        return pooling

    def embed_queries(self, texts: Sequence[str], /) -> Vectors:
        """As `embed`, with the prompt of questions before each text."""
        return self.embed(prompted(self.query_prompt, texts))

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """As `embed`, with the prompt of documents before each text."""
        return self.embed(prompted(self.fingerprint.document_prompt, texts))

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """One vector per text as it stands, without a prompt; an empty text still has its special tokens.

        Returns:
            float32, shape (n, dimension), rows in the order of `texts`.

        Raises:
            EmbeddingError: The model produced NaN or infinity, or another shape than it promised.
        """
        out = np.zeros((len(texts), self.fingerprint.dimension), np.float32)
        for batch in self.tokens.batches(texts):
            hidden = self.forward(batch.ids, batch.mask)
            if hidden.shape != (*batch.ids.shape, self.fingerprint.dimension):
                raise EmbeddingError(
                    f"{self.fingerprint.name} answered with shape {hidden.shape} for {batch.ids.shape} tokens, "
                    f"expected dimension {self.fingerprint.dimension}"
                )
            out[batch.rows] = pool(hidden, batch.mask, self._pooling)
        if not np.isfinite(out).all():
            raise EmbeddingError(
                f"{self.fingerprint.name} produced NaN or infinity: its weights are damaged, download them again"
            )
        return unit_rows(out) if self.fingerprint.normalise else out
