"""Constant entries apart from the text that is written: what they are depends on their books alone.

Settings and rules stand at the head of a prompt, and whatever differs there makes all behind it new to a cache
(docs/decisions/0032). So constant entries are drawn by a seed of book and entry, without timing, in a search that no
text is part of. The search of the text then takes them as they were decided: they wake others and use budget there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from armarius.lorebooks.activate import Activator
from armarius.lorebooks.active.result import Activation
from armarius.lorebooks.active.scan import Scan
from armarius.lorebooks.active.state import State
from armarius.lorebooks.book import Book
from armarius.lorebooks.record import Decorator, Entry, Timing

__all__ = ["Standing", "standing"]

_TIMED = frozenset(
    {"activate_only_after", "activate_only_every", "keep_activate_after_match", "dont_activate_after_match"}
)
_DRAWN = _TIMED | {"probability"}
_DECIDED = ("lost ", "budget")  # beginnings of reasons that the text must not overturn


@dataclass(frozen=True, slots=True)
class Standing:
    """The constant entries of some books.

    Attributes:
        found: The active ones, and those that were close.
        books: To be searched with the text: the active ones certain, those that lost gone.
        active: `book/entry` of the active ones.
    """

    found: Activation
    books: tuple[Book, ...]
    active: frozenset[str]


def standing(activator: Activator, books: Sequence[Book], scan: Scan) -> Standing:
    """Decide on the constant entries.

    Args:
        activator: Keeps the keys ready.
        books: All that are searched.
        scan: Without messages or text.

    Cost: one search of nothing; linear in the number of entries.
    """
    constant = [
        replace(book, entries=tuple(_timeless(one, _TIMED) for one in book.entries if one.level == "always"))
        for book in books
    ]
    found = activator.search([book for book in constant if book.entries], scan, state=State())
    active = frozenset(f"{one.book}/{one.entry.id}" for one in found)
    lost = frozenset(f"{one.book}/{one.entry.id}" for one in found.left if one.reason.startswith(_DECIDED))
    decided = []
    for book in books:
        entries = []
        for one in book.entries:
            address = f"{book.id}/{one.id}"
            if address in active:
                one = _timeless(one, _DRAWN)
                one = replace(one, chance=replace(one.chance, probability=None))
            if address not in lost:
                entries.append(one)
        decided.append(replace(book, entries=tuple(entries)))
    return Standing(found, tuple(decided), active)


def _timeless(entry: Entry, names: frozenset[str]) -> Entry:
    kept: list[Decorator] = []
    dropped = False
    for one in entry.decorators:
        if one.fallback and dropped:
            continue
        dropped = one.name in names
        if not dropped:
            kept.append(one)
    return replace(entry, timing=Timing(), decorators=tuple(kept))
