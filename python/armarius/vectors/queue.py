"""Background embedding: one thread, small batches, resumable.

Pending work is recorded in the store, not in this queue, so a crash loses at most one batch, and a text that changed is
no longer pending. Memory: one batch of texts and vectors.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from armarius.embedders.protocol import Embedder
from armarius.errors import EmbeddingError, StoreError, message_of
from armarius.store.vectors_protocol import Fingerprint, Leasing, SetGone, SetState, VectorIndexStatus, VectorStore

__all__ = ["EmbeddingProgress", "EmbeddingQueue", "SemanticStatus", "SimilarEntity"]

_SMALLEST, _LARGEST = 8, 256
_SLOW_S, _FAST_S = 1.0, 0.25
_LOOK_EVERY_S = 1.0
_LEASE_S = 30.0  # other processes wait this long for one that was killed

_Step = Literal["done", "nothing", "another"]


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """Embedded texts and all texts, over every set being filled. `error` is why the queue stopped, or ""."""

    done: int
    total: int
    running: bool
    error: str = ""


class EmbeddingQueue:
    """Embeds pending texts in a daemon thread, which sleeps when there are none.

    Order: entity cards, documents in focus, the rest. The batch size adapts so that a batch takes 0.25 to 1 s, which
    is also the latency of `cancel`. If several processes share a store (`Leasing`), one embeds at a time.

    Args:
        storage: Source of texts and destination of vectors.
        embedders: Returns the embedder of each set, called before every batch; a set without one is skipped.
        settled: Called in the thread whenever nothing is pending, before it sleeps.
    """

    def __init__(
        self,
        storage: VectorStore,
        embedders: Callable[[], dict[SetState, Embedder]],
        *,
        settled: Callable[[], None] = lambda: None,
    ) -> None:
        self._storage = storage
        self._embedders = embedders
        self._settled = settled
        self._focus: tuple[str, ...] = ()
        self._size = _SMALLEST
        self._error = ""
        self._idle = False
        self._stop = False
        self._work = 0
        self._leased_until = 0.0
        self._thread: threading.Thread | None = None
        self._condition = threading.Condition()

    def start(self) -> None:
        """Start the thread, or wake it to look for work; clears an earlier error."""
        with self._condition:
            self._stop, self._error, self._idle = False, "", False
            self._work += 1
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="armarius-embedding", daemon=True)
                self._thread.start()
            self._condition.notify_all()

    def focus(self, paths: Sequence[str]) -> None:
        """Paths of documents to embed first, most urgent first; takes effect with the next batch."""
        self._focus = tuple(paths)

    def cancel(self, timeout: float | None = 10.0) -> None:
        """Stop after the current batch. Vectors made so far are kept, other texts stay pending."""
        with self._condition:
            self._stop = True
            self._condition.notify_all()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is pending or the queue stopped. Returns False if `timeout` seconds passed before.

        Raises:
            EmbeddingError: The embedder failed; `start` tries again.
        """
        with self._condition:
            done = self._condition.wait_for(lambda: self._idle or self._stop or bool(self._error), timeout)
        if self._error:
            raise EmbeddingError(self._error)
        return done

    @property
    def error(self) -> str:
        """Why the queue stopped; "" if it did not."""
        return f"embedding stopped: {self._error}; `recall.embed()` tries again" if self._error else ""

    def progress(self) -> EmbeddingProgress:
        """Progress over all sets."""
        done = total = 0
        for vector_set in self._storage.sets().values():
            counts = self._storage.counts(vector_set.id)
            done += counts.embedded + counts.empty
            total += counts.embedded + counts.empty + counts.pending
        running = self._thread is not None and self._thread.is_alive() and not self._idle
        return EmbeddingProgress(done, total, running, self._error)

    def _run(self) -> None:
        try:
            self._work_on()
        finally:
            self._let_others()

    def _work_on(self) -> None:
        settled_at = -1
        while not self._stop:
            seen = self._work
            try:
                step = self._one_batch()
                if step == "done":
                    settled_at = -1
                    continue
                if step == "nothing":
                    self._let_others()
                    if settled_at != seen:
                        self._settled()
                        settled_at = seen
            except SetGone:
                continue
            except Exception as error:  # noqa: BLE001 - an embedder may raise anything; `wait` and `progress` report it
                self._let_others()
                self._rest(seen, error=f"{type(error).__name__}: {message_of(error)}")
                continue
            self._rest(seen, others=step == "another")

    def _rest(self, seen: int, *, error: str = "", others: bool = False) -> None:
        with self._condition:
            self._error = error
            self._idle = not error and not others and seen == self._work
            self._condition.notify_all()
            # another thread or process may have added texts without calling `start`
            self._condition.wait_for(lambda: self._stop or seen != self._work, None if error else _LOOK_EVERY_S)

    def _one_batch(self) -> _Step:
        embedders, sets = self._embedders(), self._storage.sets()
        states: tuple[SetState, ...] = ("serving", "building")
        for state in states:
            embedder, vector_set = embedders.get(state), sets.get(state)
            if embedder is None or vector_set is None:
                continue
            rows = self._storage.pending(vector_set.id, limit=self._size, first=self._focus)
            if not rows:
                continue
            self._idle = False
            held = time.monotonic() < self._leased_until
            if not self._is_ours():
                return "another"
            if not held:  # the previous holder of the lease may have embedded these texts: read pending again
                rows = self._storage.pending(vector_set.id, limit=self._size, first=self._focus)
                if not rows:
                    continue
            started = time.monotonic()
            vectors = embedder.embed_documents([row.text for row in rows])
            self._adapt(time.monotonic() - started)
            self._storage.put(vector_set, embedder.fingerprint, rows, vectors)
            return "done"
        return "nothing"

    def _is_ours(self) -> bool:
        """Whether this process holds the lease; renewed twice in its duration."""
        if not isinstance(self._storage, Leasing) or self._leased_until - time.monotonic() > _LEASE_S / 2:
            return True
        asked = time.monotonic()
        ours = self._storage.lease(_LEASE_S)
        self._leased_until = asked + _LEASE_S if ours else 0.0
        return ours

    def _let_others(self) -> None:
        until, self._leased_until = self._leased_until, 0.0
        if until and isinstance(self._storage, Leasing):
            with suppress(StoreError):  # the lease expires by itself
                self._storage.release()

    def _adapt(self, seconds: float) -> None:
        if seconds < _FAST_S:
            self._size = min(_LARGEST, self._size * 2)
        elif seconds > _SLOW_S:
            self._size = max(_SMALLEST, self._size // 2)


@dataclass(frozen=True, slots=True)
class SimilarEntity:
    """An entity and the cosine similarity of its card to the query, in [-1, 1]."""

    entity: str
    similarity: float


@dataclass(frozen=True, slots=True)
class SemanticStatus:
    """Model, progress of embedding and state of the vector index; printed by `armarius doctor`."""

    serving: Fingerprint | None
    building: Fingerprint | None
    progress: EmbeddingProgress
    index: VectorIndexStatus
