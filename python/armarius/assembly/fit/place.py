"""Decisions of the allocation to text: whole, short, or cut to the tokens granted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from armarius.assembly.fit.cached_counter import CachedCounter
from armarius.assembly.fit.prefix import window
from armarius.assembly.fit.sizes import Sizes
from armarius.assembly.fit.window import cut
from armarius.assembly.render import SEPARATOR, Placed
from armarius.marks import marked, trimmed
from armarius.records import Candidate

__all__ = ["FULL", "OMITTED", "SHORT", "Previous", "place"]

# What `_core.allocate` answers for an item; from 0 on it is the tokens the item may be cut to.
OMITTED, SHORT, FULL = -1, -2, -3
_WINDOWS = 8  # that are remembered: while its author asks one thing after another, a document stands where it stood


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
    sizes: Sizes,
    decisions: Sequence[int],
    measured: CachedCounter,
    windows: Mapping[str, tuple[int, str]],
) -> tuple[list[Placed], bool]:
    """The items that `decisions` let in, and whether a window starts elsewhere than in the previous prompt."""
    placed, moved = [], False
    for index, decision in enumerate(decisions):
        if decision == OMITTED:
            continue
        candidate = candidates[index]
        if decision == FULL:
            placed.append(Placed(candidate, marked(candidate.content, candidate.marks)))
        elif decision == SHORT and candidate.short is not None:
            placed.append(Placed(candidate, candidate.short, "short"))
        elif decision >= 0:
            before = _started(candidate, windows)
            start, end = _cut(candidate, sizes.piece(index), decision, before, measured)
            if start < end:
                text = marked(candidate.content, candidate.marks, start, end)
                placed.append(Placed(candidate, text, "truncated", (start, end)))
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


def _cut(
    candidate: Candidate, piece: tuple[str, int], tokens: int, before: int | None, measured: CachedCounter
) -> tuple[int, int]:
    """Which code points of a content fit into `tokens`; (0, 0) for none. A core is always among them.

    `piece` is what of the content can matter, and where it starts there.
    """
    text, base = piece
    marks = tuple((offset - base, mark) for offset, mark in candidate.marks)
    allowed = tokens - measured.count(SEPARATOR) - sum(measured.counts([mark for _, mark in marks]))
    for _ in range(4):
        if candidate.keep == "around":
            start, end = _around(candidate, piece, allowed, None if before is None else before - base, measured)
        else:
            start, end = cut(text, allowed, keep=candidate.keep or "head", counter=measured.counter)
        start, end = trimmed(text, marks, start, end)
        if start >= end:
            break
        over = measured.section(marked(text, marks, start, end)) - tokens
        if over <= 0:
            return start + base, end + base
        allowed -= over
    return (0, 0) if candidate.core is None else candidate.core


def _around(
    candidate: Candidate, piece: tuple[str, int], allowed: int, before: int | None, measured: CachedCounter
) -> tuple[int, int]:
    """The window around the cursor, or around the core: it counts as one place, and what is around it is cut."""
    text, base = piece
    if candidate.core is None:
        key = text, candidate.anchor - base, allowed, before
        known = measured.windows.get(key)
        if known is None:
            if len(measured.windows) >= _WINDOWS:
                measured.windows.clear()
            known = measured.windows[key] = window(text, key[1], allowed, measured, before)
        return known
    first, last = (end - base for end in candidate.core)
    rest = text[:first] + text[last:]
    room = allowed - measured.count(text[first:last])
    start, end = window(rest, first, room, measured, before if before is None or before <= first else None)
    return min(start, first), max(end, first) + last - first
