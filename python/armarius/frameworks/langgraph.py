"""A LangGraph node that puts the context of the newest human message into the state.

A `MessagesState` will do as it is: the messages before the newest human one are the conversation that it stands in.

    graph.add_node("context", inject_context)
    app.invoke({"messages": [("human", "检查第3章的角色一致性")]}, context=ArmariusContext(engine))

Over many projects, the context holds plain values alone, as what travels to a LangGraph server must:

    graph = StateGraph(ContextState, context_schema=ProjectContext)
    graph.add_node("context", inject_from(shelf, tenant="acme"))
    app.invoke({"messages": […]}, context={"project": "novel-1"})

The node writes two plain values, `context` (the prompt) and `context_files` (the documents drawn on),
whose last value wins; it never appends to `messages`, so nothing accumulates over tool loops and
checkpoints stay small.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypedDict

from armarius.arguments import Kind
from armarius.errors import ContractError, MissingExtra, ScopeViolation

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

__all__ = ["ArmariusContext", "ContextState", "ProjectContext", "inject_context", "inject_from"]


class ContextState(TypedDict, total=False):
    """The least a graph's state needs; all between `messages` and `context` are optional inputs, as of `assemble`."""

    messages: Annotated[list[AnyMessage], add_messages]
    document: str
    cursor: int
    text: str
    selection: tuple[int, int]
    include: list[str]
    exclude: list[str]
    include_messages: int
    chapters: int | tuple[int | None, int | None]
    kinds: Kind | list[Kind]
    as_of: int
    also: list[str]
    context: str
    context_files: list[str]


@dataclass(frozen=True)
class ArmariusContext:
    """What the host passes as `context=`: the engine, and what every assembly shares.

    Attributes:
        options: Further keyword arguments of `engine.assemble`, such as `model` and `budget`; over the state's.
        reword: Asked for other wordings of each question: a function from messages to a reply, or a chat model; None
            is the engine's. Its tokens do not join the graph's stream.
    """

    engine: "ContextEngine"
    options: Mapping[str, Any] = field(default_factory=dict)
    reword: "Model | Reworder | None" = None


@dataclass(frozen=True)
class ProjectContext:
    """What the host passes as `context=` to a graph over a shelf: plain values, also as a dict.

    Attributes:
        project: Its id; the name of its folder.
        tenant: Whose it is, where the node does not say.
        at_least: A version that a `write` returned, and the prompt must have seen; on a server.
        options: Further keyword arguments of `assemble`; over the state's.
    """

    project: str
    tenant: str = ""
    at_least: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


class ShelfOfProjects(Protocol):
    """`armarius.connect` and `armarius.shelf` give one."""

    def project(self, project_id: str, /, *, tenant: str = "") -> "ContextEngine":
        """The engine of a project."""
        ...


def _engine() -> tuple["ContextEngine", dict[str, Any]]:
    """The engine that the context holds, and what it says beside the state."""
    context = get_runtime(ArmariusContext).context
    if not isinstance(context, ArmariusContext):
        raise ContractError(
            "inject_context needs the engine: compile with context_schema=ArmariusContext and call "
            "invoke(..., context=ArmariusContext(engine))"
        )
    given = {} if context.reword is None else {"reword": context.reword}
    return context.engine, {**given, **context.options}


def _project(shelf: ShelfOfProjects, tenant: str | None) -> tuple["ContextEngine", dict[str, Any]]:
    """The engine of the project that the context names, and what it says beside the state."""
    context = get_runtime(ProjectContext).context
    if not isinstance(context, ProjectContext):
        raise ContractError(
            "inject_from needs a project: compile with context_schema=ProjectContext and call "
            'invoke(..., context={"project": "novel-1"})'
        )
    if tenant is not None and context.tenant not in ("", tenant):
        raise ScopeViolation(f"the graph serves the tenant {tenant!r}, the request names another")
    engine = shelf.project(context.project, tenant=context.tenant if tenant is None else tenant)
    given = {} if context.at_least is None else {"at_least": context.at_least}
    return engine, {**given, **context.options}


def _arguments(state: Mapping[str, Any]) -> dict[str, Any]:
    query, earlier = conversation(state.get("messages", ()))
    arguments: dict[str, Any] = {"query": query, "messages": earlier}
    if state.get("document"):
        arguments["document"] = state["document"]
    given = ("cursor", "text", "selection", "include", "exclude", "include_messages")
    for key in (*given, "chapters", "kinds", "as_of", "also"):
        if state.get(key) is not None:
            arguments[key] = state[key]
    return arguments


def conversation(messages: object) -> tuple[str, list[BaseMessage]]:
    """The text of the newest human message, or "", and the messages before it.

    What follows that message, such as a tool's answer of this very turn, belongs to neither.

    Args:
        messages: As a state holds them: messages, or what LangChain takes for some (dicts, pairs, a string), for a
            graph whose `messages` has no reducer that makes messages of them.

    Raises:
        ContractError: Something that is no message.
    """
    given: list[Any] = (
        list(messages) if isinstance(messages, Sequence) and not isinstance(messages, str) else [messages]
    )
    try:
        found = convert_to_messages(given)
    except (ValueError, TypeError, NotImplementedError) as error:
        raise ContractError(f'state["messages"] holds something that is no message: {type(error).__name__}') from None
    place = next((at for at in range(len(found) - 1, -1, -1) if found[at].type == "human"), None)
    if place is None:
        return "", list(found)
    return str(found[place].text), list(found[:place])


def _node(
    find: Callable[[], tuple["ContextEngine", dict[str, Any]]], name: str
) -> "RunnableLambda[Any, dict[str, Any]]":
    def inject(state: Mapping[str, Any]) -> dict[str, Any]:
        engine, given = find()
        return _written(engine.assemble(**{**_arguments(state), **given}))

    async def ainject(state: Mapping[str, Any]) -> dict[str, Any]:
        engine, given = find()
        return _written(await engine.aassemble(**{**_arguments(state), **given}))

    return RunnableLambda(inject, afunc=ainject, name=name)


def _written(pack: "Pack") -> dict[str, Any]:
    return {"context": pack.prompt, "context_files": list(pack.documents)}


def inject_from(shelf: ShelfOfProjects, *, tenant: str | None = None) -> "RunnableLambda[Any, dict[str, Any]]":
    """A node like `inject_context`, whose context names one of many projects (`ProjectContext`).

    Args:
        shelf: Of a server or of folders.
        tenant: Whose projects it serves, whatever a request says; None takes the tenant from the context: then the
            host vouches for it.
    """
    return _node(partial(_project, shelf, tenant), "inject_context")


inject_context: "RunnableLambda[Any, dict[str, Any]]" = _node(_engine, "inject_context")
"""The node. Works under `invoke` and `ainvoke` alike; the same instance may serve many graphs."""
