"""The approximate index: USearch's HNSW graph over unit vectors. A cache, never the only copy.

What is pinned and why: dtype f16 (USearch's default follows the CPU; i8 loses recall), inner product on
unit vectors (faster than cosine), one thread for building (several threads link nodes in a different
order every time, and the same project would answer differently). Malkov & Yashunin 2016.

Its file is never loaded unless every byte is the one that was written: it is named after its SHA-256, and the hash is
kept in the store. Order of a save: the file, atomically and durably; commit of the hash; removal of older files. A
crash between any two leaves the old pair or the new one; anything else is refused and the index is built again.
"""

import contextlib
import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarius.errors import DimensionMismatch, StoreCorrupt
from armarius.io import read_file, remove_file, stat_of, write_atomic
from armarius.io.processes import set_up_locale
from armarius.store.vectors_protocol import RecallSample, Vectors, unit_rows

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
    """Nearest neighbours by cosine among vectors with integer keys. Safe to use from several threads.

    Attributes:
        dimension: Coordinates of a vector.
    """

    def __init__(self, dimension: int, *, expansion: int = _EXPANSIONS[0]) -> None:
        self._index = _empty_index(dimension, expansion)
        self.dimension = dimension
        self._removed = 0
        # USearch may be read by many or written by one; a search takes a fraction of a millisecond
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._index)

    @property
    def expansion(self) -> int:
        """Candidates a search keeps (`ef`); more is slower and finds more."""
        return int(self._index.expansion_search)

    @property
    def worn(self) -> bool:
        """Whether so many vectors were removed that the graph should be built anew."""
        return self._removed > REBUILD_AT * (len(self) + self._removed)

    def put(self, keys: Sequence[int] | Keys, vectors: Vectors) -> None:
        """Add vectors, or replace those with the same key.

        Args:
            keys: n distinct keys, >= 0.
            vectors: float32, shape (n, dimension), any scale, none zero.

        Cost: about 0.5 ms a vector at 768 dimensions; searches come in between slices of 32.
        """
        if vectors.ndim != 2 or vectors.shape[1] != self.dimension or len(keys) != len(vectors):
            raise DimensionMismatch(
                f"{len(keys)} keys and vectors of shape {vectors.shape} for an index of {self.dimension} dimensions"
            )
        place = np.asarray(keys, np.uint64)
        rows = unit_rows(vectors)
        for start in range(0, len(place), _SLICE):
            part = place[start : start + _SLICE]
            with self._lock:
                repeats = [int(key) for key in part if key in self._index]
                self._forget(repeats)
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
        if vector.shape != (self.dimension,):
            raise DimensionMismatch(f"a query of shape {vector.shape} for an index of {self.dimension} dimensions")
        norm = np.sqrt(vector @ vector)
        with self._lock:
            if limit < 1 or not norm or not len(self._index):
                return Neighbours(np.empty(0, np.int64), np.empty(0, np.float32))
            result = self._index.search(vector / norm, min(limit, len(self._index)), threads=1)
        keys, similarities = result.keys.astype(np.int64), 1.0 - result.distances.astype(np.float32)
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
            answers = (set(self.search(query, limit).keys.tolist()) for query in queries)
            recall = sum(len(truth & got) for truth, got in zip(truths, answers, strict=True)) / max(1, wanted)
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
        index = cls(dimension, expansion=expansion)
        index._index.load(data)
        kind = (int(index._index.ndim), str(index._index.dtype).rpartition(".")[2].lower(), len(index))
        if kind != (dimension, "f16", count):
            raise StoreCorrupt(f"the approximate index holds {kind}, expected {(dimension, 'f16', count)}")
        return index

    def _forget(self, keys: list[int]) -> None:
        if keys:
            self._index.remove(np.asarray(keys, np.uint64))
            self._removed += len(keys)


def _empty_index(dimension: int, expansion: int) -> Any:  # noqa: ANN401
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


_SUFFIX = ".usearch"
_OURS = re.compile(r"vectors-[0-9a-f]{16}\.usearch")
_MOST_PER_VECTOR = 16_384  # bytes of links and padding: far above what usearch writes


@dataclass(frozen=True, slots=True)
class AnnFile:
    """What the store remembers of a saved index.

    `sequence` is the last change of the vector table that it contains; later ones are applied after loading.
    `recall` is what was sampled at this expansion, over `queries` questions (0: not sampled).
    """

    sha256: str
    dimension: int
    count: int
    expansion: int
    sequence: int
    recall: float = 0.0
    queries: int = 0


def save(index: AnnIndex, folder: Path, sequence: int, *, below: Path | None = None) -> AnnFile:
    """Write the index durably; the answer goes into the store, after that `remove_old_files`.

    Args:
        index: What to save.
        folder: Where.
        sequence: See `AnnFile`.
        below: The trusted folder that `folder` is reached from; see `armarius.io`.

    Raises:
        StoreFull: It cannot be written; the old file is untouched.
    """
    data = index.to_bytes()
    saved = AnnFile(hashlib.sha256(data).hexdigest(), index.dimension, len(index), index.expansion, sequence)
    write_atomic(_path(folder, saved), data, below=below)
    return saved


def load(folder: Path, saved: AnnFile, *, below: Path | None = None) -> AnnIndex:
    """Read an index back, after its bytes were compared with the hash.

    Raises:
        StoreCorrupt: Missing, unreadable, larger than it can be, or not byte for byte what was saved.

    Cost: one read of the file, about 1 s per GB for the hash.
    """
    path = _path(folder, saved)
    limit = (1 << 20) + saved.count * (8 * saved.dimension + _MOST_PER_VECTOR)
    try:
        data = read_file(path, limit=limit, below=below)
    except OSError as error:
        raise StoreCorrupt(f"{path}: the approximate index cannot be read ({error})") from error
    if hashlib.sha256(data).hexdigest() != saved.sha256:
        raise StoreCorrupt(
            f"{path}: the approximate index is damaged ({len(data)} bytes); it is built again from the store"
        )
    return AnnIndex.from_verified_bytes(data, saved.dimension, saved.count, expansion=saved.expansion)


def remove_old_files(folder: Path, keep: AnnFile | None, *, below: Path | None = None) -> None:
    """Remove the index files that `save` left in the folder but `keep`; others of that suffix are the user's."""
    kept = _path(folder, keep) if keep else None
    for path in folder.glob(f"*{_SUFFIX}"):
        if path != kept and _OURS.fullmatch(path.name):
            with contextlib.suppress(OSError):
                remove_file(path, below=below)


def size_on_disk(folder: Path, saved: AnnFile, *, below: Path | None = None) -> int:
    """Bytes of the saved file, 0 when it is gone."""
    info = stat_of(_path(folder, saved), below=below)
    return 0 if info is None else info.st_size


def _path(folder: Path, saved: AnnFile) -> Path:
    return folder / f"vectors-{saved.sha256[:16]}{_SUFFIX}"
