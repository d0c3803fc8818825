"""What an activation takes and gives: text to scan, random numbers, state, active and skipped entries."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, overload

from armarius.arguments import Turn
from armarius.errors import ContractError
from armarius.headings import Reason
from armarius.lorebooks.record import Entry, Place
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
        return tuple(sorted((one for one in self.active if one.text), key=lambda one: one.order))

    def to_wire(self) -> dict[str, Any]:
        """As JSON: `active` and `left` with book, entry, name, reason, and the state."""
        return {
            "active": [
                {
                    "book": one.book,
                    "entry": one.entry.id,
                    "name": one.entry.name,
                    "place": asdict(one.place),
                    "reason": one.reason,
                    "text": one.text,
                }
                for one in self.active
            ],
            "left": [
                {"book": one.book, "entry": one.entry.id, "name": one.entry.name, "reason": one.reason}
                for one in self.left
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
        for one in rolls:
            if isinstance(one, bool) or not isinstance(one, int | float) or not 0 <= one <= 1:
                raise ContractError(f"rolls: numbers from 0 to 1, got {shown(one)}")
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
            return tuple(Turn("", one) for one in (self.story[0], *self.story[1]) if one)
        return (Turn("", self.text),) if self.text else ()

    def whole(self) -> str:
        """Everything as one text, oldest first."""
        if self.messages:
            return "\n".join(one.content for one in self.messages)
        return "\n".join((self.story[0], *self.story[1])) if self.story is not None else self.text
