"""Entries made ready for a search in rounds: keys as numbers, settings as values, in the order they are judged."""

import zlib
from collections.abc import Callable, Sequence

from armarius.lorebooks.active.index import ANY, ASCII_WORD, NEVER, WORD, KeyIndex, KeyRef
from armarius.lorebooks.active.macros import decorated, expanded
from armarius.lorebooks.active.rules import Rules
from armarius.lorebooks.active.scan import Random
from armarius.lorebooks.book import Book
from armarius.lorebooks.record import Entry, How, Key

_NOWHERE = Random()


class Lore:
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


class Ready:
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
        lore = [Lore(book, entry, rules, self.index, names(book.id)) for book in books for entry in book.entries]
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
