"""The approximate index of very many vectors: USearch's HNSW graph. Its search takes time with their logarithm.

What is pinned and why: dtype f16 (USearch's default follows the CPU; i8 loses recall), inner product on
unit vectors (faster than cosine), one thread for building (several threads link nodes in a different
order every time, and the same project would answer differently). Malkov & Yashunin 2016.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armarius.errors import StoreCorrupt
from armarius.store.sqlite.ann import Keys, Neighbours, check_query, check_rows, tuned
from armarius.store.vector_rows import unit_rows
from armarius.store.vectors_protocol import RecallSample, Vectors

__all__ = ["REBUILD_AT", "GraphIndex"]

REBUILD_AT = 0.3
"""Share of removed vectors at which the graph is rebuilt: its links lead through what is gone."""

_CONNECTIVITY = 32
_EXPANSION_ADD = 128
_EXPANSIONS = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
_SLICE = 32


class GraphIndex:
    """See `AnnIndex`. `expansion` is HNSW's `ef`."""

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
        """See `AnnIndex.put`. Cost: about 0.5 ms a vector at 768 dimensions; searches come in between slices of 32."""
        check_rows(self._dimension, keys, vectors)
        place = np.asarray(keys, np.uint64)
        rows = unit_rows(vectors)
        for start in range(0, len(place), _SLICE):
            part = place[start : start + _SLICE]
            with self._lock:
                known = [int(key) for key in part if key in self._index]
                self._forget(known)
                self._index.add(part, rows[start : start + _SLICE], threads=1)

    def remove(self, keys: Sequence[int]) -> None:
        """See `AnnIndex.remove`."""
        with self._lock:
            self._forget([key for key in keys if key in self._index])

    def search(self, vector: Vectors, limit: int) -> Neighbours:
        """See `AnnIndex.search`."""
        check_query(self._dimension, vector)
        norm = np.sqrt(vector @ vector)
        with self._lock:
            if limit < 1 or not norm or not len(self._index):
                return Neighbours(np.empty(0, np.int64), np.empty(0, np.float32))
            found = self._index.search(vector / norm, min(limit, len(self._index)), threads=1)
        keys, similarities = found.keys.astype(np.int64), 1.0 - found.distances.astype(np.float32)
        order = np.lexsort((keys, -similarities))
        return Neighbours(keys[order], similarities[order])

    def tune(self, queries: Vectors, exact: Callable[[Vectors, int], Sequence[int]], limit: int = 10) -> RecallSample:
        """See `AnnIndex.tune`."""
        return tuned(self, _EXPANSIONS, self._expand, queries, exact, limit)

    def to_bytes(self) -> bytes:
        """The graph and its vectors; `from_verified_bytes` reads it back."""
        with self._lock:
            return bytes(self._index.save())

    @classmethod
    def from_verified_bytes(cls, data: bytes, dimension: int, count: int, *, expansion: int) -> "GraphIndex":
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

    def _expand(self, expansion: int) -> None:
        with self._lock:
            self._index.expansion_search = expansion

    def _forget(self, keys: list[int]) -> None:
        if keys:
            self._index.remove(np.asarray(keys, np.uint64))
            self._removed += len(keys)


def _empty(dimension: int, expansion: int) -> Any:  # noqa: ANN401
    from usearch.index import Index

    return Index(
        ndim=dimension,
        metric="ip",
        dtype="f16",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION_ADD,
        expansion_search=expansion,
    )
