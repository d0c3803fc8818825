"""The result of an activation: active entries in order, skipped entries with reasons, and the state for later turns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

from armarius.errors import ContractError
from armarius.lorebooks.record import Entry, Place

__all__ = ["Activation", "Active", "Effect", "SkippedEntry", "State"]


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
    reason: str


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
                    "place": {
                        "slot": one.place.slot,
                        "depth": one.place.depth,
                        "role": one.place.role,
                        "name": one.place.name,
                    },
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
