"""What earlier turns left behind: entries that stick, cool down, are over or stay for good."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from armarius.errors import ContractError

__all__ = ["Effect", "State"]


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
