"""What an import or an export could not carry over, row by row; nothing is lost in silence."""

from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["Conflict", "Loss", "dotted"]


class Loss(NamedTuple):
    """One field that is kept but has no effect, a value that was repaired, or two spellings that disagree.

    Attributes:
        path: Where it stands in the file: `entries.6.automationId`.
        value: As written.
        reason: One sentence.
    """

    path: str
    value: Any
    reason: str

    def __str__(self) -> str:
        value = repr(self.value)
        return f"{self.path} = {value if len(value) <= 60 else value[:59] + '…'}: {self.reason}"


class Conflict(NamedTuple):
    """A field that was changed here and in the file that is imported again.

    Attributes:
        entry: Id of the entry.
        field: Dotted, as `match.keys`.
        base: What the file said when it was imported before.
        ours: What it was changed to here; it stays.
        theirs: What the file says now.
    """

    entry: str
    field: str
    base: Any
    ours: Any
    theirs: Any


def dotted(path: Iterable[str | int]) -> str:
    """A path inside a file as text."""
    return ".".join(str(part) for part in path)
