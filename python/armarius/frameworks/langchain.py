"""LangChain: agent middleware that adds context to every model call, a retriever, and a tool.

The middleware changes the request to the model, not the state of the agent. Stable layers are appended to the system
message, followed by one cache marker; volatile layers are a separate message before the newest human message. A prompt
is assembled once per human message, not once per tool call.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from armarius.deadline import Recent
from armarius.engine import ContextEngine
from armarius.errors import ContractError, MissingExtra
from armarius.requests import AssembleOptions, RetrieveOptions
from armarius.rewording import WORDINGS_WANTED
from armarius.verbs import wire
from armarius.verbs.wire import account_wire, escaped_excerpt

if TYPE_CHECKING:
    from armarius.prompt.report.pack import Pack
    from armarius.rewording import Model, Reworder

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, StructuredTool, ToolException
    from langgraph.config import get_config
    from langgraph.typing import ContextT
    from pydantic import BaseModel, ConfigDict, Field, SkipValidation
except ImportError:
    raise MissingExtra("armarius.frameworks.langchain", "langchain") from None

_REMEMBERED = 64
_ANTHROPIC_MARKER = {"cache_control": {"type": "ephemeral"}}


class ContextMiddleware(AgentMiddleware[AgentState[object], ContextT, object]):
    """Adds the context of the newest human message to every model call.

    The message that holds it carries the account, as `context:prompt:account` gives it, in
    `response_metadata["armarius"]`: each item and omission with title, reason, tokens and place.

    Args:
        engine: The project's engine.
        provider: `anthropic` sets a cache marker after the stable layers; None derives the provider from the model.
        reword: Model for query variants: a function from messages to a reply, or a chat model, such as the agent's own;
            None uses the engine's.
        options: Further keyword arguments of `engine.assemble`, such as `model`, `budget`, `chapters` and `as_of`. With
            `task="chat"` a prompt continues the last one of that task, which saves what a provider has cached. Earlier
            messages are passed as `messages`, the conversation; the agent itself sends them to the model.

    Raises:
        ContractError, BudgetError, …: Of `engine.assemble`, from the call of the model.

    Cost: one assembly for each human message; 64 are kept.
    """

    def __init__(
        self,
        engine: ContextEngine,
        *,
        provider: str | None = None,
        reword: "Model | Reworder | None" = None,
        **options: Unpack[AssembleOptions],
    ) -> None:
        super().__init__()
        self._engine = engine
        self._provider = provider
        self._options: dict[str, Any] = {**options, **({} if reword is None else {"reword": reword})}
        self._packs = Recent["Pack"](_REMEMBERED)

    def wrap_model_call(
        self, request: ModelRequest[ContextT], handler: Callable[[ModelRequest[ContextT]], ModelResponse[object]]
    ) -> ModelResponse[object]:
        """Assemble a prompt unless this human message has one already, then call the model."""
        place = _newest_human(request.messages)
        if place is None:
            return handler(request)
        key = _key(request.messages, place)
        pack = self._packs.get(key)
        if pack is None:
            pack = self._engine.assemble(**self._request_options(request.messages, place))
            self._packs.keep(key, pack)
        return handler(self._add_pack(request, pack, place))

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[object]]],
    ) -> ModelResponse[object]:
        """As `wrap_model_call`, without blocking the event loop."""
        place = _newest_human(request.messages)
        if place is None:
            return await handler(request)
        key = _key(request.messages, place)
        pack = self._packs.get(key)
        if pack is None:
            pack = await self._engine.aassemble(**self._request_options(request.messages, place))
            self._packs.keep(key, pack)
        return await handler(self._add_pack(request, pack, place))

    def _request_options(self, messages: Sequence[AnyMessage], place: int) -> dict[str, Any]:
        """The newest human message, with the messages before it, as keywords of `assemble`."""
        return {"query": str(messages[place].text), "messages": list(messages[:place]), **self._options}

    def _add_pack(self, request: ModelRequest[ContextT], pack: "Pack", place: int) -> ModelRequest[ContextT]:
        changes: dict[str, Any] = {}
        if pack.stable_prefix:
            marker = _ANTHROPIC_MARKER if self._marks(request) else {}
            stable: dict[str, Any] = {"type": "text", "text": pack.stable_prefix, **marker}
            changes["system_message"] = SystemMessage(content=[*_blocks(request.system_message), stable])
        volatile = pack.contents["retrieved"] + pack.contents["immediate"]
        if volatile:
            messages = list(request.messages)
            messages.insert(place, HumanMessage(content=volatile, response_metadata={"armarius": account_wire(pack)}))
            changes["messages"] = messages
        return request.override(**changes) if changes else request

    def _marks(self, request: ModelRequest[ContextT]) -> bool:
        if self._provider is not None:
            return self._provider == "anthropic"
        return "anthropic" in type(request.model).__module__.lower()


def _blocks(message: SystemMessage | None) -> list[str | dict[str, Any]]:
    if message is None:
        return []
    content = message.content
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)


def _newest_human(messages: Sequence[AnyMessage]) -> int | None:
    return next((at for at in range(len(messages) - 1, -1, -1) if messages[at].type == "human"), None)


def _key(messages: Sequence[AnyMessage], place: int) -> tuple[str, str]:
    """Cache key of a human message. Without an id it includes the messages before it: "and then?" depends on them."""
    try:
        thread = str(get_config().get("configurable", {}).get("thread_id", ""))
    except RuntimeError:
        # Called outside a graph.
        thread = ""
    digest = hashlib.blake2b(digest_size=16)
    for message in messages[: place + 1]:
        digest.update(f"{message.type}\n{message.text}\0".encode("utf-8", "replace"))
    return thread, f"{messages[place].id or ''}\n{digest.hexdigest()}"


class ArmariusRetriever(BaseRetriever):
    """The engine's retrieval as a LangChain retriever.

    Attributes:
        engine: The project's engine.
        k: Number of documents. May be given per call, as may `messages`, the conversation before the query.
        options: Further keyword arguments of `engine.retrieve`, such as `document`, `chapters`, `kinds` and `as_of`.

    A document's text is the section, or the paragraphs that were found and what is next to them; its metadata is the
    hit: `path`, `title`, `reason`, `score`, `evidence` with spans in code points. Best first.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    engine: SkipValidation[ContextEngine]
    k: int = 5
    options: SkipValidation[RetrieveOptions] = RetrieveOptions()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        messages: Sequence[object] = (),
    ) -> list[Document]:
        hits = self.engine.retrieve(query, limit=self.k if k is None else k, messages=messages, **self.options)
        return [
            Document(escaped_excerpt(self.engine, hit, self.options), metadata=wire(hit), id=hit.reference)
            for hit in hits
        ]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **options: Any,  # noqa: ANN401 - as above
    ) -> list[Document]:
        search = self._get_relevant_documents
        return await asyncio.to_thread(search, query, run_manager=run_manager.get_sync(), **options)


class _Question(BaseModel):
    query: str
    also: list[str] = Field(default=[], description=WORDINGS_WANTED)


def retrieve_tool(engine: ContextEngine, *, k: int = 5, **options: Unpack[RetrieveOptions]) -> BaseTool:
    """The engine's retrieval as a tool, which asks the calling model for the question in other words.

    The model reads texts; the `artifact` of the tool's message is the hits: title, reason, score, evidence of each.

    Args:
        engine: The project's engine.
        k: Number of texts.
        options: Further keyword arguments of `engine.retrieve`, such as `chapters` and `as_of`.
    """

    def retrieve(query: str, also: Sequence[str] = ()) -> tuple[str, list[dict[str, object]]]:
        params: RetrieveOptions = {**options, "also": also} if also else options
        try:
            hits = engine.retrieve(query, limit=k, **params)
        except ContractError as error:
            raise ToolException(error.message) from None
        text = "\n\n".join(f"{hit.reference}\n{escaped_excerpt(engine, hit, options)}" for hit in hits)
        return text or hits.outcome, [wire(hit) for hit in hits]

    about = "Find the passages of the project that a question needs, best first, each behind its path."
    return StructuredTool.from_function(
        retrieve, name="retrieve", description=about, args_schema=_Question, handle_tool_error=True,
        response_format="content_and_artifact",
    )  # fmt: skip
