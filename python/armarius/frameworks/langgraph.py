"""A LangGraph node that writes the context of the newest human message into the state.

It works with a plain `MessagesState`; the messages before the newest human one are passed as the conversation.

    graph.add_node("context", inject_context)
    app.invoke({"messages": [("human", "检查角色是否一致")]}, context=ArmariusContext(engine))

With many projects, the context contains only plain values, which a LangGraph server can receive:

    graph = StateGraph(ContextState, context_schema=ProjectContext)
    graph.add_node("context", inject_from(shelf, tenant="acme"))
    app.invoke({"messages": […]}, context={"project": "novel-1"})

The node writes plain values, `context` (the prompt), `context_files` (the documents it uses) and, where the state has
the field, `context_account` (titles and reasons, as `context:prompt:account` gives them); the last value wins. It never
appends to `messages`, so nothing accumulates over tool calls and checkpoints stay small.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from armarius.errors import ContractError, MissingExtra, ScopeViolation
from armarius.requests import AssembleOptions, RequestOptions
from armarius.verbs.wire import account_wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine
    from armarius.prompt.report.pack import Pack
    from armarius.rewording import Model, Reworder

try:
    from langchain_core.messages import AnyMessage, BaseMessage, convert_to_messages
    from langchain_core.runnables import RunnableLambda
    from langgraph.graph.message import add_messages
    from langgraph.runtime import get_runtime
except ImportError:
    raise MissingExtra("armarius.frameworks.langgraph", "langgraph") from None


class ContextState(RequestOptions, total=False):
    """Minimal state of a graph; `RequestOptions`, such as `document`, `as_of`, `task`, are arguments of `assemble`.

    Attributes:
        messages: The newest human one is the query, those before it the conversation.
        context: The prompt that the node wrote.
        context_files: Paths of the documents that it uses.
        context_account: What is in it and what is not: title, reason, tokens and place of each.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    context: str
    context_files: list[str]
    context_account: dict[str, object]


@dataclass(frozen=True)
class ArmariusContext:
    """The value of `context=` for a graph over one project.

    Attributes:
        engine: Of the project.
        options: Further keyword arguments of `engine.assemble`, such as `model` and `budget`; they override the state.
        reword: Model for query variants: a function from messages to a reply, or a chat model; None uses the engine's.
            Its tokens are not streamed by the graph.
    """

    engine: "ContextEngine"
    options: AssembleOptions = field(default_factory=AssembleOptions)
    reword: "Model | Reworder | None" = None


@dataclass(frozen=True)
class ProjectContext:
    """The value of `context=` for a graph over many projects: plain values; a dict is accepted too.

    Attributes:
        project: Id of the project: the name of its folder.
        tenant: Tenant of the project, if `inject_from` does not set one.
        at_least: Version returned by a `write` that the prompt must include; only with `armarius.connect`.
        options: Further keyword arguments of `assemble`; they override the state.
    """

    project: str
    tenant: str = ""
    at_least: int | None = None
    options: AssembleOptions = field(default_factory=AssembleOptions)


class ShelfOfProjects(Protocol):
    """A collection of projects, as `armarius.connect` and `armarius.shelf` return."""

    def project(self, project_id: str, /, *, tenant: str = "") -> "ContextEngine":
        """The engine of a project."""


def _engine() -> tuple["ContextEngine", dict[str, Any]]:
    """The engine in the context, and the context's keyword arguments."""
    context = get_runtime(ArmariusContext).context
    if not isinstance(context, ArmariusContext):
        raise ContractError(
            "inject_context needs the engine: compile with context_schema=ArmariusContext and call "
            "invoke(..., context=ArmariusContext(engine))"
        )
    extras = {} if context.reword is None else {"reword": context.reword}
    return context.engine, {**extras, **context.options}


def _project(shelf: ShelfOfProjects, tenant: str | None) -> tuple["ContextEngine", dict[str, Any]]:
    """The engine of the project named in the context, and the context's keyword arguments."""
    context = get_runtime(ProjectContext).context
    if not isinstance(context, ProjectContext):
        raise ContractError(
            "inject_from needs a project: compile with context_schema=ProjectContext and call "
            'invoke(..., context={"project": "novel-1"})'
        )
    if tenant is not None and context.tenant not in ("", tenant):
        raise ScopeViolation(f"the graph serves the tenant {tenant!r}, the request names another")
    engine = shelf.project(context.project, tenant=context.tenant if tenant is None else tenant)
    extras = {} if context.at_least is None else {"at_least": context.at_least}
    return engine, {**extras, **context.options}


def _arguments(state: Mapping[str, object]) -> dict[str, Any]:
    query, earlier = conversation(state.get("messages", ()))
    fields = {key: state[key] for key in RequestOptions.__optional_keys__ if state.get(key) is not None}
    return {"query": query, "messages": earlier, **fields}


def conversation(messages: object) -> tuple[str, list[BaseMessage]]:
    """The text of the newest human message, or "", and the messages before it.

    Messages after it, such as tool results of the same turn, are not included.

    Args:
        messages: The state's messages; also dicts, pairs or a string, which LangChain converts, for a graph without a
            reducer on `messages`.

    Raises:
        ContractError: A value that LangChain cannot convert to a message.
    """
    items: list[Any] = (
        list(messages) if isinstance(messages, Sequence) and not isinstance(messages, str) else [messages]
    )
    try:
        turns = convert_to_messages(items)
    except (ValueError, TypeError, NotImplementedError) as error:
        raise ContractError(f'state["messages"] holds something that is no message: {type(error).__name__}') from None
    place = next((at for at in range(len(turns) - 1, -1, -1) if turns[at].type == "human"), None)
    if place is None:
        return "", list(turns)
    return str(turns[place].text), list(turns[:place])


def _node(
    find: Callable[[], tuple["ContextEngine", dict[str, Any]]], name: str
) -> "RunnableLambda[Mapping[str, object], dict[str, object]]":
    def inject(state: Mapping[str, object]) -> dict[str, object]:
        engine, options = find()
        return _state_update(engine.assemble(**{**_arguments(state), **options}))

    async def ainject(state: Mapping[str, object]) -> dict[str, object]:
        engine, options = find()
        return _state_update(await engine.aassemble(**{**_arguments(state), **options}))

    return RunnableLambda(inject, afunc=ainject, name=name)


def _state_update(pack: "Pack") -> dict[str, object]:
    account = account_wire(pack)
    return {"context": pack.prompt, "context_files": list(pack.documents), "context_account": account}


def inject_from(
    shelf: ShelfOfProjects, *, tenant: str | None = None
) -> "RunnableLambda[Mapping[str, object], dict[str, object]]":
    """Make a node like `inject_context` for many projects; the context names the project (`ProjectContext`).

    Args:
        shelf: The projects, from `armarius.connect` or `armarius.shelf`.
        tenant: Tenant of all requests; a context that names another is refused. None takes the tenant from the
            context, which the host must then have checked.
    """
    return _node(partial(_project, shelf, tenant), "inject_context")


inject_context: "RunnableLambda[Mapping[str, object], dict[str, object]]" = _node(_engine, "inject_context")
"""The node. Works under `invoke` and `ainvoke`; one instance may be used in many graphs."""
