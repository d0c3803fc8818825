"""Keys of many entries, found all at once: which stand in a text, and whose they are.

Plain keys go into two automata (case folded and not); a text is read once for all of them. Expressions are searched one
by one, when an entry needs them.
"""

import re
from typing import Final

from armarius._core import KeyPattern, KeySet
from armarius.lorebooks.js_regex import compiled, expression_of
from armarius.positions import cleaned

ANY: Final = 0
ASCII_WORD: Final = 1
EDGE: Final = 2
WORD: Final = 3
BREAK: Final = 4
"""What must stand beside a key: see `Ends` in rust/books/keys.rs."""

KeyRef = int | KeyPattern
"""A plain key by its number, or an expression."""
NEVER: Final = -1
"""Of a key that is never found: an expression that is none."""
_KEPT = 512
_WILD = re.compile(r"[\\^$+.()|\[\]{}_]")


def fold(text: str) -> str:
    """Case folded as those engines do."""
    return text.lower()


class KeyIndex:
    """The keys of some books under one profile; filled, then `close`d, then asked."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int, bool], int] = {}
        self._sets: list[tuple[bool, KeySet, list[int]]] = []
        self._known: dict[str, tuple[int, ...]] = {}

    def plain(self, text: str, ends: int, *, case: bool) -> int:
        """The number of a plain key."""
        text = cleaned(text)
        return self._numbers.setdefault((text if case else fold(text), ends, case), len(self._numbers))

    def expression(self, text: str, *, bare: bool = False) -> KeyRef:
        """An expression with slashes; `bare`: without them it is one all the same."""
        said = expression_of(text)
        if said is None:
            if not bare:
                return NEVER
            said = (text, "")
        found = compiled(*said)
        return NEVER if found is None else found

    def wildcard(self, text: str) -> KeyRef:
        """Agnai's keyword: `*` any run of word characters, `?` one; other signs are taken out."""
        body = _WILD.sub("", text.strip())
        if not body:
            return NEVER
        pattern = "".join({"*": r"\w*", "?": r"\w"}.get(char) or re.escape(char) for char in body)
        found = compiled(rf"\b(?:{pattern})\b", "i")
        return NEVER if found is None else found

    def close(self) -> None:
        """Build the automata. Cost: linear in the letters of all keys."""
        for case in (False, True):
            keys = [(text, ends, number) for (text, ends, cased), number in self._numbers.items() if cased == case]
            if keys:
                made = KeySet([text for text, _, _ in keys], [ends for _, ends, _ in keys])
                self._sets.append((case, made, [number for _, _, number in keys]))

    def found(self, text: str) -> tuple[int, ...]:
        """The numbers of the keys that stand in a text. Cost: one pass; none for a text that was just asked about."""
        known = self._known.get(text)
        if known is None:
            numbers: list[int] = []
            for case, keys, named in self._sets:
                numbers += [named[at] for at, _ in keys.found(text if case else fold(text))]
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[text] = tuple(numbers)
        return known
