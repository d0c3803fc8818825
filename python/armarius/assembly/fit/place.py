"""Decisions of the allocation to text: whole, short, or cut to the tokens granted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from armarius.assembly.fit.cached_counter import CachedCounter
from armarius.assembly.fit.prefix import window
from armarius.assembly.fit.sizes import Size
from armarius.assembly.fit.window import cut
from armarius.assembly.render import SEPARATOR, Placed
from armarius.records import Candidate

__all__ = ["FULL", "OMITTED", "SHORT", "Previous", "place"]

# What `_core.allocate` answers for an item; from 0 on it is the tokens the item may be cut to.
OMITTED, SHORT, FULL = -1, -2, -3


@dataclass(frozen=True, slots=True)
class Previous:
    """What of the previous prompt decides about the next one.

    Attributes:
        prompt: Its text.
        retrieved: The items of its retrieved layer, in their order.
        rows: The paragraphs that filled its room, in their order; not among `retrieved`.
        demand: Its text before they did.
        ends: Where each of `retrieved` ends in `demand`, code points.
        windows: By item: where its piece started in its content, and how that piece began.
    """

    prompt: str = ""
    retrieved: tuple[Placed, ...] = ()
    rows: tuple[Placed, ...] = ()
    demand: str = ""
    ends: tuple[int, ...] = ()
    windows: Mapping[str, tuple[int, str]] = field(default_factory=dict)


def place(
    candidates: Sequence[Candidate],
    sizes: Sequence[Size],
    decisions: Sequence[int],
    measured: CachedCounter,
    windows: Mapping[str, tuple[int, str]],
) -> tuple[list[Placed], bool]:
    """The items that `decisions` let in, and whether a window starts elsewhere than in the previous prompt."""
    placed, moved = [], False
    for candidate, size, decision in zip(candidates, sizes, decisions, strict=True):
        if decision == FULL:
            placed.append(Placed(candidate, candidate.content))
        elif decision == SHORT and candidate.short is not None:
            placed.append(Placed(candidate, candidate.short, "short"))
        elif decision >= 0:
            before = _started(candidate, windows)
            start, end = _cut(candidate, size, decision, before, measured)
            if start < end:
                placed.append(Placed(candidate, candidate.content[start:end], "truncated", (start, end)))
                moved |= before is not None and before != start
    return placed, moved


def _started(candidate: Candidate, windows: Mapping[str, tuple[int, str]]) -> int | None:
    """Where the previous window of this candidate starts in its present content."""
    if candidate.id not in windows:
        return None
    start, head = windows[candidate.id]
    if candidate.content.startswith(head, start):
        return start
    found = candidate.content.find(head)
    return found if found >= 0 else None


def _cut(candidate: Candidate, size: Size, tokens: int, before: int | None, measured: CachedCounter) -> tuple[int, int]:
    allowed = tokens - measured.count(SEPARATOR)
    for _ in range(4):
        if candidate.keep == "around":
            local = None if before is None else before - size.base
            start, end = window(size.text, candidate.anchor - size.base, allowed, measured, local)
        else:
            start, end = cut(size.text, allowed, keep=candidate.keep or "head", counter=measured.counter)
        piece = size.text[start:end]
        start += len(piece) - len(piece.lstrip())
        end -= len(piece) - len(piece.rstrip())
        if start >= end:
            return 0, 0
        over = measured.count_uncached(size.text[start:end] + SEPARATOR) - tokens
        if over <= 0:
            return start + size.base, end + size.base
        allowed -= over
    return 0, 0
