"""The approximate index: USearch's HNSW graph over unit vectors. A cache, never the only copy.

What is pinned and why: dtype f16 (USearch's default follows the CPU; i8 loses recall), inner product on
unit vectors (faster than cosine), one thread for building (several threads link nodes in a different
order every time, and the same project would answer differently). Malkov & Yashunin 2016.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarius.errors import DimensionMismatch, StoreCorrupt
from armarius.io.processes import set_up_locale
from armarius.store.vector_rows import unit_rows
from armarius.store.vectors_protocol import RecallSample, Vectors

__all__ = ["REBUILD_AT", "TARGET_RECALL", "AnnIndex", "Neighbours"]

Keys = NDArray[np.int64]

TARGET_RECALL = 0.98
REBUILD_AT = 0.3
"""Share of removed vectors at which the graph is rebuilt: its links lead through what is gone."""

_CONNECTIVITY = 32
_EXPANSION_ADD = 128
_EXPANSIONS = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
_SLICE = 32


@dataclass(frozen=True, slots=True)
class Neighbours:
    """keys: int64, shape (k,); similarities: float32 cosine in [-1, 1], descending, ties by key."""

    keys: Keys
    similarities: Vectors


class AnnIndex:
    """Nearest neighbours by cosine among vectors with integer keys. Safe to use from several threads."""

    def __init__(self, dimension: int, *, expansion: int = _EXPANSIONS[0]) -> None:
        self._index = _empty(dimension, expansion)
        self._dimension = dimension
        self._removed = 0
        # USearch may be read by many or written by one; a search takes a fraction of a millisecond
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._index)

    @property
    def dimension(self) -> int:
        """Coordinates of a vector."""
        return self._dimension

    @property
    def expansion(self) -> int:
        """Candidates a search keeps (`ef`); more is slower and finds more."""
        return int(self._index.expansion_search)

    @property
    def worn(self) -> bool:
        """Whether so many vectors were removed that the graph should be built anew."""
        return self._removed > REBUILD_AT * (len(self) + self._removed)

    def put(self, keys: Sequence[int] | Keys, vectors: Vectors) -> None:
        """Add vectors, or replace those whose key is known.

        Args:
            keys: n distinct keys, >= 0.
            vectors: float32, shape (n, dimension), any scale, none zero.

        Cost: about 0.5 ms a vector at 768 dimensions; searches come in between slices of 32.
        """
        if vectors.ndim != 2 or vectors.shape[1] != self._dimension or len(keys) != len(vectors):
            raise DimensionMismatch(
                f"{len(keys)} keys and vectors of shape {vectors.shape} for an index of {self._dimension} dimensions"
            )
        place = np.asarray(keys, np.uint64)
        rows = unit_rows(vectors)
        for start in range(0, len(place), _SLICE):
            part = place[start : start + _SLICE]
            with self._lock:
                known = [int(key) for key in part if key in self._index]
                self._forget(known)
                self._index.add(part, rows[start : start + _SLICE], threads=1)

    def remove(self, keys: Sequence[int]) -> None:
        """Forget vectors; unknown keys are ignored."""
        with self._lock:
            self._forget([key for key in keys if key in self._index])

    def search(self, vector: Vectors, limit: int) -> Neighbours:
        """The nearest vectors, at most `limit`.

        Args:
            vector: float32, shape (dimension,), any scale; zeros find nothing.
            limit: At most so many; below 1 finds nothing.
        """
        if vector.shape != (self._dimension,):
            raise DimensionMismatch(f"a query of shape {vector.shape} for an index of {self._dimension} dimensions")
        norm = np.sqrt(vector @ vector)
        with self._lock:
            if limit < 1 or not norm or not len(self._index):
                return Neighbours(np.empty(0, np.int64), np.empty(0, np.float32))
            found = self._index.search(vector / norm, min(limit, len(self._index)), threads=1)
        keys, similarities = found.keys.astype(np.int64), 1.0 - found.distances.astype(np.float32)
        order = np.lexsort((keys, -similarities))
        return Neighbours(keys[order], similarities[order])

    def tune(self, queries: Vectors, exact: Callable[[Vectors, int], Sequence[int]], limit: int = 10) -> RecallSample:
        """Raise `expansion` until the sampled recall reaches the target, or there is no more to raise.

        Args:
            queries: float32, shape (n, dimension).
            exact: The true nearest keys of one query, best first, at most as many as its second argument.
            limit: Neighbours compared per query.
        """
        truths = [set(exact(query, limit)) for query in queries]
        wanted = sum(map(len, truths))
        recall = 1.0
        for expansion in [step for step in _EXPANSIONS if step >= self.expansion] or [self.expansion]:
            with self._lock:
                self._index.expansion_search = expansion
            found = (set(self.search(query, limit).keys.tolist()) for query in queries)
            recall = sum(len(truth & got) for truth, got in zip(truths, found, strict=True)) / max(1, wanted)
            if recall >= TARGET_RECALL:
                break
        return RecallSample(round(recall, 4), len(queries), self.expansion)

    def to_bytes(self) -> bytes:
        """The graph and its vectors; `from_verified_bytes` reads it back."""
        with self._lock:
            return bytes(self._index.save())

    @classmethod
    def from_verified_bytes(cls, data: bytes, dimension: int, count: int, *, expansion: int) -> "AnnIndex":
        """Read what `to_bytes` wrote. The caller has verified every byte: USearch crashes the process on damage.

        Raises:
            StoreCorrupt: Whole, and not an index of this dimension, dtype and size.
        """
        found = cls(dimension, expansion=expansion)
        found._index.load(data)
        kind = (int(found._index.ndim), str(found._index.dtype).rpartition(".")[2].lower(), len(found))
        if kind != (dimension, "f16", count):
            raise StoreCorrupt(f"the approximate index holds {kind}, expected {(dimension, 'f16', count)}")
        return found

    def _forget(self, keys: list[int]) -> None:
        if keys:
            self._index.remove(np.asarray(keys, np.uint64))
            self._removed += len(keys)


def _empty(dimension: int, expansion: int) -> Any:  # noqa: ANN401
    set_up_locale()
    from usearch.index import Index

    return Index(
        ndim=dimension,
        metric="ip",
        dtype="f16",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION_ADD,
        expansion_search=expansion,
    )
