r"""What an activation takes and gives: text to scan, random numbers, state, entries; syntax inside entries.

Macros in the text of an entry, and decorators taken into the entry as far as a profile knows them. Source: Character
Card Specification V3, "Curly Braced Syntaxes" and "Decorators". `{{char}}` and the other macros are filled in by the
host's names, drawn with a seed, or taken out; what is not known stays as it is written.

Expressions are JavaScript's, translated to those of the core. Source: ECMAScript 2024, 22.2 (RegExp) with Annex B; what
SillyTavern takes for one. Differences that matter: `\d \w \b` are ASCII there, `.` stops at four line ends, and a class
may hold `[` and end at once.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, overload

from armarius._core import KeyPattern
from armarius.arguments import Turn
from armarius.documents.data import fill_names
from armarius.errors import ContractError
from armarius.headings import Reason
from armarius.lorebooks.record import LONGEST_EXPRESSION, Condition, Decorator, Entry, Key, Place, Range
from armarius.validation import shown


class Effect(NamedTuple):
    """A time in messages: from the length of the chat when it began to the one where it ends.

    Attributes:
        seal: Of the entry; another one means that the entry was edited, which ends the effect.
        firm: It holds even if the chat has not grown since.
    """

    start: int
    end: int
    seal: int
    firm: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """Held by the caller between turns, or replayed from the messages. Immutable, and JSON with `to_wire`.

    Attributes:
        sticky, cooldown: Effects by `book/entry`.
        done: `book/entry` of those that were active and have an effect of it for good.
    """

    sticky: Mapping[str, Effect] = field(default_factory=dict)
    cooldown: Mapping[str, Effect] = field(default_factory=dict)
    done: frozenset[str] = frozenset()

    def to_wire(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "sticky": {key: list(value) for key, value in sorted(self.sticky.items())},
            "cooldown": {key: list(value) for key, value in sorted(self.cooldown.items())},
            "done": sorted(self.done),
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any], /) -> "State":
        """From `to_wire`.

        Raises:
            ContractError: It is nothing of the kind.
        """
        try:
            effects = {
                kind: {
                    str(key): Effect(int(start), int(end), int(seal), bool(firm))
                    for key, (start, end, seal, firm) in wire.get(kind, {}).items()
                }
                for kind in ("sticky", "cooldown")
            }
            return cls(effects["sticky"], effects["cooldown"], frozenset(map(str, wire.get("done", ()))))
        except (TypeError, ValueError, AttributeError) as error:
            raise ContractError(f"state: not one of books: {error}") from None


@dataclass(frozen=True, slots=True)
class Active:
    """One active entry.

    Attributes:
        book: Id of its book.
        entry: As it is in the book.
        place: Where it goes, as the profile says.
        reason: Why: `key 白鹭`, `always`, `sticky, 2 turns left`.
        text: What is sent: macros filled in, prefix and suffix around it; may be empty.
        order: Its place among the entries of the same place, from the top.
    """

    book: str
    entry: Entry
    place: Place
    reason: str
    text: str
    order: int = 0


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """An entry that is not active although a key was found or it is constant, with the reason."""

    book: str
    entry: Entry
    reason: Reason


@dataclass(frozen=True, slots=True)
class Activation(Sequence[Active]):
    """The active entries, in the order of the profile. A sequence of `Active`.

    Attributes:
        active: The same.
        left: Skipped entries.
        state: Input of the next turn.
    """

    active: tuple[Active, ...]
    left: tuple[SkippedEntry, ...]
    state: State

    @overload
    def __getitem__(self, at: int) -> Active: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Active, ...]: ...
    def __getitem__(self, at: int | slice) -> Active | tuple[Active, ...]:
        return self.active[at]

    def __len__(self) -> int:
        return len(self.active)

    def __iter__(self) -> Iterator[Active]:
        return iter(self.active)

    def placed(self) -> tuple[Active, ...]:
        """The entries with a text, from the top of the prompt down within each place."""
        return tuple(sorted((item for item in self.active if item.text), key=lambda item: item.order))

    def to_wire(self) -> dict[str, Any]:
        """As JSON: `active` and `left` with book, entry, name, reason, and the state."""
        return {
            "active": [
                {
                    "book": item.book,
                    "entry": item.entry.id,
                    "name": item.entry.name,
                    "place": asdict(item.place),
                    "reason": item.reason,
                    "text": item.text,
                }
                for item in self.active
            ],
            "left": [
                {"book": item.book, "entry": item.entry.id, "name": item.entry.name, "reason": item.reason}
                for item in self.left
            ],
            "state": self.state.to_wire(),
        }


class Random:
    """Draws between 0 and 1: those that are given, in turn; then from a seed, the same for the same question.

    Args:
        rolls: Used up first.
        seed: What the rest is made from, with what is drawn for.
    """

    def __init__(self, rolls: Sequence[Any] = (), seed: str = "") -> None:
        if isinstance(rolls, str | bytes) or not isinstance(rolls, Sequence):
            raise ContractError(f"rolls: expected a list of numbers, got {shown(rolls)}")
        for number in rolls:
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
                raise ContractError(f"rolls: numbers from 0 to 1, got {shown(number)}")
        self._rolls: list[float] = list(rolls)
        self._seed = seed
        self._at = 0

    def roll(self, *what: str) -> float:
        """The next draw, for `what`."""
        if self._at < len(self._rolls):
            self._at += 1
            return self._rolls[self._at - 1]
        digest = hashlib.blake2b("\0".join((self._seed, *what)).encode("utf-8", "replace"), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64


@dataclass(frozen=True, slots=True)
class Scan:
    """The input of an activation.

    Attributes:
        messages: Messages of a chat, oldest first.
        text: Text of a story, instead of messages.
        story: Opening and actions of a story, instead of both.
        settings: Settings of the emulated program, by its own names.
        turn: The number of this turn; part of the random seed.
        character: Name of the active character, `{{char}}`.
        cast: Book id to the name of its card's character, which is `{{char}}` in that book.
        user: Name of the user, `{{user}}`.
        trigger: Kind of generation.
        tags: Tags of the character.
        sources: Other scanned texts by name: `persona`, `character`, `scenario`, ….
        greeting: Number of the opening message; None is unknown.
        count: Counts the tokens of a text.
        budget: Tokens for entries; None uses the profile's setting.
    """

    messages: tuple[Turn, ...] = ()
    text: str = ""
    story: tuple[str, tuple[str, ...]] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    turn: int = 0
    character: str = ""
    cast: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    trigger: str = "normal"
    tags: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    greeting: int | None = None
    count: Callable[[str], int] = len
    budget: int | None = None

    def names(self, book: str) -> tuple[str, str]:
        """What `{{char}}` and `{{user}}` are in a book."""
        return self.cast.get(book) or self.character, self.user

    def lines(self) -> tuple[Turn, ...]:
        """The searched messages; a text is one of them, a story its opening and actions."""
        if self.messages:
            return self.messages
        if self.story is not None:
            return tuple(Turn("", part) for part in (self.story[0], *self.story[1]) if part)
        return (Turn("", self.text),) if self.text else ()

    def whole(self) -> str:
        """Everything as one text, oldest first."""
        if self.messages:
            return "\n".join(message.content for message in self.messages)
        return "\n".join((self.story[0], *self.story[1])) if self.story is not None else self.text


_COMMENT = re.compile(r"\{\{(?://|comment:)[^{}]*\}\}", re.IGNORECASE)
_HIDDEN = re.compile(r"\{\{hidden_key:([^{}]*)\}\}", re.IGNORECASE)
_DRAWN = re.compile(r"\{\{(random|pick|roll)[:\s]([^{}]*)\}\}", re.IGNORECASE)
_REVERSE = re.compile(r"\{\{reverse:([^{}]*)\}\}", re.IGNORECASE)
_COMMA = re.compile(r"(?<!\\),")
_MOST = 1_000_000


def without_comments(text: str) -> str:
    """The text without `{{// }}` and `{{comment: }}`, which are neither sent nor searched."""
    return _COMMENT.sub("", text) if "{{" in text else text


def search_text(text: str, character: str, user: str) -> str:
    """An entry's text as recursion searches it: hidden keys are found there."""
    return fill_names(_HIDDEN.sub(lambda hidden: hidden[1], without_comments(text)), character, user)


def expand_text(text: str, character: str, user: str, luck: Random, *what: str) -> str:
    """An entry's text as it is sent."""
    if "{{" not in text and "<" not in text:
        return text
    text = fill_names(_HIDDEN.sub("", without_comments(text)), character, user)
    text = _DRAWN.sub(lambda drawn: _draw(drawn[1].lower(), drawn[2], luck, *what), text)
    return _REVERSE.sub(lambda match: match[1][::-1], text)


def with_user(text: str, user: str) -> str:
    """A text that was sent without a name for `{{user}}`, with one."""
    return fill_names(text, "", user)


def _draw(kind: str, body: str, luck: Random, *what: str) -> str:
    roll = luck.roll(*what, kind, body)
    if kind == "roll":
        sides = body.strip().lower().lstrip("d")
        return str(1 + int(roll * int(sides))) if sides.isdigit() and 0 < int(sides) <= _MOST else ""
    options = [option.strip().replace("\\,", ",") for option in _COMMA.split(body)]
    return options[min(int(roll * len(options)), len(options) - 1)]


SILLYTAVERN = frozenset({"activate", "dont_activate"})
SPECIFICATION = SILLYTAVERN | {
    "activate_only_after", "activate_only_every", "keep_activate_after_match", "dont_activate_after_match", "depth",
    "reverse_depth", "instruct_depth", "reverse_instruct_depth", "role", "position", "scan_depth",
    "instruct_scan_depth", "is_greeting", "additional_keys", "exclude_keys", "ignore_on_max_context",
}  # fmt: skip
RISU = (
    SPECIFICATION - {"instruct_depth", "reverse_instruct_depth", "instruct_scan_depth"}
) | {
    "exclude_keys_all", "probability", "priority", "recursive", "unrecursive", "no_recursive_search",
    "match_full_word", "match_partial_word", "end", "inject_lore", "inject_at", "inject_replace", "inject_prepend",
}  # fmt: skip
_LAST = -1_000_000_000


class DecoratorEffects(NamedTuple):
    """An entry with its decorators applied.

    Attributes:
        forced: True activates the entry without keys, False never activates it, None uses the keys.
        inject: Address and mode of an entry that is inserted into the text of another.
        exclude_all: The entry is inactive if all of these keys are present.
    """

    entry: Entry
    forced: bool | None = None
    inject: tuple[str, str] | None = None
    exclude_all: tuple[Key, ...] = ()


def decorate(entry: Entry, names: frozenset[str]) -> DecoratorEffects:
    """The entry with the decorators that a profile knows applied."""
    if not entry.decorators:
        return DecoratorEffects(entry)
    changes: dict[str, Any] = {}
    require = list(entry.match.require)
    forced: bool | None = None
    inject = None
    exclude_all: tuple[Key, ...] = ()
    accepted = True
    for decorator in entry.decorators:
        if decorator.fallback and accepted:
            continue
        accepted = decorator.name in names and _has_valid_value(decorator)
        if not accepted:
            continue
        keys = tuple(Key(word) for word in decorator.args if word)
        match decorator.name:
            case "activate":
                forced = True
            case "dont_activate":
                forced = forced or False
            case "additional_keys" if keys:
                require.append(Condition("any", keys))
            case "exclude_keys" if keys:
                require.append(Condition("none", keys))
            case "exclude_keys_all":
                exclude_all = keys
            case "inject_lore" | "inject_at" | "inject_replace" | "inject_prepend":
                inject = (decorator.name, " ".join(decorator.args))
            case _:
                changes |= _decorator_fields(decorator)
    changes["match__require"] = tuple(require)
    return DecoratorEffects(entry.changed(**changes), forced, inject, exclude_all)


_NUMBERED = frozenset(
    {
        "activate_only_after", "activate_only_every", "depth", "reverse_depth", "instruct_depth",
        "reverse_instruct_depth", "scan_depth", "instruct_scan_depth", "is_greeting", "probability", "priority",
    }
)  # fmt: skip


def _has_valid_value(decorator: Decorator) -> bool:
    """Whether its value is one."""
    first = decorator.args[0] if decorator.args else ""
    if decorator.name in _NUMBERED:
        bare = first.removeprefix("-")
        return bare.isascii() and bare.isdigit() and len(bare) < 10
    if decorator.name == "role":
        return first in ("system", "user", "assistant")
    return True


def _decorator_fields(decorator: Decorator) -> dict[str, Any]:
    number = int(decorator.args[0]) if decorator.name in _NUMBERED else 0
    first = decorator.args[0] if decorator.args else ""
    changes: dict[str, dict[str, Any]] = {
        "activate_only_after": {"timing__after": number},
        "activate_only_every": {"timing__every": number},
        "keep_activate_after_match": {"timing__keep": True},
        "dont_activate_after_match": {"timing__once": True},
        "depth": {"place__slot": "at_depth", "place__depth": number},
        "instruct_depth": {"place__slot": "at_depth", "place__depth": number, "place__name": "tokens"},
        "reverse_depth": {"place__slot": "at_depth", "place__depth": number, "place__name": "reverse"},
        "reverse_instruct_depth": {"place__slot": "at_depth", "place__depth": number, "place__name": "reverse tokens"},
        "end": {"place__slot": "at_depth", "place__depth": 0},
        "role": {"place__role": first},
        "position": {"place__name": first},
        "scan_depth": {"match__range": Range(number)},
        "instruct_scan_depth": {"match__range": Range(number, "tokens")},
        "is_greeting": {"scope__greeting": number},
        "ignore_on_max_context": {"share__keep_priority": _LAST},
        "probability": {"chance__probability": number},
        "priority": {"share__keep_priority": number},
        "recursive": {"wake__wakes_others": True},
        "unrecursive": {"wake__wakes_others": False},
        "no_recursive_search": {"wake__by_entries": False},
        "match_full_word": {"match__boundary": "word"},
        "match_partial_word": {"match__boundary": "substring"},
    }
    return changes.get(decorator.name, {})


_QUANTIFIER = re.compile(r"\{\d+(?:,\d*)?\}")


@lru_cache(maxsize=20_000)
def compile_key(pattern: str, flags: str) -> KeyPattern | None:
    """A pattern ready to search; None when it is no valid one, or too large.

    Cost: compiled once for a process; searching is linear in the text, or ends after a number of steps.
    """
    if len(pattern) > LONGEST_EXPRESSION or len(set(flags)) != len(flags):
        return None
    try:
        return KeyPattern(
            _translate_regex(pattern, "y" in flags),
            ignore_case="i" in flags,
            multi_line="m" in flags,
            dot_all="s" in flags,
        )
    except ValueError:
        return None


def _translate_regex(pattern: str, sticky: bool) -> str:
    """A JavaScript pattern in the syntax of the `regex` crate."""
    made: list[str] = [r"\A(?:"] if sticky else []
    at, in_class = 0, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            text, at = _escape(pattern, at, in_class)
            made.append(text)
            continue
        if in_class:
            in_class = char != "]"
            made.append(rf"\{char}" if char in "[&~" or (char == "-" and pattern[at : at + 2] == "--") else char)
        elif char == "[":
            text, at, in_class = _class_start(pattern, at)
            made.append(text)
            continue
        elif char == "{" and not _QUANTIFIER.match(pattern, at):
            made.append(r"\{")
        elif char == "}" and not _QUANTIFIER.fullmatch(pattern, max(0, pattern.rfind("{", 0, at)), at + 1):
            made.append(r"\}")
        else:
            made.append(char)
        at += 1
    if sticky:
        made.append(")")
    return "".join(made)


def _class_start(pattern: str, at: int) -> tuple[str, int, bool]:
    if pattern.startswith("[^]", at):
        return r"(?s:.)", at + 3, False
    if pattern.startswith("[]", at):
        return r"[^\x00-\x{10FFFF}]", at + 2, False
    return ("[^", at + 2, True) if pattern.startswith("[^", at) else ("[", at + 1, True)


_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_"}
_SAME = frozenset("sStnrfvDW")


def _escape(pattern: str, at: int, in_class: bool) -> tuple[str, int]:
    char = pattern[at + 1]
    if char in _CLASSES:
        return (_CLASSES[char] if in_class else f"[{_CLASSES[char]}]"), at + 2
    if char in "DW":
        return f"[^{_CLASSES[char.lower()]}]", at + 2
    if char in "bB" and not in_class:
        return rf"(?-u:\{char})", at + 2
    if char == "b":
        return r"\x08", at + 2
    if char in _SAME:
        return rf"\{char}", at + 2
    if char == "0" and not pattern[at + 2 : at + 3].isdigit():
        return r"\x00", at + 2
    if char.isdigit() and not in_class:
        return rf"\{char}", at + 2  # a reference back
    if char in "ux":
        return _code(pattern, at)
    if char == "k" and pattern.startswith("<", at + 2):
        return r"\k", at + 2
    if char in "pP" and pattern.startswith("{", at + 2):
        end = pattern.find("}", at)
        return (pattern[at : end + 1], end + 1) if end > 0 else (char, at + 2)
    if char == "c" and pattern[at + 2 : at + 3].isalpha():
        return rf"\x{ord(pattern[at + 2].upper()) % 32:02x}", at + 3
    return re.escape(char) if char.isascii() else char, at + 2


def _code(pattern: str, at: int) -> tuple[str, int]:
    r"""`\xHH`, `\uHHHH`, `\u{H…}`, and pairs of surrogates as the one character they are."""
    braced = re.compile(r"\\u\{([0-9A-Fa-f]{1,6})\}").match(pattern, at)
    if braced:
        return rf"\x{{{braced[1]}}}", braced.end()
    pair = re.compile(r"\\u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})").match(pattern, at)
    if pair:
        code = 0x10000 + ((int(pair[1], 16) - 0xD800) << 10) + int(pair[2], 16) - 0xDC00
        return rf"\x{{{code:x}}}", pair.end()
    plain = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))").match(pattern, at)
    if plain:
        return rf"\x{{{plain[1] or plain[2]}}}", plain.end()
    return pattern[at + 1], at + 2
