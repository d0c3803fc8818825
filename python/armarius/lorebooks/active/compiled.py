"""Entries compiled for a search: their keys as numbers of an index that finds all at once, their settings as values.

Plain keys go into two automata (case folded and not); a text is read once for all of them. Expressions are searched one
by one, when an entry needs them.
"""

import re
import zlib
from collections.abc import Callable, Sequence
from typing import Final

from armarius._core import KeyPattern, KeySet
from armarius.lorebooks.active.macros import decorated, expanded
from armarius.lorebooks.active.rules import Rules
from armarius.lorebooks.active.scan import Random
from armarius.lorebooks.book import Book
from armarius.lorebooks.js_regex import compiled, expression_of
from armarius.lorebooks.record import Entry, How, Key
from armarius.positions import cleaned

ANY: Final = 0
ASCII_WORD: Final = 1
EDGE: Final = 2
WORD: Final = 3
BREAK: Final = 4
"""What must stand before and after a key: see `Ends` in rust/books/keys.rs."""

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


_NOWHERE = Random()


class CompiledEntry:
    """One entry, ready."""

    __slots__ = (
        "address", "book", "bound", "by_entries", "conditions", "constant", "depth", "entry", "forced", "groups",
        "keys", "level", "never", "original", "patterned", "rank", "scored", "seal", "sources", "timed", "wakes",
    )  # fmt: skip

    def __init__(self, book: Book, original: Entry, rules: Rules, index: KeyIndex, names: tuple[str, str]) -> None:
        ready = decorated(original, rules.decorators)
        entry = ready.entry
        match, wake, timing = entry.match, entry.wake, entry.timing
        self.book, self.entry, self.original = book, entry, original
        self.address = f"{book.id}/{entry.id}"
        self.rank = 0
        self.forced = ready.forced
        self.never = entry.level in ("never", "manual_only") or book.switched_off
        self.constant = entry.level == "always" and not (match.patterns and rules.book_facts)
        self.keys = _refs(match.keys, entry, book, rules, index, names)
        self.conditions: list[tuple[How, list[KeyRef], Sequence[Key]]] = [
            (one.how, _refs(one.keys, entry, book, rules, index, names), one.keys)
            for one in match.require
            if not (match.patterns and rules.book_facts)
        ]
        self.patterned = any(not isinstance(ref, int) for ref in self.keys)
        range_ = match.range if match.range is not None else book.settings.get("range") if rules.book_facts else None
        self.depth = range_.count if range_ is not None and range_.unit == "messages" else None
        self.sources = match.sources
        self.by_entries = wake.by_entries is not False
        self.wakes = wake.wakes_others is not False
        self.level = wake.level or (0 if wake.by_text else 1)
        self.groups = entry.chance.groups
        self.scored = entry.chance.scored
        self.timed = bool(timing.sticky or timing.cooldown or timing.once or timing.keep)
        scope = entry.scope
        scoped = scope.triggers or scope.characters or scope.tags or scope.greeting is not None
        self.bound = bool(self.timed or scoped or timing.delay or timing.after or timing.every)
        self.seal = seal_of(original) if self.timed else 0

    def spelt(self, ref: KeyRef) -> str:
        """The key of a reference as it was written; of several references for one key, the first key."""
        keys = self.entry.match.keys
        return keys[self.keys.index(ref) if len(keys) == len(self.keys) else 0].text.strip()


def seal_of(entry: Entry) -> int:
    """A number that another entry, or this one edited, does not have."""
    said = (entry.text, entry.level, entry.decorators, entry.match, entry.wake, entry.chance, entry.timing)
    return zlib.crc32(repr((said, entry.share, entry.place, entry.scope)).encode("utf-8", "replace"))


def _refs(
    keys: Sequence[Key], entry: Entry, book: Book, rules: Rules, index: KeyIndex, names: tuple[str, str]
) -> list[KeyRef]:
    case = entry.match.case
    if case is None:
        case = book.settings.get("case", rules.case) if rules.book_facts else rules.case
    refs: list[KeyRef] = []
    for key in keys:
        text = key.text
        if "{{" in text or "<" in text:
            text = expanded(text, *names, _NOWHERE)
        if entry.match.patterns and rules.book_facts:
            refs.append(index.expression(text.strip(), bare=True))
        elif key.kind == "regex":
            ref = index.expression(text.strip())
            refs.append(_plain(text, entry, rules, index, case) if ref == NEVER else ref)
        elif key.kind == "wildcard":
            refs.append(index.wildcard(text))
        elif text:
            refs.append(_plain(text, entry, rules, index, case))
            if rules.plural and text.strip()[-1:].isascii() and text.strip()[-1:].isalpha():
                refs.append(_plain(text.strip() + "s", entry, rules, index, case))
    return refs


def _plain(text: str, entry: Entry, rules: Rules, index: KeyIndex, case: bool) -> int:
    text = text.strip()
    words, boundary = rules.words, entry.match.boundary
    if boundary == "substring":
        words = "none"
    elif boundary in ("word", "auto") and words == "none":
        words = "script"
    elif boundary == "word" and rules.chat_marks:
        words = "ascii"
    ends = {"none": ANY, "script": WORD, "ascii": ASCII_WORD}[words]
    if words == "ascii" and len(text.split()) > 1:
        ends = ANY  # white space inside: found anywhere
    if not text and not rules.chat_marks:
        return NEVER
    return index.plain(text, ends, case=case)


class CompiledBooks:
    """Entries of some books under some rules, with the index of their keys.

    Attributes:
        lore: By rank: a higher order first, then as in the books.
        by_key: Number of a primary key to the entries that have it.
        always: Entries that need no key, or have one that is not found by number.
        deepest: The largest range of an entry's own.
        levels: Rounds of recursion that some entries wait for, ascending.
        timed: Whether an earlier turn can matter.
    """

    def __init__(self, books: Sequence[Book], rules: Rules, names: Callable[[str], tuple[str, str]]) -> None:
        self.index = KeyIndex()
        lore = [
            CompiledEntry(book, entry, rules, self.index, names(book.id)) for book in books for entry in book.entries
        ]
        lore.sort(key=lambda one: -one.entry.share.order)
        self.lore = lore
        self.by_key: dict[int, list[int]] = {}
        self.always: list[int] = []
        for rank, one in enumerate(lore):
            one.rank = rank
            if one.never:
                for ref in one.keys:
                    if isinstance(ref, int):
                        self.by_key.setdefault(ref, []).append(rank)
                continue
            if one.constant or one.forced or one.patterned or one.timed:
                self.always.append(rank)
            for ref in one.keys:
                if isinstance(ref, int):
                    self.by_key.setdefault(ref, []).append(rank)
        self.index.close()
        self.deepest = max((one.depth for one in lore if one.depth is not None), default=0)
        self.levels = sorted({one.level for one in lore if one.level > 0 and not one.never})
        self.timed = any(one.timed for one in lore)
