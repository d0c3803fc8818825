"""Embedding in the background: one thread, small batches, everything resumable.

What has to be done is a column of the index, not of this queue: after a crash the next start continues, and a paragraph
that changed is no longer asked for. Memory is one batch of texts and vectors.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from armarius.embedders.protocol import Embedder
from armarius.errors import EmbeddingError, message_of
from armarius.store.vectors_protocol import SetGone, SetState, VectorStore

__all__ = ["EmbeddingProgress", "EmbeddingQueue"]

_SMALLEST, _LARGEST = 8, 256
_SLOW_S, _FAST_S = 1.0, 0.25
_LOOK_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """Texts done of all, over every set being filled. `error` is why the queue stopped, or ""."""

    done: int
    total: int
    running: bool
    error: str = ""


class EmbeddingQueue:
    """Embeds what is pending, in a daemon thread that sleeps when there is nothing.

    Entity cards come first, then the documents in focus, then the rest. Batches shrink and grow so that one takes
    between a quarter of a second and a second: that is also how long `cancel` may take.

    Args:
        storage: Where texts come from and vectors go; of any store.
        embedders: The embedder of each set, asked for before every batch; a set without one is left alone.
        settled: Called in the thread each time nothing is pending any more, and before it sleeps.
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
        self._thread: threading.Thread | None = None
        self._condition = threading.Condition()

    def start(self) -> None:
        """Begin, or look again for work; clears an earlier error."""
        with self._condition:
            self._stop, self._error, self._idle = False, "", False
            self._work += 1
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="armarius-embedding", daemon=True)
                self._thread.start()
            self._condition.notify_all()

    def focus(self, paths: Sequence[str]) -> None:
        """Documents to embed before others, most urgent first; from the next batch on."""
        self._focus = tuple(paths)

    def cancel(self, timeout: float | None = 10.0) -> None:
        """Stop after the batch at hand; what is embedded stays, the rest stays pending."""
        with self._condition:
            self._stop = True
            self._condition.notify_all()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def wait(self, timeout: float | None = None) -> bool:
        """Until nothing is pending, or the queue stopped. False when the time ran out.

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
        """Why the queue stopped; "" when it did not."""
        return f"embedding stopped: {self._error}; `recall.embed()` tries again" if self._error else ""

    def progress(self) -> EmbeddingProgress:
        """How far the embedding is."""
        done = total = 0
        for vector_set in self._storage.sets().values():
            counts = self._storage.counts(vector_set.id)
            done += counts.embedded + counts.empty
            total += counts.embedded + counts.empty + counts.pending
        running = self._thread is not None and self._thread.is_alive() and not self._idle
        return EmbeddingProgress(done, total, running, self._error)

    def _run(self) -> None:
        settled_at = -1
        while not self._stop:
            seen = self._work
            try:
                if self._one_batch():
                    settled_at = -1
                    continue
                if settled_at != seen:
                    self._settled()
                    settled_at = seen
            except SetGone:
                continue
            except Exception as error:  # noqa: BLE001 - an embedder may raise anything; `wait` and `progress` tell it
                self._rest(seen, error=f"{type(error).__name__}: {message_of(error)}")
                continue
            self._rest(seen)

    def _rest(self, seen: int, *, error: str = "") -> None:
        with self._condition:
            self._error = error
            self._idle = not error and seen == self._work
            self._condition.notify_all()
            # texts also arrive without `start`, from a builder thread or another process
            self._condition.wait_for(lambda: self._stop or seen != self._work, None if error else _LOOK_EVERY_S)

    def _one_batch(self) -> bool:
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
            started = time.monotonic()
            vectors = embedder.embed_documents([row.text for row in rows])
            self._adapt(time.monotonic() - started)
            self._storage.put(vector_set, embedder.fingerprint, rows, vectors)
            return True
        return False

    def _adapt(self, seconds: float) -> None:
        if seconds < _FAST_S:
            self._size = min(_LARGEST, self._size * 2)
        elif seconds > _SLOW_S:
            self._size = max(_SMALLEST, self._size // 2)
