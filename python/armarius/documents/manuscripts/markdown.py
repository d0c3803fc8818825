"""Paragraphs, headings and notes, put together as Markdown."""

import re

__all__ = ["Markdown", "one_line"]

_SPACE = re.compile(r"[ \t\r\n\f\v\u00a0]+")
_POSING = re.compile(r"^(?=#{1,6}(?:\s|$)|---\s*$|```|~~~)", re.MULTILINE)


def one_line(text: str) -> str:
    """White space as single spaces."""
    return _SPACE.sub(" ", text).strip()


class Markdown:
    """Collects blocks; `text()` is the document."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._notes: list[str] = []

    def heading(self, text: str, level: int) -> None:
        """A heading of level 1 to 6; one without words is nothing."""
        if text := one_line(text):
            self._blocks.append(f"{'#' * min(max(level, 1), 6)} {text}")

    def paragraph(self, text: str) -> None:
        """A paragraph; line breaks inside stay, and it cannot pose as a heading."""
        lines = [" ".join(line.split()) for line in text.split("\n")]
        if text := "\n".join(line for line in lines if line):
            self._blocks.append(_POSING.sub(r"\\", text))

    def note(self, text: str) -> str:
        """A footnote; gives the mark that stands for it in the text."""
        self._notes.append(one_line(text))
        return f"[^{len(self._notes)}]"

    def text(self) -> str:
        """All of it, notes behind."""
        notes = [f"[^{number}]: {text}" for number, text in enumerate(self._notes, 1)]
        return "\n\n".join((*self._blocks, *notes)) + ("\n" if self._blocks or notes else "")
