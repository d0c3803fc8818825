"""Messages for a host's language model, the model, and its reply: texts and JSON in it.

No model library is imported, and no model is called unless the host gave one.
"""

import hashlib
import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypedDict, runtime_checkable

from armarius.errors import ContractError
from armarius.text.tokens import TokenCounter

if TYPE_CHECKING:
    import asyncio

LONGEST_REPLY = 100_000  # code points read of a reply
THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)|\A.*</think>", re.DOTALL | re.IGNORECASE)
_BLOCKS = 40  # of a message that are read
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


class ModelCall(NamedTuple):
    """One request to a language model of the host's.

    Attributes:
        when: Time of the reply, UTC, ISO 8601.
        about: What was asked: `understand` or `reword`.
        request: Hash of the messages.
        asked: Tokens of o200k_base of the messages.
        replied: Of the reply.
        outcome: What came of it.
    """

    when: str
    about: str
    request: str
    asked: int
    replied: int
    outcome: str


class ModelLog:
    """The last 1,000 requests to models of the host's. Thread-safe."""

    def __init__(self) -> None:
        self._calls = deque[ModelCall](maxlen=1_000)

    def add(self, about: str, request: Asked, reply: object, outcome: str) -> None:
        """Note one. Cost: a count of its tokens."""
        text = request.text
        count = TokenCounter.for_encoding("o200k_base").count
        digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
        answer = reply if isinstance(reply, str) else text_of(reply)
        when = datetime.now(UTC).isoformat(timespec="seconds")
        self._calls.append(ModelCall(when, about, digest, count(text), count(answer), outcome))

    def calls(self) -> tuple[ModelCall, ...]:
        """All of them, the oldest first."""
        return tuple(self._calls)


def check_model(argument: str, model: object) -> None:
    """Raise ContractError, which names the argument, unless `model` is a function or a chat model."""
    if not (callable(model) or isinstance(model, ChatModel)):
        raise ContractError(f"{argument}: a {type(model).__name__} is neither callable nor a chat model with invoke")


def reply_of(
    model: Callable[[Any], Any] | ChatModel,
    request: Asked,
    *,
    timeout_s: float,
    caller: "asyncio.AbstractEventLoop | None",
) -> Any:  # noqa: ANN401 - model libraries have many types of replies
    """What a model replies to messages; a coroutine runs on `caller` if that loop is running, else on a new one.

    Args:
        model: A function, a coroutine function, or a chat model.
        request: The messages.
        timeout_s: Seconds that a coroutine may take; a function takes what it takes.
        caller: Of another thread than this one.
    """
    invoke: Any = getattr(model, "invoke", model)
    if caller is not None:
        invoke = getattr(model, "ainvoke", invoke)
    reply = invoke(request)
    if not isawaitable(reply):
        return reply
    import asyncio

    async def wait() -> Any:  # noqa: ANN401
        return await asyncio.wait_for(reply, timeout_s)

    if caller is None or not caller.is_running():
        return asyncio.run(wait())
    return asyncio.run_coroutine_threadsafe(wait(), caller).result(2 * timeout_s)


class Answers(NamedTuple):
    """The objects and lists in a reply, in its order, and whether the reply ends inside the last."""

    values: list[Any]
    cut: bool = False

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The objects, also those that a list holds."""
        groups = (value if isinstance(value, list) else [value] for value in self.values)
        return [item for values in groups for item in values if isinstance(item, dict)]


def read_answers(reply: object) -> Answers:
    """The JSON in a reply as models write it: between other words, in single quotes, with too many commas or too few.

    Of a reply that is cut short what is whole. Never raises.

    Cost: linear in the first 100,000 characters.
    """
    if isinstance(reply, Mapping) and not {"content", "text"} & reply.keys():
        return Answers([dict(reply)])
    text, values, at = reply_text(reply), list[Any](), 0
    if _WITHOUT_BRACE.match(text):  # the host has written the first one for the model
        text = f"{{{text}"
    elif text.lstrip().startswith('"'):  # JSON as a text of JSON
        with suppress(ValueError):
            text = json.loads(text)
    while (begin := _OPENING.search(text, at)) is not None:
        reader = _Reader(text, begin.start())
        with suppress(RecursionError):
            if value := reader.value():
                values.append(value)
            if reader.cut:
                return Answers(values, cut=True)
        at = max(reader.at, begin.end())
    return Answers(values)


_OPENING = re.compile(r"[{\[]")
_WITHOUT_BRACE = re.compile(r'\s*["“]\w{1,30}["”]\s*[:：]')
_SKIPPED = re.compile(r"(?:[\s,，;；]|\\[nrt]|//[^\n]*|/\*.*?(?:\*/|\Z)|\.{3}|…)*", re.DOTALL)
_SPACE = re.compile(r"(?:\s|\\[nrt]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "“": '”"', "”": '”"', "‘": "’'", "`": "`"}
_BEHIND = re.compile(
    r"\s*(?:[,，:：=\]}]|\Z)|[ \t]*(?:\n|\\n)|\s*//|[ \t]+[\"'“]\w{1,30}[\"'”][ \t]*[:：]"
)  # what stands behind the end of a text
_BARE = re.compile(r"(?:(?!//)[^,，:：={}\[\]\n])+")
_NAMED = {"true": True, "false": False, "null": None, "none": None, "undefined": None}
_ESCAPED = {"n": "\n", "t": "\t", "r": "", "b": "", "f": ""}
_CUT: Any = object()  # instead of what the text ends in


class _Reader:
    """Reads one value of a text from an opening bracket.

    Attributes:
        at: Where it is.
        cut: The text has ended inside the value.
    """

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.cut = text, at, False

    def value(self) -> Any:  # noqa: ANN401 - JSON
        char = self.text[self.at : self.at + 1]
        if char == "{":
            return self._object()
        if char == "[":
            return self._list()
        return self._read_quoted(_QUOTES[char]) if char in _QUOTES and char else self._read_bare()

    def _skip(self, what: re.Pattern[str]) -> None:
        if match := what.match(self.text, self.at):
            self.at = match.end()

    def _has_next(self, closing: str) -> bool:
        """Whether a further part of an object or a list begins here, behind what stands between them."""
        self._skip(_SKIPPED)
        char = self.text[self.at : self.at + 1]
        if not char:
            self.cut = True
        elif char in "]}":
            self.at += char == closing  # else what is around it ends here
        return bool(char) and char not in "]}"

    def _list(self) -> list[Any]:
        items: list[Any] = []
        self.at += 1
        while self._has_next("]"):
            before, value = self.at, self.value()
            if self.cut and (value is _CUT or isinstance(value, dict)):
                break
            if self.at == before:
                self.at += 1  # a bracket or a mark that begins nothing
            else:
                items.append(value)
        return items

    def _object(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        self.at += 1
        while self._has_next("}"):
            before, key = self.at, self.value()
            self._skip(_SPACE)
            if self.text[self.at : self.at + 1] in (":", "：", "=") and self.at < len(self.text):
                self.at += 1
                self._skip(_SPACE)
                value = self.value() if self.at < len(self.text) else _CUT
                self.cut |= value is _CUT
                if value is not _CUT and isinstance(key, str):
                    fields[key] = value
            self.cut |= self.at >= len(self.text)
            if self.at == before:
                self.at += 1
        return fields

    def _read_quoted(self, closing: str) -> Any:  # noqa: ANN401
        chars: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == "\\":
                escaped = self.text[self.at : self.at + 1]
                self.at += 1
                if escaped == "u" and re.fullmatch("[0-9a-fA-F]{4}", code := self.text[self.at : self.at + 4]):
                    self.at += 4
                    chars.append(chr(int(code, 16)))
                else:
                    chars.append(_ESCAPED.get(escaped, escaped))
            elif char in closing and _BEHIND.match(self.text, self.at):
                return "".join(chars).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            else:
                chars.append(char)
        self.cut = True
        return _CUT

    def _read_bare(self) -> Any:  # noqa: ANN401
        match = _BARE.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        if self.at == len(self.text):
            self.cut = True
            return _CUT
        word = match[0].strip()
        if word.lower() in _NAMED:
            return _NAMED[word.lower()]
        with suppress(ValueError):
            return int(word)
        with suppress(ValueError):
            return float(word)
        return word


def reply_text(reply: object) -> str:
    """The text of a reply without what a model thought before it."""
    return THOUGHT.sub("", text_of(reply))


def text_of(reply: Any) -> str:  # noqa: ANN401 - model libraries have many types of replies
    """The text of a reply: the content of a message, or its text blocks joined."""
    if isinstance(reply, str):
        return reply[:LONGEST_REPLY]
    if isinstance(reply, bytes):
        return reply[:LONGEST_REPLY].decode("utf-8", "replace")
    if isinstance(reply, list | tuple):
        return "\n".join(text_of(part) for part in reply[:_BLOCKS])[:LONGEST_REPLY]
    if isinstance(reply, Mapping):
        return text_of(next((reply[key] for key in ("content", "text") if reply.get(key) is not None), ""))
    for name in ("content", "text"):
        if isinstance(content := getattr(reply, name, None), str | list | tuple):
            return text_of(content)
    return ""


def without_secrets(text: str) -> str:
    """`text` with … in place of passwords, keys and tokens, for a model that is not the user's. Cost: linear."""
    return _KEY.sub("…", _GIVEN.sub(r"\1…", text))
