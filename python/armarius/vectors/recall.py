"""Vector search over an open project.

with ProjectIndex.open("novel/") as index, ProjectRecall(index, armarius.embedders.lexical()) as recall:
    recall.embed()
    recall.similar("一个姑娘因为诗而落泪", limit=10)
"""

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from armarius.arguments import OPEN, Bounds, Chapters, Kind
from armarius.codex.cards import entity_card
from armarius.errors import EmbeddingError, StoreError
from armarius.headings import Reason
from armarius.index.project_index import ProjectIndex
from armarius.io.processes import close_abandoned
from armarius.store.protocol import Store
from armarius.store.vectors_protocol import Owner, VectorFilter
from armarius.types import Evidence, Hits, VectorHits
from armarius.validation import LONGEST_QUESTION, text, whole
from armarius.vectors.embedder import AnyEmbedder, Embedder, as_embedder, fingerprint_of
from armarius.vectors.project_vectors import EmbeddingProgress, Semantic, SemanticStatus, SimilarEntity
from armarius.warnings import EMBEDDING_UNAVAILABLE

Answer = TypeVar("Answer")


class ProjectRecall:
    """Finds paragraphs and entities of a project by vector similarity. Thread-safe.

    New and changed texts are embedded in the background; texts that are not embedded yet are not found.

    Args:
        index: An open index. The caller closes it, after this object.
        embedder: Makes the vectors. Its fingerprint may differ from that of the stored vectors, so that `reembed` can
            be called; until then `similar` raises DimensionMismatch. If it fails now (a server that is down), it is
            tried again with each query.
        background: Whether to embed in a background thread; if not, call `embed`.
    """

    def __init__(self, index: ProjectIndex, embedder: AnyEmbedder, *, background: bool = True) -> None:
        self._index = index
        self._embedder = as_embedder(embedder)
        self._background = background
        self._lock = threading.Lock()
        self._cards_of = ""
        self._store: object = None
        self._semantic: Semantic | None = None
        self._unclosed: weakref.finalize[..., Any] | None = None
        try:
            self._current_semantic()
        except EmbeddingError:
            if index.store.vectors is None:
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def embedder(self) -> Embedder:
        """The embedder."""
        return self._embedder

    def similar(
        self,
        query: str,
        *,
        limit: int = 10,
        kinds: Kind | Sequence[Kind] = (),
        chapters: int | Chapters | None = OPEN,
        timeout_s: float | None = None,
    ) -> Hits:
        """The paragraphs nearest to `query` in meaning (with the built-in embedder: in wording), best first.

        Args:
            query: Any text; one without letters or digits finds nothing.
            limit: Maximum number of hits; fewer only if fewer embedded paragraphs pass the filters.
            kinds: Kinds of documents, one or several; empty is all.
            chapters: First and last chapter, inclusive, either may be None; or one chapter. Paragraphs outside chapters
                are then excluded.
            timeout_s: Seconds for embedding the query; a timeout raises EmbeddingError.

        Returns:
            Hits, each `score` the cosine similarity in [-1, 1]. `warnings` contains `EMBEDDING_UNAVAILABLE` if not
            every paragraph is embedded, or lexical vectors answer in place of another model's.

        Raises:
            ContractError: Invalid chapters or kinds.
            EmbeddingError: The embedder failed.
            DimensionMismatch: The index holds vectors of another model; `reembed` replaces them.

        Cost: one forward pass for a new query, then about 1 ms, or 3 ms per 1,000 vectors below 1,500.
        """
        bounds, limit = Bounds.of(chapters, kinds), whole("limit", limit)
        query = text("query", query, most=LONGEST_QUESTION)
        self._index.freshen()
        which = VectorFilter(bounds.kinds, bounds.chapters)

        def found(semantic: Semantic) -> Hits:
            hits = _hits(semantic.store, semantic.nearest(query, limit, which))
            hits.warnings = (EMBEDDING_UNAVAILABLE(why=semantic.trouble),) if semantic.trouble else ()
            return hits

        return self._ask(found)

    def near(self, query: str) -> VectorHits:
        """Vector search for retrieval, over the paragraphs embedded so far; only results above the noise floor."""
        return self._ask(lambda semantic: semantic.nearby(query))

    def similar_entities(self, query: str, *, limit: int = 10) -> list[SimilarEntity]:
        """The entities with the cards nearest to `query`, best first; raises as `similar`."""
        limit, query = whole("limit", limit), text("query", query, most=LONGEST_QUESTION)
        self._index.freshen()
        which = VectorFilter(entities=True)
        pairs = self._ask(lambda semantic: semantic.nearest(query, limit, which))
        return [SimilarEntity(owner, value) for owner, value in pairs if isinstance(owner, str)]

    def focus(self, *documents: str) -> None:
        """Embed these documents before others, for example the open one."""
        self._current_semantic().queue.focus(documents)

    def embed(self, *, progress: Callable[[EmbeddingProgress], None] | None = None) -> EmbeddingProgress:
        """Embed everything that is not embedded yet and wait for it.

        Args:
            progress: Called about five times a second while it runs.

        Raises:
            EmbeddingError: The embedder failed; vectors made so far are kept, and another call resumes.
            DimensionMismatch: The index holds vectors of another model.
        """
        semantic = self._current_semantic()
        semantic.require_model()
        while not semantic.embed_pending(timeout=0.2):
            if progress is not None:
                progress(semantic.status().progress)
        done = semantic.status().progress
        if progress is not None:
            progress(done)
        return done

    def reembed(self, embedder: AnyEmbedder | None = None, *, wait: bool = False) -> None:
        """Replace all vectors by those of `embedder` (default: the current one).

        The new vectors are made in the background and replace the old ones in one transaction; until then the old ones
        answer. After an interruption, call it again to resume.

        Raises:
            EmbeddingError: With `wait`, if the embedder failed. The old vectors are kept.
        """
        self._embedder = self._embedder if embedder is None else as_embedder(embedder)
        self._current_semantic().reembed(self._embedder, wait=wait)

    def cancel(self) -> None:
        """Stop embedding after the current batch; `embed` or any query resumes it."""
        self._current_semantic().queue.cancel()

    def status(self) -> SemanticStatus:
        """Model, progress of embedding, state of the vector index."""
        return self._current_semantic().status()

    @property
    def trouble(self) -> str:
        """Why vector search is unavailable or incomplete; "" if it is complete."""
        try:
            return self._current_semantic().trouble
        except (EmbeddingError, StoreError) as error:
            return error.message

    @property
    def model(self) -> str:
        """Description of the model, or why it cannot be used."""
        try:
            return str(fingerprint_of(self._embedder))
        except EmbeddingError as error:
            return error.message

    def close(self) -> None:
        """Stop the background thread; may be called twice."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._unclosed is not None:
            self._unclosed.detach()
        if self._semantic is not None:
            self._semantic.close()
        self._semantic = self._unclosed = None

    def _ask(self, question: Callable[[Semantic], Answer]) -> Answer:
        semantic = self._current_semantic()
        try:
            return question(semantic)
        except StoreError:
            if self._index.store is self._store:
                raise
            return question(self._current_semantic())  # the index was rebuilt during the query

    def _current_semantic(self) -> Semantic:
        """`Semantic` over the current store, with the current cards."""
        with self._lock:
            store = self._index.store
            if self._semantic is None or store is not self._store:
                self._end()
                self._semantic = Semantic(store, self._embedder, background=self._background)
                self._unclosed = close_abandoned(self, self._semantic.close)
                self._store, self._cards_of = store, ""
            snapshot = self._index.snapshot
            if snapshot.codex_digest != self._cards_of:
                self._cards_of = snapshot.codex_digest
                self._semantic.changed(cards={entity.id: entity_card(entity) for entity in snapshot.codex.entities})
            return self._semantic


def _hits(store: Store, pairs: Sequence[tuple[Owner, float]]) -> Hits:
    keyed = [(owner, value) for owner, value in pairs if not isinstance(owner, str)]
    passages = {passage.key: passage for passage in store.passages([key for key, _ in keyed])}
    hits = Hits()
    for key, value in keyed:
        if (passage := passages.get(key)) is not None:
            why = Evidence(
                "vector", Reason("vector.near", similarity=value), passage.path, (passage.start, passage.end)
            )
            hits.append(passage.hit(value, (why,)))
    return hits
