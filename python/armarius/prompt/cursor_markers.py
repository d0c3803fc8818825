"""Cursor and selection in the window, in words that a language model reads; no text of the prompt can say them itself.

    林渡把信<selection>收进袖中</selection><cursor/>，没有说话。

A mark stands where its offset is and belongs to none of the adjacent words. A cursor inside a selection is not marked:
what is selected stands word for word.
"""

from collections.abc import Sequence
from typing import Final

__all__ = ["CURSOR", "MARKS", "SELECTED", "marked", "marks_of", "trimmed", "unmarked"]

CURSOR: Final = "<cursor/>"
SELECTED: Final = ("<selection>", "</selection>")
MARKS: Final = (CURSOR, *SELECTED)

Marks = Sequence[tuple[int, str]]


def marks_of(cursor: int | None, selection: tuple[int, int] | None) -> tuple[tuple[int, str], ...]:
    """The marks of a window, in order. Offsets are code points of it; None is not to be marked."""
    if selection is None:
        return () if cursor is None else ((cursor, CURSOR),)
    start, end = selection
    before = ((cursor, CURSOR),) if cursor is not None and cursor <= start else ()
    after = ((cursor, CURSOR),) if cursor is not None and cursor >= end else ()
    return (*before, (start, SELECTED[0]), (end, SELECTED[1]), *after)


def marked(text: str, marks: Marks, start: int = 0, end: int | None = None) -> str:
    """`text[start:end]` with the marks that lie in it or at its ends."""
    end = len(text) if end is None else end
    if not marks:
        return text[start:end]
    pieces, at = [], start
    for offset, mark in marks:
        if start <= offset <= end:
            pieces += [text[at:offset], mark]
            at = offset
    return "".join([*pieces, text[at:end]])


def trimmed(text: str, marks: Marks, start: int = 0, end: int | None = None) -> tuple[int, int]:
    """`start` and `end` without the white space there, but for what stands between a mark and the words."""
    end = len(text) if end is None else end
    piece = text[start:end]
    inside = [offset for offset, _ in marks if start <= offset <= end]
    first = start + len(piece) - len(piece.lstrip())
    last = start + len(piece.rstrip())
    if not inside:
        return min(first, end), max(first, last)
    return min(first, *inside), max(last, *inside)


def unmarked(text: str) -> str:
    """A text without marks."""
    for mark in MARKS:
        text = text.replace(mark, "")
    return text
