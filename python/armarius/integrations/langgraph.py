"""A LangGraph node that puts the context of the newest human message into the state.

A `MessagesState` will do as it is: the messages before the newest human one are the conversation that it stands in.

    graph.add_node("context", inject_context)
    app.invoke({"messages": [("human", "检查第3章的角色一致性")]}, context=ArmariusContext(engine))

The node writes two plain values, `context` (the prompt) and `context_files` (the documents drawn on),
whose last value wins; it never appends to `messages`, so nothing accumulates over tool loops and
checkpoints stay small.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from armarius.bounds import Kind
from armarius.errors import ContractError, MissingExtra

if TYPE_CHECKING:
    from armarius.engine import ContextEngine
    from armarius.rewording import Model, Reworder

try:
    from langchain_core.messages import AnyMessage, BaseMessage, convert_to_messages
    from langchain_core.runnables import RunnableLambda
    from langgraph.graph.message import add_messages
    from langgraph.runtime import get_runtime
except ImportError:
    raise MissingExtra("armarius.integrations.langgraph", "langgraph") from None

__all__ = ["ArmariusContext", "ContextState", "inject_context"]


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


def _arguments(state: Mapping[str, Any]) -> tuple["ContextEngine", dict[str, Any]]:
    context = get_runtime(ArmariusContext).context
    if not isinstance(context, ArmariusContext):
        raise ContractError(
            "inject_context needs the engine: compile with context_schema=ArmariusContext and call "
            "invoke(..., context=ArmariusContext(engine))"
        )
    query, earlier = conversation(state.get("messages", ()))
    arguments: dict[str, Any] = {"query": query, "messages": earlier}
    if state.get("document"):
        arguments["document"] = state["document"]
    given = ("cursor", "text", "selection", "include", "exclude", "include_messages")
    for key in (*given, "chapters", "kinds", "as_of", "also"):
        if state.get(key) is not None:
            arguments[key] = state[key]
    if context.reword is not None:
        arguments["reword"] = context.reword
    return context.engine, {**arguments, **context.options}


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


def _inject(state: Mapping[str, Any]) -> dict[str, Any]:
    engine, arguments = _arguments(state)
    pack = engine.assemble(**arguments)
    return {"context": pack.prompt, "context_files": list(pack.documents)}


async def _ainject(state: Mapping[str, Any]) -> dict[str, Any]:
    engine, arguments = _arguments(state)
    pack = await engine.aassemble(**arguments)
    return {"context": pack.prompt, "context_files": list(pack.documents)}


inject_context: "RunnableLambda[Any, dict[str, Any]]" = RunnableLambda(_inject, afunc=_ainject, name="inject_context")
"""The node. Works under `invoke` and `ainvoke` alike; the same instance may serve many graphs."""
