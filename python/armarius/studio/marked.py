"""A text in pieces to show: what a cache keeps, who is mentioned."""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Mark", "Piece", "pieces"]


class Mark(NamedTuple):
    """A mention: code points, half-open, and who."""

    start: int
    end: int
    entity: str


class Piece(NamedTuple):
    """A piece of a text: what it says, who it names ("" nobody), whether a cache keeps it."""

    text: str
    entity: str
    kept: bool


def pieces(text: str, marks: Iterable[Mark] = (), *, kept: int = 0) -> list[Piece]:
    """`text` cut where a mark begins or ends and where what is kept ends; joined they are the text.

    Of overlapping marks the first, then the longest, is shown.
    """
    shown: list[Mark] = []
    for mark in sorted(marks, key=lambda one: (one.start, -one.end)):
        if 0 <= mark.start < mark.end <= len(text) and (not shown or mark.start >= shown[-1].end):
            shown.append(mark)
    cuts = sorted({0, min(kept, len(text)), len(text), *(at for one in shown for at in one[:2])})
    by_start = {one.start: one for one in shown}
    found, inside = [], None
    for start, end in pairwise(cuts):
        inside = by_start.get(start, inside)
        if inside is not None and start >= inside.end:
            inside = None
        found.append(Piece(text[start:end], "" if inside is None else inside.entity, end <= kept))
    return found
