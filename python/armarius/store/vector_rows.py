"""Checks and scaling of vectors before they are stored or compared."""

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
    """Mask of the rows that are finite and not zero. Shape (n,)."""
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    usable: NDArray[np.bool_] = np.isfinite(squares) & (squares > 0.0)
    return usable


def check_storable(vectors: Vectors, dimension: int, owners: Sequence[object]) -> None:
    """Check vectors before they are stored; the vector table itself accepts any values.

    Args:
        vectors: float32, shape (n, d).
        dimension: The d of the index.
        owners: Owner of each row, for the message; length n.

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
    """Check a batch before it is stored. Rows of zeros are valid: they mean that there is nothing to embed.

    Raises:
        DimensionMismatch: The vectors have another model or length.
        EmbeddingError: A row holds NaN or infinity; the message names its owner.
    """
    require_same(stored, given)
    zero = np.asarray([not row.any() for row in vectors], np.bool_)
    named = [text.owner for text, empty in zip(texts, zero, strict=True) if not empty]
    check_storable(vectors[~zero], given.dimension, named)
