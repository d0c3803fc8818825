"""Values of requests: their types, limits and checks, for every surface.

Search scope (`chapters`, `kinds`, `as_of` in `Bounds`), targets of pins and mutes, query variants (`also`), and
messages of a conversation (`Turn`). `chapters` and `kinds` say where to look; `as_of` says what may be known at all.
Code that reads documents for a request asks `Bounds` what it may show.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar, get_args

from armarius.errors import ContractError
from armarius.headings import Reason, kind_name
from armarius.validation import LONGEST_TEXT, cleaned, near, shown, suggestion

Kind = Literal[
    "chapter", "outline", "setting", "state", "summary", "review", "note", "template", "tool", "data", "code",
    "manuscript",
]  # fmt: skip
"""Of a document; character profiles and places are `setting`. A `manuscript` holds several chapters or a whole book."""
Edition = Literal["main", "copy", "translation", "archive"]
"""Of the story: a folder's version of it."""
BookFormat = Literal[
    "sillytavern", "card-v2", "card-v3", "novelai", "risu", "agnai", "kobold", "ai-dungeon", "character-book",
    "lorebook-v3",
]  # fmt: skip
"""Of a lorebook that is exported."""
ProfileName = Literal[
    "armarius", "sillytavern", "character-card-spec", "novelai", "risu", "agnai", "kobold-lite", "koboldai",
    "ai-dungeon", "novelcrafter", "obsidian",
]  # fmt: skip
"""Whose rules decide which entries of a lorebook are active."""
Chapters = tuple[int | None, int | None]
"""First and last chapter, inclusive; None is open."""
Hidden = tuple[tuple[str, tuple[tuple[int, int], ...]], ...]
"""Stretches that are not to be seen: each path with its spans, code points, half-open, ascending."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
OPEN: Final[Chapters] = (None, None)
Read = TypeVar("Read")

_LAST: Final = 1 << 31  # no book has so many chapters, and the core counts in 32 bits
MOST_TARGETS: Final = 64  # things pinned or muted by one request
_FORM: Final = "expected a chapter number, or first and last"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What may be looked into; make one with `Bounds.of`, which checks.

    Attributes:
        chapters: Inclusive; with one of them, what is no chapter is left out.
        kinds: Only documents of these kinds; empty is all.
        as_of: Nothing of a later chapter, nor what holds from a later one; what has no chapter passes.
        exceptions: Chapters later than `as_of` that may be found nevertheless: a question names them.
        without: Chapters that the question itself does not want.
        hidden: What describes entities that the request mutes.
    """

    chapters: Chapters = OPEN
    kinds: tuple[Kind, ...] = ()
    as_of: int | None = None
    exceptions: tuple[int, ...] = ()
    without: tuple[int, ...] = ()
    hidden: Hidden = ()

    @classmethod
    def of(cls, chapters: object = None, kinds: object = (), as_of: object = None) -> "Bounds":
        """The bounds that a caller's arguments say.

        Args:
            chapters: One number, or first and last, either of which may be None; None is all.
            kinds: One kind or several; empty is all.
            as_of: A number; None is the whole story.

        Raises:
            ContractError: Anything else, with the name of the argument.
        """
        if (chapters is None or chapters is OPEN) and isinstance(kinds, tuple) and not kinds and as_of is None:
            return EVERYTHING
        return cls(
            check_arg("chapters", read_chapters, chapters),
            check_arg("kinds", read_kinds, kinds),
            check_arg("as_of", read_chapter, as_of),
        )

    def __bool__(self) -> bool:
        """Whether anything is left out."""
        return self != EVERYTHING

    def hides(self, path: str) -> tuple[tuple[int, int], ...]:
        """The hidden spans of a document."""
        return next((spans for document, spans in self.hidden if document == path), ())

    def holds(self, kind: str, chapter: int | None) -> bool:
        """Whether what stands in a document of this kind, in this chapter or in none, may be found."""
        return self.leaves_out(kind, chapter) is None

    def has_chapter(self, chapter: int | None) -> bool:
        """Whether what stands in `chapter`, or in none, lies inside."""
        return self.leaves_out(None, chapter) is None

    def leaves_out(self, kind: str | None, chapter: int | None) -> tuple[Literal["timeline", "excluded"], str] | None:
        """Why something is left out, or None when it is not; without a kind, by its chapter alone."""
        if self.as_of is not None and chapter is not None and chapter > self.as_of and chapter not in self.exceptions:
            return "timeline", Reason("out.later", chapter=chapter, moment=self.as_of)
        if kind is not None and self.kinds and kind not in self.kinds:
            return "excluded", Reason("out.kind", kind=kind_name(kind), kinds=tuple(map(kind_name, self.kinds)))
        if chapter in self.without:
            return "excluded", Reason("out.unwanted", chapter=chapter)
        first, last = self.chapters
        if first is None and last is None:
            return None
        if chapter is None:
            return "excluded", Reason("out.no_chapter", chapters=self.named)
        if (first is not None and chapter < first) or (last is not None and chapter > last):
            return "excluded", Reason("out.chapter", chapter=chapter, chapters=self.named)
        return None

    @property
    def named(self) -> Reason:
        """The chapters as a sentence says them; asked where there is a bound."""
        first, last = self.chapters
        many = "up_to" if first is None else "from" if last is None else "span"
        return Reason(f"chapters.{'one' if first == last else many}", first=first, last=last)

    def mismatch(self, numbers: Sequence[int]) -> str | None:
        """What is wrong with bounds that no chapter of a project lies in; None when one does, or none is asked for.

        Args:
            numbers: Of the project's chapters, ascending.
        """
        there = f"the chapters are {numbers[0]} to {numbers[-1]}" if numbers else "there are no chapters"
        if self.chapters != OPEN and not any(map(Bounds(self.chapters).has_chapter, numbers)):
            return f"the request is limited to {self.named}; {there}"
        if self.as_of is not None and numbers and self.as_of < numbers[0]:
            return f"the request is as of chapter {self.as_of}; {there}"
        return None


EVERYTHING: Final = Bounds()


def read_chapters(value: object) -> Chapters:
    """`value` as inclusive bounds.

    Raises:
        ValueError: It is invalid.
    """
    if value is None:
        return OPEN
    if isinstance(value, int | float):
        chapter = read_chapter(value)
        return chapter, chapter
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise ValueError(_FORM)
    if len(value) != 2:
        raise ValueError(f"{_FORM}; {len(value)} values")
    first, last = (read_chapter(item) for item in value)
    if first is not None and last is not None and first > last:
        raise ValueError(f"the first chapter, {first}, is later than the last, {last}")
    return first, last


def read_chapter(value: object) -> int | None:
    """`value` as a chapter number, or None.

    Raises:
        ValueError: It is neither.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"expected a chapter number, got {shown(value)}")
    if not 0 <= value < _LAST:
        raise ValueError(f"{value} is no chapter number")
    return int(value)


def read_kinds(value: object) -> tuple[Kind, ...]:
    """`value` as kinds of documents, each once, in the order of `KINDS`.

    Raises:
        ValueError: Something in it is no kind; names near ones.
    """
    if value is None:
        return ()
    kinds = [value] if isinstance(value, str) else value
    if isinstance(kinds, bytes) or not isinstance(kinds, Sequence | AbstractSet):
        raise ValueError(f"expected one of {', '.join(KINDS)}, or several")
    for kind in kinds:
        if not isinstance(kind, str) or kind not in KINDS:
            close = suggestion(near(kind, KINDS))
            raise ValueError(f"expected one of {', '.join(KINDS)}, or several, got {shown(kind)}{close}")
    return tuple(kind for kind in KINDS if kind in kinds or (kind == "manuscript" and "chapter" in kinds))


def check_arg(name: str, read: Callable[[object], Read], value: object) -> Read:
    """`read(value)`, for the argument `name`.

    Raises:
        ContractError: `read` refused it; the message names the argument.
    """
    try:
        return read(value)
    except ValueError as error:
        message = str(error)
        raise ContractError(message if message.startswith(f"{name}[") else f"{name}: {message}") from None


def read_targets(value: object) -> tuple[str, ...]:
    """What is to be pinned or muted, each once.

    Raises:
        ValueError: No list of texts, an empty one, more than `MOST_TARGETS`.
    """
    if value is None:
        return ()
    if not isinstance(value, tuple | list) or any(not isinstance(item, str) or not item.strip() for item in value):
        raise ValueError("expected a list of ids, names, paths or tags")
    if len(value) > MOST_TARGETS:
        raise ValueError(f"at most {MOST_TARGETS} at once, got {len(value)}")
    return tuple(dict.fromkeys(item.strip() for item in value))


MOST: Final = 8
"""Other wordings of one question."""
LONGEST: Final = 400
"""Code points of one."""
MEAN: Final = 0.6
GREATEST: Final = 0.1
"""How the scores of other wordings join those of the question, each answer over its best: by their mean and greatest.

What a wording does not find has 0 there, so that a wrong one moves little. With .6 and .4 good wordings find
more (.03 at 8,000 tokens), and four senseless ones cost .07 instead of .02 (docs/decisions/0067).
"""
DOUBTED: Final = 0.25
"""Factor for wordings that agree with nothing, where most do not: no other, nor the question, puts the same first.

It takes most of what senseless ones cost (docs/decisions/0075).
"""

Key = TypeVar("Key", bound=Hashable)


def joined_scores(own: Mapping[Key, float], others: Sequence[Mapping[Key, float]]) -> dict[Key, float]:
    """The scores of a question and of its other wordings as one; those of the core are joined likewise.

    Cost: linear in the scores.
    """
    if not others:
        return dict(own)
    total = _divide_by_best(own)
    greatest: dict[Key, float] = {}
    for other in others:
        for key, share in _divide_by_best(other).items():
            total[key] = total.get(key, 0.0) + MEAN * share / len(others)
            greatest[key] = max(share, greatest.get(key, 0.0))
    return {key: score + GREATEST * greatest.get(key, 0.0) for key, score in total.items()}


def _divide_by_best(scores: Mapping[Key, float]) -> dict[Key, float]:
    best = max(scores.values(), default=0.0)
    return {key: score / best if best > 0 else 0.0 for key, score in scores.items()}


def read_wordings(value: object) -> tuple[str, ...]:
    """`value` as other wordings of a question, each once, white space around them removed.

    Raises:
        ValueError: More than `MOST`, something that is no text, an empty one, one longer than `LONGEST`.
    """
    if value is None:
        return ()
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise ValueError("expected a list of texts")
    if len(value) > MOST:
        raise ValueError(f"at most {MOST} wordings, got {len(value)}")
    for at, wording in enumerate(value):
        if not isinstance(wording, str):
            raise ValueError(f"wording {at} is no text, but a {type(wording).__name__}")
        if not wording.strip():
            raise ValueError(f"wording {at} is empty")
        if len(wording.strip()) > LONGEST:
            raise ValueError(f"wording {at} has {len(wording.strip())} characters, at most {LONGEST} are read")
    return tuple(dict.fromkeys(wording.strip() for wording in value))


Role = Literal["user", "assistant", "system", "tool", ""]
"""Who says a message; "" for nobody in particular, which only messages of a lorebook search may be."""

MOST_MESSAGES: Final = 10_000
MOST_LINES: Final = 100_000
"""Messages of a lorebook search."""
LONGEST_MESSAGE: Final = 1_000_000
"""Code points of one message."""
SPOKEN: Final = ("user", "assistant")
"""Who takes part: instructions and what tools answer are no turns of the conversation."""

_ROLES: Final[Mapping[str, Role]] = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant",
    "chatbot": "assistant", "system": "system", "developer": "system", "tool": "tool", "function": "tool",
}  # fmt: skip
_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})


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


def read_messages(value: object, *, lines: bool = False) -> tuple[Turn, ...]:
    """`value` as messages, oldest first; lone surrogates become U+FFFD.

    Args:
        value: A list of `{"role", "content"}`, of pairs, or of objects with `content` and `role` or `type`; None is
            no message. Parts of a content that are no text, such as images, are left out.
        lines: As programs of lorebooks keep a chat: a text alone and `{"name", "text"}` are messages too, without a
            role, a role of their own is that of the system, and there may be `MOST_LINES`.

    Raises:
        ValueError: Something else; more than `MOST_MESSAGES`, one longer than `LONGEST_MESSAGE`, or all together
            than `LONGEST_TEXT`; says which.

    Cost: one pass over the text.
    """
    if value is None:
        return ()
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise ValueError(f"expected a list of messages, got {shown(value)}")
    most = MOST_LINES if lines else MOST_MESSAGES
    if len(value) > most:
        raise ValueError(f"at most {most:,} messages, got {len(value):,}")
    turns: list[Turn] = []
    length = 0
    for at, message in enumerate(value):
        turns.append(message if isinstance(message, Turn) else _turn(at, message, lines))
        length += len(turns[-1].content)
        if length > LONGEST_TEXT:
            raise ValueError(f"more than {LONGEST_TEXT:,} characters together, up to message {at}")
    return tuple(Turn(turn.role, cleaned(turn.content), cleaned(turn.name)) for turn in turns)


def asked_last(query: str, messages: tuple[Turn, ...]) -> tuple[str, tuple[Turn, ...]]:
    """The question, and the turns before it: hosts hand over all messages, the newest question among them.

    Without words in `query`, the last message is the question if a user says it.
    """
    last = messages[-1] if messages else None
    if last is None or last.role != "user" or not last.content.strip():
        return query, messages
    if query.strip() and cleaned(query).strip() != last.content.strip():
        return query, messages
    return (query if query.strip() else last.content), messages[:-1]


def _turn(at: int, message: object, lines: bool) -> Turn:
    if isinstance(message, Mapping):
        role, content, name = message.get("role"), message.get("content"), message.get("name")
        if lines:
            content = message.get("text", message.get("content", message.get("data")))
    elif lines and isinstance(message, str):
        role, content, name = "", message, None
    elif isinstance(message, Sequence) and not isinstance(message, str | bytes) and len(message) == 2:
        (role, content), name = message, None
    elif hasattr(message, "content") and (hasattr(message, "role") or hasattr(message, "type")):
        role = getattr(message, "role", None) or getattr(message, "type", None)
        content, name = getattr(message, "content", None), getattr(message, "name", None)
    else:
        raise ValueError(f"messages[{at}]: expected {{role, content}}, got {shown(message)}")
    who = _role(at, role, lines)
    text = _text(at, content, may_lack=who in ("assistant", "tool"))
    if len(text) > LONGEST_MESSAGE:
        raise ValueError(f"messages[{at}].content: at most {LONGEST_MESSAGE:,} characters, got {len(text):,}")
    if name is not None and not isinstance(name, str):
        raise ValueError(f"messages[{at}].name: expected a text, got {shown(name)}")
    return Turn(who, text, name or "")


def _role(at: int, role: object, lines: bool) -> Role:
    word = getattr(role, "value", role)  # an enumeration of a host
    if lines and not word:
        return ""
    result = _ROLES.get(word.lower().removesuffix("messagechunk")) if isinstance(word, str) else None
    if result is None and lines and isinstance(word, str):
        return "system"
    if result is None:
        raise ValueError(f"messages[{at}].role: expected one of {', '.join(sorted(_ROLES))}, got {shown(word)}")
    return result


def _text(at: int, content: object, *, may_lack: bool) -> str:
    if isinstance(content, str):
        return content
    if content is None and may_lack:
        return ""
    if isinstance(content, Sequence) and not isinstance(content, bytes):
        return "\n".join(part for number, item in enumerate(content) if (part := _part(at, number, item)))
    raise ValueError(f"messages[{at}].content: expected a text or a list of parts, got {shown(content)}")


def _part(at: int, number: int, part: Any) -> str:  # noqa: ANN401 - any JSON of a host
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
