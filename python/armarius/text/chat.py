"""Messages for a host's language model, the model, and its reply: texts and JSON in it.

No model library is imported, and no model is called unless the host gave one.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, runtime_checkable

from armarius.errors import ContractError

if TYPE_CHECKING:
    import asyncio

LONGEST_REPLY = 20_000  # code points read of a reply
THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_BRACKETS = 40  # opening brackets that are tried as the start of a JSON value
_DECODER = json.JSONDecoder(strict=False)  # line ends inside a string
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])')
_LABEL = (
    r"(?:api|access|private|encryption|secret)[ _-]?key|(?:client|app|api|shared)[ _-]?secret"
    r"|secret(?=[\"'`]?[ \t]{0,8}=)|passw(?:or)?d|token|authorization|密码|密碼|密钥|密鑰|口令|令牌"
)
# What a label of a secret gives, in quotation marks or without.
_GIVEN = re.compile(
    rf"((?:{_LABEL})[\"'`*]{{0,3}}[ \t]{{0,8}}(?:=>|[:=：＝])[ \t]{{0,8}}(?:Bearer |Basic )?)"
    r"(?:\"[^\"\n]+\"|'[^'\n]+'|[!-~]{4,})",
    re.IGNORECASE,
)
# Keys of known services; runs of letters of both cases and digits; hashes; a name and password in an address.
_KEY = re.compile(
    r"(?<![\w+-])(?:(?:sk|pk|rk)-|gh[a-z]_|github_pat_|glpat-|hf_|xox[a-z]-|AKIA|ASIA|AIza|eyJ)[\w.-]{12,}"
    r"|(?<![\w+-])(?=[\w+-]*[a-z])(?=[\w+-]*[A-Z])(?=(?:[^\W\d]*[+-]*\d){4})[A-Za-z0-9+_-]{24,}={0,2}"
    r"|(?<![\w+-])[0-9a-f]{32,}(?![\w+-])|(?<=://)[^\s/@:]{1,200}:[^\s/@]{1,200}(?=@)",
    re.ASCII,
)


class Message(TypedDict):
    """One message of a chat API."""

    role: str
    content: str


class Asked(tuple[Message, ...]):  # noqa: SLOT001 - a tuple has no slots for what it is about
    """Messages for a language model, serialisable as JSON and accepted by chat models."""

    @property
    def text(self) -> str:
        """The messages as one text, for models without roles."""
        return "\n\n".join(message["content"] for message in self)


@runtime_checkable
class ChatModel(Protocol):
    """A chat model with LangChain's interface. If it has `ainvoke` too, coroutines use that."""

    def invoke(self, messages: Any, /) -> Any:  # noqa: ANN401 - messages in, a message out
        """Send the messages; returns the model's message."""
        ...


def check_model(argument: str, model: object) -> None:
    """Raise ContractError, which names the argument, unless `model` is a function or a chat model."""
    if not (callable(model) or isinstance(model, ChatModel)):
        raise ContractError(f"{argument}: a {type(model).__name__} is neither callable nor a chat model with invoke")


def reply_of(
    model: Callable[[Any], Any] | ChatModel,
    asked: Asked,
    *,
    timeout_s: float,
    caller: "asyncio.AbstractEventLoop | None",
) -> Any:  # noqa: ANN401 - model libraries have many types of replies
    """What a model replies to messages; a coroutine runs on `caller` if that loop is running, else on a new one.

    Args:
        model: A function, a coroutine function, or a chat model.
        asked: The messages.
        timeout_s: Seconds that a coroutine may take; a function takes what it takes.
        caller: Of another thread than this one.
    """
    invoke: Any = getattr(model, "invoke", model)
    if caller is not None:
        invoke = getattr(model, "ainvoke", invoke)
    reply = invoke(asked)
    if not isawaitable(reply):
        return reply
    import asyncio

    async def wait() -> Any:  # noqa: ANN401
        return await asyncio.wait_for(reply, timeout_s)

    if caller is None or not caller.is_running():
        return asyncio.run(wait())
    return asyncio.run_coroutine_threadsafe(wait(), caller).result(2 * timeout_s)


def read_object(reply: object) -> dict[str, Any] | None:
    """The first of `read_objects`, None when there is none. Never raises."""
    return next(iter(read_objects(reply)), None)


def read_objects(reply: object) -> list[dict[str, Any]]:
    """The JSON objects in a reply, in its order, that are not part of another one; of one cut short, its whole parts.

    Then, where commas stand before a closing bracket, the same without those. Never raises.

    Cost: linear in the first 20,000 characters.
    """
    if isinstance(reply, Mapping) and not {"content", "text"} & reply.keys():
        return [dict(reply)]
    text = said_in(reply)
    bare = _LAST_COMMA.sub(lambda found: found[1] or "", text)
    return [one for version in dict.fromkeys((text, bare)) for one in _objects(version)]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    at = text.find("{")
    for _ in range(_BRACKETS):
        if at < 0:
            return
        end = at + 1
        with suppress(ValueError, RecursionError):
            value, end = _DECODER.raw_decode(text, at)
            yield value
        at = text.find("{", end)


def json_values(text: str, opening: str) -> Iterator[Any]:
    """The JSON values in a text that begin with a bracket; the first 40 brackets are tried."""
    at = text.find(opening)
    for _ in range(_BRACKETS):
        if at < 0:
            return
        with suppress(ValueError, RecursionError):
            yield _DECODER.raw_decode(text, at)[0]
        at = text.find(opening, at + 1)


def said_in(reply: object) -> str:
    """The text of a reply without what a model thought before it."""
    return THOUGHT.sub("", text_of(reply))


def text_of(reply: Any) -> str:  # noqa: ANN401 - model libraries have many types of replies
    """The text of a reply: the content of a message, or its text blocks joined."""
    if isinstance(reply, str):
        return reply[:LONGEST_REPLY]
    if isinstance(reply, bytes):
        return reply[:LONGEST_REPLY].decode("utf-8", "replace")
    if isinstance(reply, list | tuple):
        return "\n".join(text_of(one) for one in reply[:_BRACKETS])[:LONGEST_REPLY]
    if isinstance(reply, Mapping):
        return text_of(next((reply[key] for key in ("content", "text") if reply.get(key) is not None), ""))
    for name in ("content", "text"):
        if isinstance(said := getattr(reply, name, None), str | list | tuple):
            return text_of(said)
    return ""


def without_secrets(text: str) -> str:
    """`text` with … in place of passwords, keys and tokens, for a model that is not the user's. Cost: linear."""
    return _KEY.sub("…", _GIVEN.sub(r"\1…", text))
