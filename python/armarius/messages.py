"""The turns of a conversation that a question stands in, as chat hosts hold them.

Read are messages of the OpenAI form (`{"role", "content"}`, the content a text or parts), pairs of role and text, and
objects of LangChain or LlamaIndex, told by what they have and not by what they are. What was said is data: it helps to
understand the question, and may stand in the prompt, fenced (docs/decisions/0074).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from armarius.errors import ContractError
from armarius.strict import LONGEST_TEXT, shown

__all__ = [
    "LONGEST_MESSAGE",
    "MOST_MESSAGES",
    "SPOKEN",
    "Role",
    "Turn",
    "asked_last",
    "checked_messages",
    "read_messages",
]

Role = Literal["user", "assistant", "system", "tool"]

MOST_MESSAGES: Final = 10_000
LONGEST_MESSAGE: Final = 1_000_000
"""Code points of one message."""
SPOKEN: Final = ("user", "assistant")
"""Who takes part: instructions and what tools answer are no turns of the conversation."""

_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message.

    Attributes:
        role: Who says it.
        content: Its text, that of its parts joined by line ends; "" where it has none, as a call of a tool.
        name: Of who says it, or "".
    """

    role: Role
    content: str
    name: str = ""

    @property
    def is_spoken(self) -> bool:
        """Whether it is a turn of the conversation that says something."""
        return self.role in SPOKEN and bool(self.content.strip())


def read_messages(value: object) -> tuple[Turn, ...]:
    """`value` as messages, oldest first; lone surrogates become U+FFFD.

    Args:
        value: A list of `{"role", "content"}`, of pairs, or of objects with `content` and `role` or `type`; None is
            no message. Parts of a content that are no text, such as images, are left out.

    Raises:
        ValueError: Something else; more than `MOST_MESSAGES`, one longer than `LONGEST_MESSAGE`, or all together
            than `LONGEST_TEXT`; says which.

    Cost: one pass over the text.
    """
    if value is None:
        return ()
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise ValueError(f"expected a list of messages, got {shown(value)}")
    if len(value) > MOST_MESSAGES:
        raise ValueError(f"at most {MOST_MESSAGES:,} messages, got {len(value):,}")
    turns: list[Turn] = []
    length = 0
    for at, one in enumerate(value):
        turns.append(one if isinstance(one, Turn) else _turn(at, one))
        length += len(turns[-1].content)
        if length > LONGEST_TEXT:
            raise ValueError(f"more than {LONGEST_TEXT:,} characters together, up to message {at}")
    return tuple(Turn(one.role, _clean(one.content), _clean(one.name)) for one in turns)


def checked_messages(value: object) -> tuple[Turn, ...]:
    """As `read_messages`, for an argument `messages`.

    Raises:
        ContractError: They are none, with the name of the argument.
    """
    try:
        return read_messages(value)
    except ValueError as error:
        said = str(error)
        raise ContractError(said if said.startswith("messages[") else f"messages: {said}") from None


def asked_last(query: str, messages: tuple[Turn, ...]) -> tuple[str, tuple[Turn, ...]]:
    """The question, and the turns before it: hosts hand over all messages, the newest question among them.

    Without words in `query`, the last message is the question if a user says it.
    """
    last = messages[-1] if messages else None
    if last is None or last.role != "user" or not last.content.strip():
        return query, messages
    if query.strip() and _clean(query).strip() != last.content.strip():
        return query, messages
    return (query if query.strip() else last.content), messages[:-1]


def _turn(at: int, one: object) -> Turn:
    if isinstance(one, Mapping):
        role, content, name = one.get("role"), one.get("content"), one.get("name")
    elif isinstance(one, Sequence) and not isinstance(one, str | bytes) and len(one) == 2:
        (role, content), name = one, None
    elif hasattr(one, "content") and (hasattr(one, "role") or hasattr(one, "type")):
        role = getattr(one, "role", None) or getattr(one, "type", None)
        content, name = getattr(one, "content", None), getattr(one, "name", None)
    else:
        raise ValueError(f"messages[{at}]: expected {{role, content}}, got {shown(one)}")
    who = _role(at, role)
    text = _text(at, content, may_lack=who in ("assistant", "tool"))
    if len(text) > LONGEST_MESSAGE:
        raise ValueError(f"messages[{at}].content: at most {LONGEST_MESSAGE:,} characters, got {len(text):,}")
    if name is not None and not isinstance(name, str):
        raise ValueError(f"messages[{at}].name: expected a text, got {shown(name)}")
    return Turn(who, text, name or "")


def _role(at: int, role: object) -> Role:
    said = getattr(role, "value", role)  # an enumeration of a host
    known = _ROLES.get(said.lower().removesuffix("messagechunk")) if isinstance(said, str) else None
    if known is None:
        raise ValueError(f"messages[{at}].role: expected one of {', '.join(sorted(_ROLES))}, got {shown(said)}")
    return known


def _text(at: int, content: object, *, may_lack: bool) -> str:
    if isinstance(content, str):
        return content
    if content is None and may_lack:
        return ""
    if isinstance(content, Sequence) and not isinstance(content, bytes):
        return "\n".join(part for number, one in enumerate(content) if (part := _part(at, number, one)))
    raise ValueError(f"messages[{at}].content: expected a text or a list of parts, got {shown(content)}")


def _part(at: int, number: int, part: Any) -> str:  # noqa: ANN401 - whatever a host put there
    if isinstance(part, str):
        return part
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(kind, str):
        raise ValueError(f"messages[{at}].content[{number}]: expected a text or {{type, …}}, got {shown(part)}")
    if kind not in _TEXT_PARTS:
        return ""
    text = part.get("text")
    if not isinstance(text, str):
        raise ValueError(
            f"messages[{at}].content[{number}].text: expected the text of a part of type {kind}, got {shown(text)}"
        )
    return text


def _clean(text: str) -> str:
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)
