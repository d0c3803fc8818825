"""LlamaIndex: the engine's retrieval as a retriever."""

import asyncio
from typing import TYPE_CHECKING

from armarius.errors import ContractError, MissingExtra
from armarius.requests import RetrieveOptions
from armarius.verbs import wire
from armarius.verbs.wire import escaped, escaped_excerpt

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError:
    raise MissingExtra("armarius.frameworks.llama_index", "llama-index") from None

_REASONS = ["score", "reason", "evidence"]  # metadata excluded from the text that the model reads


class ArmariusRetriever(BaseRetriever):  # type: ignore[misc, unused-ignore]
    """Documents and sections for a question, best first.

    A node's text is the section, or the paragraphs that were found and what is next to them; its metadata is the hit,
    of which a model reads path and title, and a host also `reason`, `score` and `evidence`.

    Args:
        engine: The project's engine.
        similarity_top_k: Number of nodes.
        options: Further keyword arguments of `engine.retrieve`, such as `document`, `chapters`, `kinds` and `as_of`.

    Raises:
        ContractError: `messages` is among the options. LlamaIndex passes a retriever no chat history; its chat engines
            condense history and question into one question first. To use messages, call `engine.retrieve`.
    """

    def __init__(
        self, engine: "ContextEngine", *, similarity_top_k: int = 5, options: RetrieveOptions | None = None
    ) -> None:
        super().__init__()
        if options is not None and "messages" in options:
            raise ContractError(
                "messages: a retriever outlives a conversation, and LlamaIndex hands it none; let a chat engine "
                "condense the question, or call engine.retrieve(query, messages=…)"
            )
        self._engine = engine
        self._limit = similarity_top_k
        self._options = options or RetrieveOptions()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._engine.retrieve(query_bundle.query_str, limit=self._limit, **self._options)
        return [
            NodeWithScore(
                node=TextNode(
                    id_=hit.reference,
                    text=escaped_excerpt(self._engine, hit, self._options),
                    metadata=escaped(wire(hit)),
                    excluded_llm_metadata_keys=_REASONS,
                    excluded_embed_metadata_keys=_REASONS,
                ),
                score=hit.score,
            )
            for hit in hits
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
