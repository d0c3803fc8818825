"""Vector search and background embedding over one store; `ProjectRecall` is the public class above it.

Background embedding uses one thread and small batches, and is resumable. Pending work is recorded in the store, not in
this queue, so a crash loses at most one batch, and a text that changed is no longer pending. Memory: one batch of texts
and vectors.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Literal

import armarius.doors as doors
from armarius.deadline import Recent, run_with_deadline
from armarius.documents.kinds import PROSE_KINDS
from armarius.errors import ArmariusError, DimensionMismatch, EmbeddingError, StoreError, message_of
from armarius.store.protocol import Note, Store
from armarius.store.vectors_protocol import (
    Fingerprint,
    Leasing,
    Owner,
    SetGone,
    SetState,
    VectorFilter,
    VectorIndexStatus,
    Vectors,
    VectorSet,
    VectorStore,
    require_same,
)
from armarius.types import Near, VectorHits
from armarius.vectors.embedder import (
    AnyEmbedder,
    Embedder,
    as_embedder,
    fingerprint_of,
    measure_weight,
    model_error,
    noise_floor,
    probes,
)

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
        self._storage, self._embedders, self._settled = storage, embedders, settled
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

    def close(self) -> None:
        """Stop for good, and let go of the owner, so that it is freed with its last user."""
        self.cancel()
        self._embedders, self._settled = dict, lambda: None

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
            self._run_queue()
        finally:
            self._release_lease()

    def _run_queue(self) -> None:
        settled_at = -1
        while not self._stop:
            seen = self._work
            try:
                step = self._embed_batch()
                if step == "done":
                    settled_at = -1
                    continue
                if step == "nothing":
                    self._release_lease()
                    if settled_at != seen:
                        self._settled()
                        settled_at = seen
            except SetGone:
                continue
            except Exception as error:  # noqa: BLE001 - an embedder may raise anything; `wait` and `progress` report it
                self._release_lease()
                self._wait_for_work(seen, error=f"{type(error).__name__}: {message_of(error)}")
                continue
            self._wait_for_work(seen, others=step == "another")

    def _wait_for_work(self, seen: int, *, error: str = "", others: bool = False) -> None:
        with self._condition:
            self._error = error
            self._idle = not error and not others and seen == self._work
            self._condition.notify_all()
            # another thread or process may have added texts without calling `start`
            self._condition.wait_for(lambda: self._stop or seen != self._work, None if error else _LOOK_EVERY_S)

    def _embed_batch(self) -> _Step:
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
            lease = time.monotonic() < self._leased_until
            if not self._is_ours():
                return "another"
            if not lease:  # the previous holder of the lease may have embedded these texts: read pending again
                rows = self._storage.pending(vector_set.id, limit=self._size, first=self._focus)
                if not rows:
                    continue
            started = time.monotonic()
            vectors = embedder.embed_documents([row.text for row in rows])
            seconds = time.monotonic() - started
            if seconds < _FAST_S:
                self._size = min(_LARGEST, self._size * 2)
            elif seconds > _SLOW_S:
                self._size = max(_SMALLEST, self._size // 2)
            self._storage.put(vector_set, embedder.fingerprint, rows, vectors)
            return "done"
        return "nothing"

    def _is_ours(self) -> bool:
        """Whether this process holds the lease; renewed twice in its duration."""
        if not isinstance(self._storage, Leasing) or self._leased_until - time.monotonic() > _LEASE_S / 2:
            return True
        start = time.monotonic()
        ours = self._storage.lease(_LEASE_S)
        self._leased_until = start + _LEASE_S if ours else 0.0
        return ours

    def _release_lease(self) -> None:
        until, self._leased_until = self._leased_until, 0.0
        if until and isinstance(self._storage, Leasing):
            with suppress(StoreError):  # the lease expires by itself
                self._storage.release()


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


_REMEMBERED = 64


def _timeout_error(seconds: float) -> Exception:
    return EmbeddingError(f"the embedder gave no answer within {round(seconds, 2):g} s")


def _vector_of(embedder: Embedder, query: str) -> Vectors:
    """The vector of `query`: float32, shape (dimension,); zeros if it cannot be embedded.

    Raises:
        EmbeddingError: The embedder raised an exception of any kind, or missed the deadline.
    """
    try:
        return run_with_deadline(lambda: embedder.embed_queries([query])[0], _timeout_error)
    except ArmariusError:
        raise
    except Exception as error:
        raise model_error(error) from error


_SAMPLE = 256
_NEAREST = 400
_TRUST = "meaning: trust"
_MOST_ABOVE_FLOOR = 40


class Semantic:
    """Vector search over the paragraphs and entity cards of one store.

    The embedder may have another fingerprint than the stored vectors, so that `reembed` can be called; until then
    `nearest` raises DimensionMismatch. Lexical vectors are an exception: their embedder needs no files and keeps
    answering, and `trouble` says so.

    Args:
        store: An open store.
        embedder: Makes the vectors.
        background: Whether to embed in a background thread; if not, call `embed_pending`.

    Raises:
        EmbeddingError: The store keeps no vectors, or the embedder has no fingerprint.

    Attributes:
        store: The store.
        queue: The background embedding: focus, progress, error, cancellation.
    """

    def __init__(self, store: Store, embedder: AnyEmbedder, *, background: bool = True) -> None:
        if store.vectors is None:
            raise EmbeddingError(f"{type(store).__name__} keeps no vectors; recall needs a store that does")
        self.store = store
        self._storage = store.vectors
        self._embedder: Embedder = as_embedder(embedder)
        self._embedders: dict[Fingerprint, Embedder] = {fingerprint_of(self._embedder): self._embedder}
        self._queries = Recent[tuple[Embedder, Vectors]](_REMEMBERED)
        self._lock = threading.Lock()
        self._floors: dict[int, float] = {}
        self._trusted: dict[int, float] = {}
        self._probes: dict[Fingerprint, list[Vectors]] = {}
        self._closing = False
        self.queue = EmbeddingQueue(self._storage, self._embedder_by_state, settled=self._finish_set)
        self._background = background
        serving: VectorSet = self._storage.sets().get("serving") or self._storage.adopt(self._embedder.fingerprint)
        if (built_in := doors.LexicalEmbedder.of(serving.fingerprint)) is not None:
            self._embedders.setdefault(built_in.fingerprint, built_in)  # needs no files, so it is always available
        if background:
            self.queue.start()

    def nearest(self, query: str, limit: int, which: VectorFilter) -> list[tuple[Owner, float]]:
        """The paragraphs or entities nearest to `query`, best first, each with its cosine similarity.

        Raises:
            DimensionMismatch: The index holds vectors of another model; `reembed` replaces them.
            EmbeddingError: The embedder failed.

        Cost: one forward pass for a new query, then 1 ms (approximate) or 2 to 3 ms per 1,000 vectors (exact).
        """
        if limit < 1:
            return []
        while True:
            serving = self._storage.sets()["serving"]
            with self._lock:
                embedder = self._embedders.get(serving.fingerprint)
            if embedder is None:
                require_same(serving.fingerprint, self._embedder.fingerprint)
            vector = self._query_vector(embedder or self._embedder, query)
            if not vector.any():
                return []
            try:
                return self._storage.nearest(serving, vector, limit, which)
            except SetGone:  # a new set took over between the two reads
                continue

    def _query_vector(self, embedder: Embedder, query: str) -> Vectors:
        # The embedder is kept with its vector: the fingerprint does not include the query prompt.
        key = (embedder.fingerprint, query)
        entry = self._queries.get(key)
        if entry is None or entry[0] is not embedder:
            entry = embedder, _vector_of(embedder, query)
            self._queries.keep(key, entry)
        return entry[1]

    def nearby(self, query: str) -> VectorHits:
        """Vector search for retrieval, over the paragraphs that are embedded so far.

        Raises:
            DimensionMismatch: The index holds vectors of another model.
            EmbeddingError: The embedder failed.

        Cost: two searches.
        """
        pairs = self.nearest(query, _NEAREST, VectorFilter(kinds=PROSE_KINDS))
        lines = self.nearest(query, _NEAREST, VectorFilter(kinds=("outline",))) if pairs else []
        return VectorHits(
            tuple(self._hits_above_floor(pairs[:_MOST_ABOVE_FLOOR])),
            self.trouble,
            _passage_hits(pairs),
            _passage_hits(lines),
            self._trust(),
        )

    def _trust(self) -> float:
        """Weight of the serving model in this project; 0 until it is measured."""
        serving = self._storage.sets().get("serving")
        if serving is None:
            return 0.0
        if serving.id not in self._trusted and (entry := self._stored_weight(serving)) is not None:
            self._trusted = {serving.id: entry[0]}
        return self._trusted.get(serving.id, 0.0)

    def _hits_above_floor(self, pairs: list[tuple[Owner, float]]) -> list[Near]:
        """The results above the noise floor, best first; none for a subject that the project never mentions."""
        if not pairs:
            return []
        serving = self._storage.sets()["serving"]
        least = self._floors[serving.id] if serving.id in self._floors else self._measure_floor(serving)
        by_wording = doors.LexicalEmbedder.of(serving.fingerprint) is not None
        return [
            Near(*owner, similarity=round(value, 4), by_wording=by_wording)
            for owner, value in pairs
            if value >= least and not isinstance(owner, str)
        ]

    def changed(self, *, cards: Mapping[str, str] | None = None) -> None:
        """Embed what is new after documents or cards changed."""
        if cards is not None:
            self._storage.set_cards(cards)
        if self._background:
            self.queue.start()

    def require_model(self) -> None:
        """Check that the vectors being made are those of the given embedder.

        Raises:
            DimensionMismatch: They are of another model, and `reembed` was not called.
        """
        sets = self._storage.sets()
        if not any(vector_set.fingerprint == self._embedder.fingerprint for vector_set in sets.values()):
            require_same(sets["serving"].fingerprint, self._embedder.fingerprint)

    @property
    def trouble(self) -> str:
        """Why results are incomplete or of another model; "" if they are complete. Cost: one look-up."""
        try:
            self.require_model()
        except DimensionMismatch as error:
            return error.message
        return self.queue.error

    def embed_pending(self, timeout: float | None = None) -> bool:
        """Embed everything and wait for it. Returns False if `timeout` seconds passed before.

        Raises:
            EmbeddingError: The embedder failed; vectors made so far are kept.
        """
        self.queue.start()
        return self.queue.wait(timeout)

    def reembed(self, embedder: AnyEmbedder | None = None, *, wait: bool = False) -> None:
        """Replace all vectors by those of `embedder` (default: the current one).

        The new set is built in the background and replaces the old one in one transaction. Until then the old vectors
        answer, if their embedder is available. After an interruption, call it again to resume.

        Raises:
            EmbeddingError: With `wait`: the embedder failed; the old vectors stay.
        """
        new = self._embedder if embedder is None else as_embedder(embedder)
        made = fingerprint_of(new)
        with self._lock:
            self._embedders[made] = new
            self._embedder = new
            # the new embedder may have another query prompt
            self._probes, self._floors, self._trusted = {}, {}, {}
        serving = self._storage.sets().get("serving")
        if serving is not None and serving.fingerprint == made:
            self._storage.abandon()
        else:
            self._storage.build(made)
        self.queue.start()
        if wait:
            self.queue.wait()

    def status(self) -> SemanticStatus:
        """Model, progress of embedding, state of the vector index."""
        sets = self._storage.sets()
        serving, building = sets.get("serving"), sets.get("building")
        return SemanticStatus(
            serving.fingerprint if serving else None,
            building.fingerprint if building else None,
            self.queue.progress(),
            self._storage.index_status(),
        )

    def close(self) -> None:
        """Stop the background thread. Call it before closing the store."""
        self._closing = True
        self.queue.close()

    def _embedder_by_state(self) -> dict[SetState, Embedder]:
        with self._lock:
            return {
                state: self._embedders[vector_set.fingerprint]
                for state, vector_set in self._storage.sets().items()
                if vector_set.fingerprint in self._embedders
            }

    def _finish_set(self) -> None:
        """Called when nothing is pending: switch to a finished set, and refresh the vector index."""
        building = self._storage.sets().get("building")
        if building is not None and not self._storage.pending(building.id, limit=1):
            try:
                self._storage.switch()
            except EmbeddingError:  # a document changed in between
                if self._storage.pending(building.id, limit=1):
                    self.queue.start()
                return
        serving = self._storage.sets().get("serving")
        if serving is not None:
            self._measure_floor(serving)
            self._measure_trust(serving)
        self._storage.refresh(cancelled=lambda: self._closing)

    def _measure_trust(self, serving: VectorSet) -> None:
        """Measure the weight of the serving model and store it.

        It is measured again only when the number of vectors has changed by a quarter, so that the weight does not
        change with every save.
        """
        with self._lock:
            embedder = self._embedders.get(serving.fingerprint)
        if embedder is None:
            return
        if doors.LexicalEmbedder.of(serving.fingerprint) is not None:  # wording is covered better by full-text search
            self._trusted = {serving.id: 0.0}
            return
        count = self._storage.counts(serving.id).embedded
        entry = self._stored_weight(serving)
        if entry is None or abs(count - entry[1]) * 4 > entry[1]:
            entry = measure_weight(self.store, self._storage, serving, embedder), count
            self.store.apply([Note(_TRUST, json.dumps([*astuple(serving.fingerprint), *entry]))])
        self._trusted = {serving.id: entry[0]}

    def _stored_weight(self, serving: VectorSet) -> tuple[float, int] | None:
        """The stored weight and the number of vectors it was measured with; None if it is of another model."""
        try:
            *fingerprint, trust, count = json.loads(self.store.note(_TRUST) or "[0, 0]")
        except ValueError:
            return None
        if fingerprint != list(astuple(serving.fingerprint)) or not isinstance(trust, float | int):
            return None
        return float(trust), int(count)

    def _measure_floor(self, serving: VectorSet) -> float:
        """The noise floor of the serving model, kept for the next query; 1 without its embedder."""
        with self._lock:
            embedder = self._embedders.get(serving.fingerprint)
        if embedder is None:
            return 1.0
        probed = self._probes.get(embedder.fingerprint)
        if probed is None:  # `reembed` may empty both tables at any time
            probed = [embedder.embed_queries(group) for group in probes()]
            self._probes = {embedder.fingerprint: probed}
        floor = noise_floor(self._storage.sample(serving, _SAMPLE), probed, self._storage.counts(serving.id).embedded)
        self._floors = {serving.id: floor}
        return floor


def _passage_hits(pairs: list[tuple[Owner, float]]) -> tuple[tuple[str, int, float], ...]:
    return tuple((*owner, similarity) for owner, similarity in pairs if not isinstance(owner, str))
