"""What is near in meaning, and what is tied to a symbol of the code."""

from collections.abc import Sequence

from armarius.code.subgraph import KINDS, Direction, Subgraph, TextMatches
from armarius.documents.classify import Kind
from armarius.embedders.protocol import Embedder
from armarius.engine.parts import Parts
from armarius.errors import EmbeddingError
from armarius.semantic.hits import SimilarPassage
from armarius.semantic.recall import ProjectRecall

__all__ = ["Relating"]


class Relating(Parts):
    """Recall by meaning, and the code graph."""

    @property
    def recall(self) -> ProjectRecall:
        """Recall by meaning: progress, focus, cancel, status.

        Raises:
            EmbeddingError: The engine was opened without an embedder, or the configured one is missing or broken
                (EMBEDDING_UNAVAILABLE).
        """
        if self._recall is None:
            reason = self._no_recall or (
                "opened without an embedder; give one to armarius.open(..., "
                "embedder=armarius.embedders.text2vec(folder)), or .lexical() for one without a model, "
                "or have armarius.toml name one: [embedding] model"
            )
            raise EmbeddingError(f"EMBEDDING_UNAVAILABLE: {reason}")
        return self._recall

    def similar(
        self,
        query: str,
        *,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        chapters: tuple[int | None, int | None] = (None, None),
    ) -> list[SimilarPassage]:
        """The paragraphs nearest to `query` in meaning, best first, each with its similarity.

        Args:
            query: Any text; one without letters or digits finds nothing.
            limit: At most so many; fewer only when fewer paragraphs pass the filters and are embedded.
            kinds: Kinds of documents; empty is all.
            chapters: Inclusive bounds, None is open; with one, paragraphs outside chapters are left out.

        Raises:
            EmbeddingError: No embedder, or it failed.
            DimensionMismatch: The index holds vectors of another model; `reembed` replaces them.

        Cost: one forward pass for a new query, then about 1 ms, or 3 ms per 1,000 vectors below 1,500.
        """
        return self.recall.similar(query, limit=limit, kinds=kinds, chapters=chapters)

    def reembed(self, embedder: Embedder | None = None, *, wait: bool = False) -> None:
        """Replace all vectors by those of `embedder` (default: the one the engine was opened with).

        New vectors are made in the background while the old ones keep answering, and take over at once. Interrupted,
        it is resumed by calling it again.

        Raises:
            EmbeddingError: No embedder; with `wait`, that it failed. The old vectors stay.
        """
        self.recall.reembed(embedder, wait=wait)

    def subgraph(
        self,
        symbol: str,
        *,
        depth: int | None = None,
        direction: Direction = "both",
        kinds: Sequence[str] = KINDS,
        max_nodes: int | None = None,
        max_edges: int | None = None,
        external: bool = False,
    ) -> Subgraph | TextMatches:
        """What calls, references, inherits, imports and overrides what around a symbol of a code project.

        Args:
            symbol: A name, qualified as far as needed: `invoke`, `Context.invoke`, `click.core.Context.invoke`.
            depth: Steps; None is the configured maximum (5), more than that is the maximum.
            direction: `callers`, `callees` or `both`.
            kinds: Edges to follow.
            max_nodes: Budget; within a depth, what is used most stays. None is the configured one.
            max_edges: Budget. None is the configured one.
            external: Show symbols outside of the project as leaves.

        Returns:
            A Subgraph; without SCIP index and CKB a TextMatches, whose warnings say why.

        Raises:
            UnknownSymbol: Carries near matches.
            AmbiguousSymbol: Carries the candidates.
        """
        return self._code.subgraph(
            symbol,
            depth=depth,
            direction=direction,
            kinds=kinds,
            max_nodes=max_nodes,
            max_edges=max_edges,
            external=external,
        )
