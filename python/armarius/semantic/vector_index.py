"""Nearest neighbours in the set that answers: exact while it is small, approximate beyond.

`search` never waits for work: until the approximate index is built, loaded or caught up by `refresh`, which runs in the
background, exact search in the store answers. A filter never leaves fewer than `limit` results while more exist.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from armarius.embedders.preprocess import unit_rows
from armarius.embedders.protocol import Vectors
from armarius.errors import StoreCorrupt
from armarius.semantic import ann_file
from armarius.semantic.ann import AnnIndex, RecallSample
from armarius.store.sqlite.vectors_search import Filter
from armarius.store.sqlite.vectors_sets import VectorSet
from armarius.store.sqlite.vectors_storage import VectorStorage

__all__ = ["EXACT_BELOW", "VectorIndex", "VectorIndexStatus"]

EXACT_BELOW = 1500
"""Vectors up to which exact search stays below 5 ms: 2 to 3 ms per 1,000 of 768 dimensions (docs/decisions/0083)."""

_AT_ONCE = 64
_SAMPLES = 32
_GROWTH = 1.2
_SAVE_AT = 0.01


@dataclass(frozen=True, slots=True)
class VectorIndexStatus:
    """What answers queries. `approximate` False is exact search in the store; `recall` None is not sampled yet."""

    approximate: bool
    vectors: int
    recall: RecallSample | None = None
    bytes_on_disk: int = 0


@dataclass(slots=True)
class _Loaded:
    set_id: int
    ann: AnnIndex
    sequence: int
    sampled_at: int = 0
    recall: RecallSample | None = None
    saved: bool = False
    unsaved: int = 0


class VectorIndex:
    """Search over the vectors of one store. Safe to use from several threads."""

    def __init__(self, storage: VectorStorage, *, exact_below: int = EXACT_BELOW) -> None:
        self._storage = storage
        self._exact_below = exact_below
        self._loaded: _Loaded | None = None
        self._refreshing = threading.Lock()
        self._stopping = False

    def search(self, vector_set: VectorSet, vector: Vectors, limit: int, which: Filter) -> list[tuple[int, float]]:
        """Owners with cosine similarity, best first, ties by owner; at most `limit`, all that exist if fewer.

        Raises:
            SetGone: Another set has taken over meanwhile.

        Cost: 0.3 to 1 ms on the approximate index at 768 dimensions, 2 to 3 ms per 1,000 vectors exact.
        """
        loaded = self._loaded
        if loaded is not None and loaded.set_id == vector_set.id:
            wanted = 2 * limit
            while True:
                found = loaded.ann.search(vector, wanted)
                owners = [_owner(key) for key in found.keys.tolist()]
                kept = self._storage.admitted(vector_set, owners, which)
                pairs = [(o, float(s)) for o, s in zip(owners, found.similarities, strict=True) if o in kept]
                if len(pairs) >= limit:
                    return pairs[:limit]
                if len(owners) < wanted or wanted >= 64 * limit:
                    break
                wanted *= 4
        return self._storage.nearest(vector_set, vector, limit, which)

    def refresh(self, *, resample: bool = False) -> None:
        """Build, load or catch up, save, and sample recall, as far as needed. Slow: call it in the background.

        Args:
            resample: Sample recall also where it is known, at a third of a second per 100,000 vectors and question.
        """
        with self._refreshing:
            serving = self._storage.sets().get("serving")
            if serving is None:
                return
            if self._storage.counts(serving.id).embedded < self._exact_below:
                self._loaded = None
                self._storage.purge(serving, serving.sequence)
                return
            loaded = self._loaded
            if loaded is None or loaded.set_id != serving.id:
                loaded = self._load(serving)
            if loaded is not None:
                self._catch_up(loaded, serving)
            if loaded is None or loaded.ann.worn:
                loaded = self._build(serving)
                if self._stopping:
                    return
                self._catch_up(loaded, serving)
            else:
                self._loaded = loaded  # tuned when it was built: it answers while it is sampled again
            if resample or len(loaded.ann) > _GROWTH * loaded.sampled_at:
                loaded.recall = loaded.ann.tune(self._samples(serving), self._exact_keys(serving))
                loaded.sampled_at = len(loaded.ann)
            self._loaded = loaded
            self._save(loaded, serving)

    def stop(self) -> None:
        """End a `refresh` that runs elsewhere as soon as possible; nothing half-built is used."""
        self._stopping = True

    def status(self) -> VectorIndexStatus:
        """What answers now."""
        serving = self._storage.sets().get("serving")
        count = self._storage.counts(serving.id).embedded if serving else 0
        loaded = self._loaded
        if serving is None or loaded is None or loaded.set_id != serving.id:
            return VectorIndexStatus(approximate=False, vectors=count)
        storage = self._storage
        size = ann_file.size_on_disk(storage.folder, serving.ann, below=storage.below) if serving.ann else 0
        return VectorIndexStatus(approximate=True, vectors=count, recall=loaded.recall, bytes_on_disk=size)

    def _load(self, serving: VectorSet) -> _Loaded | None:
        if serving.ann is None or serving.ann.dimension != serving.fingerprint.dimension:
            return None
        try:
            ann = ann_file.load(self._storage.folder, serving.ann, below=self._storage.below)
        except StoreCorrupt:
            return None  # a cache: built again below
        loaded = _Loaded(serving.id, ann, serving.ann.sequence, saved=True)
        if serving.ann.queries:
            loaded.recall = RecallSample(serving.ann.recall, serving.ann.queries, serving.ann.expansion)
            loaded.sampled_at = serving.ann.count
        return loaded

    def _build(self, serving: VectorSet) -> _Loaded:
        sequence, changes = self._storage.changes(serving, 0)
        owner_of = {change.slot: change.owner for change in changes if change.slot is not None}
        ann = AnnIndex(serving.fingerprint.dimension)
        for slots, vectors in self._storage.blocks(serving):
            if self._stopping:
                break
            rows = [row for row, slot in enumerate(slots.tolist()) if slot in owner_of]
            keys = [_key(owner_of[slot]) for slot in slots[rows].tolist()]
            ann.put(keys, vectors[rows])
        return _Loaded(serving.id, ann, sequence)

    def _catch_up(self, loaded: _Loaded, serving: VectorSet) -> None:
        sequence, changes = self._storage.changes(serving, loaded.sequence)
        loaded.ann.remove([_key(change.owner) for change in changes if change.slot is None])
        arrived = [(change.owner, change.slot) for change in changes if change.slot is not None]
        for start in range(0, len(arrived), _AT_ONCE):
            part = arrived[start : start + _AT_ONCE]
            loaded.ann.put([_key(owner) for owner, _ in part], self._storage.read(serving, [slot for _, slot in part]))
        loaded.unsaved += len(changes)
        loaded.sequence = sequence

    def _save(self, loaded: _Loaded, serving: VectorSet) -> None:
        """Write the file when a hundredth has changed since: it is written whole, and what it lacks is caught up."""
        if loaded.saved and loaded.unsaved <= _SAVE_AT * len(loaded.ann):
            return
        folder, below = self._storage.folder, self._storage.below
        saved = ann_file.save(loaded.ann, folder, loaded.sequence, below=below)
        if loaded.recall is not None:
            saved = replace(saved, recall=loaded.recall.recall, queries=loaded.recall.queries)
        self._storage.remember_ann(serving, saved)
        ann_file.sweep(folder, saved, below=below)
        self._storage.purge(serving, saved.sequence)
        loaded.saved, loaded.unsaved = True, 0

    def _samples(self, serving: VectorSet) -> Vectors:
        """Queries that are near the data without being in it: sums of two stored vectors, as far from one as the other.

        Sums that lean on one vector promised a recall that questions missed. With these, 100,000 vectors with the
        neighbourhoods of a model kept it (.984 sampled, .985 for questions); of random words they did not (.984, .945).
        """
        _, changes = self._storage.changes(serving, 0)
        slots = [change.slot for change in changes if change.slot is not None]
        chosen = np.random.default_rng(len(slots)).choice(slots, size=(2, _SAMPLES))
        first, second = (unit_rows(self._storage.read(serving, sorted(set(row.tolist())))) for row in chosen)
        count = min(len(first), len(second))
        return first[:count] + second[:count]

    def _exact_keys(self, serving: VectorSet) -> Callable[[Vectors, int], list[int]]:
        def exact(query: Vectors, limit: int) -> list[int]:
            return [_key(owner) for owner, _ in self._storage.nearest(serving, query, limit, None)]

        return exact


def _key(owner: int) -> int:
    """Owners of entities are negative, keys are not: even for paragraphs, odd for entities."""
    return owner << 1 if owner >= 0 else (-owner << 1) | 1


def _owner(key: int) -> int:
    return key >> 1 if key & 1 == 0 else -(key >> 1)
