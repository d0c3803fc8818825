"""Rows of float32 that are vectors: which may be kept, which can be compared."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from armarius.errors import DimensionMismatch, EmbeddingError
from armarius.store.fingerprint import Fingerprint, require_same
from armarius.store.vectors_protocol import PendingText, Vectors

__all__ = ["check_batch", "check_storable", "unit_rows", "usable_rows"]


def unit_rows(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; zero rows stay zero."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    scaled: Vectors = vectors / np.where(norms > 0, norms, np.ones_like(norms))
    return scaled


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


def check_batch(stored: Fingerprint, given: Fingerprint, texts: Sequence[PendingText], vectors: Vectors) -> None:
    """Refuse a batch that a store may not keep; rows of zeros, which mean nothing to embed, pass.

    Raises:
        DimensionMismatch: Another model's vectors, or of another length.
        EmbeddingError: A row holds NaN or infinity; the message names its owner.
    """
    require_same(stored, given)
    zero = np.asarray([not row.any() for row in vectors], np.bool_)
    named = [text.owner for text, empty in zip(texts, zero, strict=True) if not empty]
    check_storable(vectors[~zero], given.dimension, named)
