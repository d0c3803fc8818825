"""Recall by meaning for an open project: its index, an embedder, and the work between them.

with ProjectIndex.open("novel/") as index, ProjectRecall(index, armarius.embedders.lexical()) as recall:
    recall.embed()
    recall.similar("一个姑娘因为诗而落泪", limit=10)
"""

import threading
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Self, TypeVar

from armarius import embedders
from armarius.codex.cards import entity_card
from armarius.config import Config
from armarius.documents.classify import Kind
from armarius.embedders.protocol import Embedder
from armarius.errors import EmbeddingError, MissingExtra, StoreError
from armarius.index.project_index import ProjectIndex
from armarius.semantic.hits import SemanticStatus, SimilarEntity, SimilarPassage
from armarius.semantic.outliers import Nearby
from armarius.semantic.project_vectors import Semantic
from armarius.semantic.queue import Progress
from armarius.store.sqlite.store import SqliteStore
from armarius.trust.asked import Permissions

__all__ = ["ProjectRecall", "recall_of"]

Answer = TypeVar("Answer")


def recall_of(
    index: ProjectIndex, embedder: Embedder | None, config: Config, *, permissions: Permissions | None = None
) -> "tuple[ProjectRecall | None, str]":
    """Recall by the given embedder, else by the one that `armarius.toml` names.

    Returns:
        The recall and ""; None and why, when the configured model is missing, broken or not the project's to name; None
        and "" when none is asked for. A project never becomes unusable because a model is.
    """
    if embedder is None:
        try:
            embedder = embedders.configured(config, index.root, permissions=permissions)
        except (EmbeddingError, MissingExtra) as error:
            return None, str(error)
    return (None if embedder is None else ProjectRecall(index, embedder)), ""


class ProjectRecall:
    """Paragraphs and entities of a project by meaning. Threads may share it.

    Embedding runs in the background from the start, also of what changes later. What is not embedded yet is not found.

    Args:
        index: An open index; it stays the caller's to close, after this.
        embedder: Makes the vectors. One whose fingerprint is not the index's is accepted, so that `reembed` can be
            called; until then `similar` raises DimensionMismatch.
        background: Whether to embed in a thread of its own; without, `embed` does.
    """

    def __init__(self, index: ProjectIndex, embedder: Embedder, *, background: bool = True) -> None:
        self._index = index
        self._embedder = embedder
        self._background = background
        self._owns_index = False
        self._lock = threading.Lock()
        self._cards_of = ""
        self._store: object = None
        self._semantic: Semantic | None = None
        self._current()

    @classmethod
    def open(
        cls,
        root: str | PathLike[str],
        embedder: Embedder,
        *,
        config: Config | None = None,
        project_id: str | None = None,
        wait: bool = True,
    ) -> Self:
        """Open the project's index and recall over it; `close` closes both.

        Args:
            root: The project folder.
            embedder: Makes the vectors.
            config: Read from `armarius.toml` when not given.
            project_id: The folder's name when not given.
            wait: Return when the index equals the folder; embedding runs on in any case.

        Raises:
            ProjectError: `root` is no folder.
            ConfigError: `armarius.toml` is wrong.
            StoreError: The index cannot be used.
        """
        index = ProjectIndex.open(root, config=config, project_id=project_id, wait=wait)
        try:
            recall = cls(index, embedder)
        except BaseException:
            index.close()
            raise
        recall._owns_index = True
        return recall

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def similar(
        self,
        query: str,
        *,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        chapters: tuple[int | None, int | None] = (None, None),
    ) -> list[SimilarPassage]:
        """The paragraphs nearest to `query`; see `armarius.semantic.project_vectors.Semantic.similar`."""
        self._index.freshen()
        return self._ask(lambda semantic: semantic.similar(query, limit=limit, kinds=kinds, chapters=chapters))

    def near(self, query: str) -> Nearby:
        """What stands out as near in meaning, for retrieval; may be empty. Answers from what is embedded so far."""
        return self._ask(lambda semantic: Nearby(tuple(semantic.near(query)), semantic.trouble))

    def similar_entities(self, query: str, *, limit: int = 10) -> list[SimilarEntity]:
        """The entities whose cards are nearest to `query`."""
        self._index.freshen()
        return self._ask(lambda semantic: semantic.similar_entities(query, limit=limit))

    def focus(self, *documents: str) -> None:
        """Embed these documents before others: where the writer is."""
        self._current().focus(documents)

    def embed(self, *, progress: Callable[[Progress], None] | None = None) -> Progress:
        """Embed everything that is not embedded yet and wait for it.

        Args:
            progress: Called about five times a second while it runs.

        Raises:
            EmbeddingError: The embedder failed; what is done stays, and calling again resumes.
            DimensionMismatch: The index holds vectors of another model.
        """
        semantic = self._current()
        semantic.require_model()
        while not semantic.embed_pending(timeout=0.2):
            if progress is not None:
                progress(semantic.status().progress)
        done = semantic.status().progress
        if progress is not None:
            progress(done)
        return done

    def reembed(self, embedder: Embedder | None = None, *, wait: bool = False) -> None:
        """Replace all vectors by those of `embedder`, in the background; see `Semantic.reembed`."""
        self._embedder = embedder or self._embedder
        self._current().reembed(self._embedder, wait=wait)

    def cancel(self) -> None:
        """Stop embedding after the batch at hand; `embed` or any question resumes it."""
        self._current().cancel()

    def status(self) -> SemanticStatus:
        """Model, progress, and what the vector index is like."""
        return self._current().status()

    @property
    def trouble(self) -> str:
        """Why paragraphs are not found by meaning, or not all of them; "" when nothing is wrong."""
        try:
            semantic = self._current()
            semantic.require_model()
        except (EmbeddingError, StoreError) as error:
            return str(error)
        return semantic.trouble

    def close(self) -> None:
        """Stop the background work; closing twice is fine."""
        with self._lock:
            if self._semantic is not None:
                self._semantic.close()
                self._semantic = None
        if self._owns_index:
            self._index.close()

    def _ask(self, question: Callable[[Semantic], Answer]) -> Answer:
        semantic = self._current()
        try:
            return question(semantic)
        except StoreError:
            if self._index.store is self._store:
                raise
            return question(self._current())  # the index was rebuilt meanwhile

    def _current(self) -> Semantic:
        """The semantic side of the store of the moment, told about the cards of the moment."""
        with self._lock:
            store = self._index.store
            if self._semantic is None or store is not self._store:
                if not isinstance(store, SqliteStore):
                    raise EmbeddingError(f"{type(store).__name__} keeps no vectors; recall needs the embedded store")
                if self._semantic is not None:
                    self._semantic.close()
                self._semantic = Semantic(store, self._embedder, background=self._background)
                self._store, self._cards_of = store, ""
            world = self._index.world
            if world.graph != self._cards_of:
                self._cards_of = world.graph
                self._semantic.changed(cards={entity.id: entity_card(entity) for entity in world.codex.entities})
            return self._semantic
