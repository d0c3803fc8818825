"""The approximate index of the core: signs of all vectors compared, then the nearest of them exactly.

It is made as fast as the vectors are read, answers alike whatever their order, and forgets without a trace; its search
takes time with the number of vectors, which for as many as a shelf of books has is less than a graph takes
(docs/decisions/0193).
"""

from collections.abc import Callable, Sequence

import numpy as np

from armarius._core import SignIndex as CoreIndex
from armarius.errors import StoreCorrupt
from armarius.store.sqlite.ann import Keys, Neighbours, check_query, check_rows, tuned
from armarius.store.vectors_protocol import RecallSample, Vectors

__all__ = ["MAGIC", "SignIndex"]

MAGIC = b"armarius signs"
"""What its bytes begin with."""

# Vectors compared exactly for a question. What is asked of the first finds .99 in sentences of books.
_EXPANSIONS = (384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384)


class SignIndex:
    """See `AnnIndex`. `expansion` is how many vectors at least are compared exactly."""

    worn = False
    """Never: what is removed leaves nothing behind."""

    def __init__(self, dimension: int, *, expansion: int = _EXPANSIONS[0]) -> None:
        self._index = CoreIndex(dimension)
        self._dimension = dimension
        self._expansion = expansion

    def __len__(self) -> int:
        return len(self._index)

    @property
    def dimension(self) -> int:
        """Coordinates of a vector."""
        return self._dimension

    @property
    def expansion(self) -> int:
        """Vectors that are compared exactly, at least."""
        return self._expansion

    def put(self, keys: Sequence[int] | Keys, vectors: Vectors) -> None:
        """See `AnnIndex.put`. Cost: about 5 µs a vector at 768 dimensions."""
        check_rows(self._dimension, keys, vectors)
        self._index.put([int(key) for key in keys], np.ascontiguousarray(vectors, "<f4").tobytes())

    def remove(self, keys: Sequence[int]) -> None:
        """See `AnnIndex.remove`."""
        self._index.remove([int(key) for key in keys])

    def search(self, vector: Vectors, limit: int) -> Neighbours:
        """See `AnnIndex.search`. Cost: about 0.1 ms for 10,000 vectors of 384 dimensions, 0.6 for 100,000 of 768."""
        return self._nearest(vector, limit, self._expansion)

    def exactly(self, vector: Vectors, limit: int) -> list[int]:
        """The keys that comparing with every vector finds. Cost: about 10 ms for 100,000 vectors of 768 dimensions."""
        found: list[int] = self._nearest(vector, limit, len(self)).keys.tolist()
        return found

    def tune(self, queries: Vectors, exact: Callable[[Vectors, int], Sequence[int]], limit: int = 10) -> RecallSample:
        """See `AnnIndex.tune`; the signs are taken about the mean of the vectors that are there now."""
        self._index.centre()
        return tuned(self, _EXPANSIONS, self._expand, queries, exact, limit)

    def to_bytes(self) -> bytes:
        """See `AnnIndex.to_bytes`. The same vectors put in the same order give the same bytes."""
        return self._index.to_bytes()

    @classmethod
    def from_verified_bytes(cls, data: bytes, dimension: int, count: int, *, expansion: int) -> "SignIndex":
        """Read what `to_bytes` gave.

        Raises:
            StoreCorrupt: Not that, or of another dimension or size.
        """
        index = CoreIndex.from_bytes(data)
        kind = None if index is None else (index.dimension, len(index))
        if index is None or kind != (dimension, count):
            raise StoreCorrupt(f"the approximate index holds {kind}, expected {(dimension, count)}")
        found = cls(dimension, expansion=expansion)
        found._index = index
        return found

    def _nearest(self, vector: Vectors, limit: int, compared: int) -> Neighbours:
        check_query(self._dimension, vector)
        keys, similarities = self._index.search(vector.astype("<f4").tobytes(), max(0, limit), compared)
        return Neighbours(np.array(keys, np.int64), np.array(similarities, np.float32))

    def _expand(self, expansion: int) -> None:
        self._expansion = expansion
