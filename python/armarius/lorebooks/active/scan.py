"""The input of an activation: messages or a text, the host's names, settings, random numbers."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from armarius.arguments import Turn
from armarius.errors import ContractError
from armarius.validation import shown

__all__ = ["Scan"]


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
