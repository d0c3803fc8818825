"""What an embedder is, and the fingerprint that keeps vectors of different models apart."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from armarius.errors import DimensionMismatch, EmbeddingError

__all__ = ["Embedder", "Fingerprint", "Vectors", "check_storable", "require_same", "usable_rows"]

Vectors = NDArray[np.float32]

_SHA256 = 64


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Everything that decides which vector a text gets; vectors mix only when fingerprints are equal.

    Attributes:
        name: The model folder's name or the built-in embedder's; for people, not compared.
        model: SHA-256 (hex) over weights and tokenizer files, or the built-in scheme with its version.
        dimension: Length of a vector.
        max_length: Tokens kept of each text, special tokens included; 0 is unlimited.
        pooling: mean, cls, max, or what the embedder does instead.
        normalise: Whether vectors are L2-normalised.
        dtype: Precision of the forward pass.
    """

    name: str = field(compare=False)
    model: str
    dimension: int
    max_length: int = 0
    pooling: str = "mean"
    normalise: bool = False
    dtype: str = "float32"

    def to_json(self) -> str:
        """One line of JSON with sorted keys, as recorded in the index."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Fingerprint":
        """The fingerprint that `to_json` wrote.

        Raises:
            EmbeddingError: The text is not a fingerprint.
        """
        try:
            raw = json.loads(text)
            return cls(**{item.name: raw[item.name] for item in fields(cls)})
        except (ValueError, KeyError, TypeError) as error:
            raise EmbeddingError(
                f"the index holds an unreadable fingerprint {text[:80]!r}; run `armarius embed`"
            ) from error

    def __str__(self) -> str:
        limit = f", {self.max_length} tokens" if self.max_length else ""
        scale = "normalised" if self.normalise else "not normalised"
        model = self.model[:12] if len(self.model) == _SHA256 else self.model
        return f"{self.name} ({self.dimension} dimensions, {self.pooling}{limit}, {scale}, {model})"


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


def require_same(stored: Fingerprint, given: Fingerprint) -> None:
    """Refuse to mix vectors of two models.

    Raises:
        DimensionMismatch: Names both fingerprints, what differs, and the way out.
    """
    if stored == given:
        return
    differing = [
        item.name
        for item in fields(Fingerprint)
        if item.compare and getattr(stored, item.name) != getattr(given, item.name)
    ]
    raise DimensionMismatch(
        f"the index holds vectors of {stored}, the embedder is {given}; different: {', '.join(differing)}. "
        "engine.reembed() (or `armarius embed --reembed`) replaces them while the old ones keep answering"
    )


def usable_rows(vectors: Vectors) -> NDArray[np.bool_]:
    """Which rows can be compared: finite and not zero. Shape (n,)."""
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    usable: NDArray[np.bool_] = np.isfinite(squares) & (squares > 0.0)
    return usable


def check_storable(vectors: Vectors, dimension: int, owners: Sequence[object]) -> None:
    """Refuse what the vector table would silently accept.

    Args:
        vectors: float32, shape (n, d).
        dimension: The d that the index was made for.
        owners: What each row belongs to, for the message; length n.

    Raises:
        DimensionMismatch: d is not `dimension`.
        EmbeddingError: A row is zero or holds NaN or infinity; the message names its owner.
    """
    if vectors.ndim != 2 or vectors.shape[1] != dimension:
        shape = "x".join(map(str, vectors.shape))
        raise DimensionMismatch(
            f"vectors of shape {shape} cannot go into an index of {dimension} dimensions; engine.reembed() rebuilds it"
        )
    usable = usable_rows(vectors)
    if not usable.all():
        row = int(np.argmin(usable))
        what = "zero" if np.isfinite(vectors[row]).all() else "not finite (NaN or infinity)"
        raise EmbeddingError(f"the vector of {owners[row]!r} is {what} and cannot be compared")
