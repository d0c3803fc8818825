"""What a search of the books answers: the active entries in order, and those that were close."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from armarius.lorebooks.active.state import State
from armarius.lorebooks.record import Entry, Place

__all__ = ["Activation", "Active", "Left"]


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
class Left:
    """One entry that a key found, or that would be active but for the reason."""

    book: str
    entry: Entry
    reason: str


@dataclass(frozen=True, slots=True)
class Activation(Sequence[Active]):
    """The active entries, in the order of the profile. A sequence of `Active`.

    Attributes:
        active: The same.
        left: What was close, with its reason.
        state: To be handed to the next turn.
    """

    active: tuple[Active, ...]
    left: tuple[Left, ...]
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
