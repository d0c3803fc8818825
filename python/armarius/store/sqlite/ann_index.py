"""Nearest neighbours in the set that answers, by number: exact while it is small, approximate beyond.

`search` never waits for work: until the approximate index is built, loaded or caught up by `refresh`, which runs in the
background, exact search in the store answers. A filter never leaves fewer than `limit` results while more exist.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from armarius.errors import StoreCorrupt
from armarius.store.sqlite.ann import AnnIndex, load, save, size_on_disk, sweep
from armarius.store.sqlite.vectors_rows import SetRow
from armarius.store.sqlite.vectors_search import VectorReader
from armarius.store.vector_rows import unit_rows
from armarius.store.vectors_protocol import RecallSample, VectorFilter, VectorIndexStatus, Vectors, VectorSet

__all__ = ["EXACT_BELOW", "ApproximateIndex"]

EXACT_BELOW = 1500
"""Vectors up to which exact search stays below 5 ms: 2 to 3 ms per 1,000 of 768 dimensions (docs/decisions/0083)."""

_AT_ONCE = 64
_SAMPLES = 32
_GROWTH = 1.2
_SAVE_AT = 0.01


@dataclass(slots=True)
class _Loaded:
    set_id: int
    ann: AnnIndex
    sequence: int
    sampled_at: int = 0
    recall: RecallSample | None = None
    saved: bool = False
    unsaved: int = 0


class ApproximateIndex:
    """Search over the vectors of one store. Safe to use from several threads.

    Args:
        reader: The vectors.
        folder: Where the index is saved.
        below: The trusted folder that `folder` is reached from; see `armarius.io`.

    Attributes:
        exact_below: Number of vectors up to which search is exact.
        folder: As given.
    """

    def __init__(self, reader: VectorReader, folder: Path, *, below: Path | None = None) -> None:
        self.exact_below = EXACT_BELOW
        self.folder = folder
        self._below = below
        self._reader = reader
        self._loaded: _Loaded | None = None
        self._refreshing = threading.Lock()

    def search(
        self, vector_set: VectorSet, vector: Vectors, limit: int, which: VectorFilter | None
    ) -> list[tuple[int, float]]:
        """As `VectorStore.nearest`, by number; ties by number."""
        loaded = self._loaded
        if loaded is not None and loaded.set_id == vector_set.id and limit > 0:
            wanted = 2 * limit
            while True:
                found = loaded.ann.search(vector, wanted)
                owners = [_owner(key) for key in found.keys.tolist()]
                kept = self._reader.admitted(vector_set, owners, which)
                pairs = [(o, float(s)) for o, s in zip(owners, found.similarities, strict=True) if o in kept]
                if len(pairs) >= limit:
                    return pairs[:limit]
                if len(owners) < wanted or wanted >= 64 * limit:
                    break
                wanted *= 4
        return self._reader.nearest(vector_set, vector, limit, which)

    def refresh(self, *, resample: bool = False, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Build, load or catch up, save, and sample recall, as far as needed. Slow: call it in the background.

        Args:
            resample: Sample recall also where it is known, at a third of a second per 100,000 vectors and question.
            cancelled: Asked between blocks of a build; when it says so, nothing half-built is used.
        """
        with self._refreshing:
            serving = self._reader.sets().get("serving")
            if serving is None:
                return
            if self._reader.counts(serving.id).embedded < self.exact_below:
                self._loaded = None
                self._reader.purge(serving, serving.sequence)
                return
            loaded = self._loaded
            if loaded is None or loaded.set_id != serving.id:
                loaded = self._load(serving)
            if loaded is not None:
                self._catch_up(loaded, serving)
            if loaded is None or loaded.ann.worn:
                loaded = self._build(serving, cancelled)
                if loaded is None:
                    return
                self._catch_up(loaded, serving)
            else:
                self._loaded = loaded  # tuned when it was built: it answers while it is sampled again
            if resample or len(loaded.ann) > _GROWTH * loaded.sampled_at:
                loaded.recall = loaded.ann.tune(self._samples(serving), self._exact_keys(serving))
                loaded.sampled_at = len(loaded.ann)
            self._loaded = loaded
            self._save(loaded, serving)

    def status(self) -> VectorIndexStatus:
        """What answers now."""
        serving = self._reader.sets().get("serving")
        count = self._reader.counts(serving.id).embedded if serving else 0
        loaded = self._loaded
        if serving is None or loaded is None or loaded.set_id != serving.id:
            return VectorIndexStatus(approximate=False, vectors=count)
        size = size_on_disk(self.folder, serving.ann, below=self._below) if serving.ann else 0
        return VectorIndexStatus(approximate=True, vectors=count, recall=loaded.recall, bytes_on_disk=size)

    def _load(self, serving: SetRow) -> _Loaded | None:
        if serving.ann is None or serving.ann.dimension != serving.fingerprint.dimension:
            return None
        try:
            ann = load(self.folder, serving.ann, below=self._below)
        except StoreCorrupt:
            return None  # a cache: built again below
        loaded = _Loaded(serving.id, ann, serving.ann.sequence, saved=True)
        if serving.ann.queries:
            loaded.recall = RecallSample(serving.ann.recall, serving.ann.queries, serving.ann.expansion)
            loaded.sampled_at = serving.ann.count
        return loaded

    def _build(self, serving: SetRow, cancelled: Callable[[], bool]) -> _Loaded | None:
        sequence, changes = self._reader.changes(serving, 0)
        owner_of = {change.slot: change.owner for change in changes if change.slot is not None}
        ann = AnnIndex(serving.fingerprint.dimension)
        for slots, vectors in self._reader.blocks(serving):
            if cancelled():
                return None
            rows = [row for row, slot in enumerate(slots.tolist()) if slot in owner_of]
            keys = [_key(owner_of[slot]) for slot in slots[rows].tolist()]
            ann.put(keys, vectors[rows])
        return _Loaded(serving.id, ann, sequence)

    def _catch_up(self, loaded: _Loaded, serving: SetRow) -> None:
        sequence, changes = self._reader.changes(serving, loaded.sequence)
        loaded.ann.remove([_key(change.owner) for change in changes if change.slot is None])
        arrived = [(change.owner, change.slot) for change in changes if change.slot is not None]
        for start in range(0, len(arrived), _AT_ONCE):
            part = arrived[start : start + _AT_ONCE]
            loaded.ann.put([_key(owner) for owner, _ in part], self._reader.read(serving, [slot for _, slot in part]))
        loaded.unsaved += len(changes)
        loaded.sequence = sequence

    def _save(self, loaded: _Loaded, serving: SetRow) -> None:
        """Write the file when a hundredth has changed since: it is written whole, and what it lacks is caught up."""
        if loaded.saved and loaded.unsaved <= _SAVE_AT * len(loaded.ann):
            return
        saved = save(loaded.ann, self.folder, loaded.sequence, below=self._below)
        if loaded.recall is not None:
            saved = replace(saved, recall=loaded.recall.recall, queries=loaded.recall.queries)
        self._reader.remember_ann(serving, saved)
        sweep(self.folder, saved, below=self._below)
        self._reader.purge(serving, saved.sequence)
        loaded.saved, loaded.unsaved = True, 0

    def _samples(self, serving: SetRow) -> Vectors:
        """Queries that are near the data without being in it: sums of two stored vectors, as far from one as the other.

        Sums that lean on one vector promised a recall that questions missed. With these, 100,000 vectors with the
        neighbourhoods of a model kept it (.984 sampled, .985 for questions); of random words they did not (.984, .945).
        """
        _, changes = self._reader.changes(serving, 0)
        slots = [change.slot for change in changes if change.slot is not None]
        chosen = np.random.default_rng(len(slots)).choice(slots, size=(2, _SAMPLES))
        first, second = (unit_rows(self._reader.read(serving, sorted(set(row.tolist())))) for row in chosen)
        count = min(len(first), len(second))
        return first[:count] + second[:count]

    def _exact_keys(self, serving: SetRow) -> Callable[[Vectors, int], list[int]]:
        def exact(query: Vectors, limit: int) -> list[int]:
            return [_key(owner) for owner, _ in self._reader.nearest(serving, query, limit, None)]

        return exact


def _key(owner: int) -> int:
    """Owners of entities are negative, keys are not: even for paragraphs, odd for entities."""
    return owner << 1 if owner >= 0 else (-owner << 1) | 1


def _owner(key: int) -> int:
    return key >> 1 if key & 1 == 0 else -(key >> 1)
