"""The built-in embedder: no model, no download, no understanding.

Hashed character n-grams find shared names and wording even when order and particles differ. They do
not find paraphrases: for those, use a model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import armarius._core as _core
from armarius.embedders.protocol import Fingerprint, Vectors
from armarius.errors import ContractError

__all__ = ["LexicalEmbedder"]

_SCHEME = "lexical-ngrams-1"
_SLICE = 256


@dataclass(frozen=True, slots=True)
class LexicalEmbedder:
    """Hashed n-grams of characters (Chinese, Japanese) and of words and letters (other scripts).

    Attributes:
        dimension: Coordinates of the hash; more of them means fewer collisions. 1,024 by measurement
            (docs/decisions/0080).
    """

    dimension: int = 1024

    def __post_init__(self) -> None:
        if self.dimension < 1:
            raise ContractError(f"dimension must be >= 1, got {self.dimension}")

    @classmethod
    def of(cls, fingerprint: Fingerprint) -> "LexicalEmbedder | None":
        """The embedder that made vectors of this fingerprint, if it was this one."""
        return cls(fingerprint.dimension) if fingerprint.model == _SCHEME else None

    @property
    def fingerprint(self) -> Fingerprint:
        """The scheme, its version and the dimension."""
        return Fingerprint("lexical (no model)", _SCHEME, self.dimension, pooling="sum of n-grams", normalise=True)

    def embed_queries(self, texts: Sequence[str], /) -> Vectors:
        """As `embed`: wording is wording."""
        return self.embed(texts)

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """As `embed`: wording is wording."""
        return self.embed(texts)

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """One vector per text; zeros for a text without letters or digits.

        Returns:
            float32, shape (n, dimension), L2-normalised, equal on every machine.

        Cost: about 20 MB of text a second; releases the GIL.
        """
        out = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _SLICE):
            part = [_clean(text) for text in texts[start : start + _SLICE]]
            rows = np.frombuffer(_core.lexical_embed(part, self.dimension), dtype="<f4")
            out[start : start + len(part)] = rows.reshape(len(part), self.dimension)
        return out


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
