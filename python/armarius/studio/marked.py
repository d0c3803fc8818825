"""A text in pieces to show: what a cache keeps, who is mentioned."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Mark", "Paragraph", "Piece", "in_paragraphs", "pieces"]


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


class Paragraph(NamedTuple):
    """Pieces up to the end of a paragraph, and where that is, in code points; what follows the last one has none."""

    pieces: tuple[Piece, ...]
    end: int | None


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


def in_paragraphs(cut: Sequence[Piece], ends: Sequence[int]) -> list[Paragraph]:
    """Pieces of a text put together by paragraph; a mark that goes on beyond an end stays in the earlier one.

    Args:
        cut: What `pieces` gave.
        ends: Where paragraphs end, ascending.
    """
    found: list[Paragraph] = []
    mine: list[Piece] = []
    at, number = 0, 0
    for piece in cut:
        text = piece.text
        while number < len(ends) and at + len(text) >= ends[number]:
            head = len(text) if piece.entity else max(0, ends[number] - at)
            if head:
                mine.append(piece._replace(text=text[:head]))
            found.append(Paragraph(tuple(mine), ends[number]))
            text, at, mine, number = text[head:], at + head, [], number + 1
        if text:
            mine.append(piece._replace(text=text))
            at += len(text)
    return [*found, Paragraph(tuple(mine), None)] if mine else found
