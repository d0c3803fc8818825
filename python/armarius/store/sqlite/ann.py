"""What an approximate index is: the nearest of many vectors by key, and how much of exact search it finds.

A cache, never the only copy. Two kinds: `ann_signs.py` up to half a million vectors, `ann_graph.py` (USearch) above.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from armarius.errors import DimensionMismatch
from armarius.store.vectors_protocol import RecallSample, Vectors

__all__ = ["TARGET_RECALL", "AnnIndex", "Keys", "Neighbours", "check_query", "check_rows", "tuned"]

Keys = NDArray[np.int64]

TARGET_RECALL = 0.98


@dataclass(frozen=True, slots=True)
class Neighbours:
    """keys: int64, shape (k,); similarities: float32 cosine in [-1, 1], descending, ties by key."""

    keys: Keys
    similarities: Vectors


class AnnIndex(Protocol):
    """Nearest neighbours by cosine among vectors with integer keys. Safe to use from several threads."""

    def __len__(self) -> int: ...

    @property
    def dimension(self) -> int:
        """Coordinates of a vector."""
        ...

    @property
    def expansion(self) -> int:
        """Candidates a search keeps; more is slower and finds more."""
        ...

    @property
    def worn(self) -> bool:
        """Whether it should be built anew."""
        ...

    def put(self, keys: Sequence[int] | Keys, vectors: Vectors) -> None:
        """Add vectors, or replace those whose key is known.

        Args:
            keys: n distinct keys, >= 0.
            vectors: float32, shape (n, dimension), any scale, none zero.

        Raises:
            DimensionMismatch: Another shape.
        """
        ...

    def remove(self, keys: Sequence[int]) -> None:
        """Forget vectors; unknown keys are ignored."""
        ...

    def search(self, vector: Vectors, limit: int) -> Neighbours:
        """The nearest vectors, at most `limit`.

        Args:
            vector: float32, shape (dimension,), any scale; zeros find nothing.
            limit: At most so many; below 1 finds nothing.

        Raises:
            DimensionMismatch: Another shape.
        """
        ...

    def tune(self, queries: Vectors, exact: Callable[[Vectors, int], Sequence[int]], limit: int = 10) -> RecallSample:
        """Raise `expansion` until the sampled recall reaches the target, or there is no more to raise.

        Args:
            queries: float32, shape (n, dimension).
            exact: The true nearest keys of one query, best first, at most as many as its second argument.
            limit: Neighbours compared per query.
        """
        ...

    def to_bytes(self) -> bytes:
        """All of it; `ann_file` reads it back."""
        ...


def check_rows(dimension: int, keys: Sequence[int] | Keys, vectors: Vectors) -> None:
    """Refuse rows of another shape than the index has."""
    if vectors.ndim != 2 or vectors.shape[1] != dimension or len(keys) != len(vectors):
        raise DimensionMismatch(
            f"{len(keys)} keys and vectors of shape {vectors.shape} for an index of {dimension} dimensions"
        )


def check_query(dimension: int, vector: Vectors) -> None:
    """Refuse a question of another shape than the index has."""
    if vector.shape != (dimension,):
        raise DimensionMismatch(f"a query of shape {vector.shape} for an index of {dimension} dimensions")


def tuned(
    index: AnnIndex,
    steps: Sequence[int],
    expand: Callable[[int], None],
    queries: Vectors,
    exact: Callable[[Vectors, int], Sequence[int]],
    limit: int,
) -> RecallSample:
    """`AnnIndex.tune` over the `steps` from the present expansion on; `expand` sets it."""
    truths = [set(exact(query, limit)) for query in queries]
    wanted = sum(map(len, truths))
    recall = 1.0
    for expansion in [step for step in steps if step >= index.expansion] or [index.expansion]:
        expand(expansion)
        found = (set(index.search(query, limit).keys.tolist()) for query in queries)
        recall = sum(len(truth & got) for truth, got in zip(truths, found, strict=True)) / max(1, wanted)
        if recall >= TARGET_RECALL:
            break
    return RecallSample(round(recall, 4), len(queries), index.expansion)
