"""A path taken apart once: a dozen rules ask one after the other for the stem, the suffix and the folders of a file."""

from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

__all__ = ["Parts", "parts_of"]

_AT_ONCE = 16


class Parts(NamedTuple):
    """What `PurePosixPath` says of a path.

    Attributes:
        parts: All of them.
        folders: Those of its parent.
        stem: The last one without its suffix.
        suffix: With the point, "" when there is none.
    """

    parts: tuple[str, ...]
    folders: tuple[str, ...]
    stem: str
    suffix: str


@lru_cache(maxsize=_AT_ONCE)
def parts_of(path: str) -> Parts:
    """A path taken apart; of the files that are read now it is kept."""
    parts = tuple(path.split("/"))
    if "" in parts or "." in parts or path.endswith("."):  # what is not written as simply as it could be
        pure = PurePosixPath(path)
        return Parts(pure.parts, pure.parent.parts, pure.stem, pure.suffix)
    stem, point, suffix = parts[-1].rpartition(".")
    if not stem:  # no point, or a hidden name
        return Parts(parts, parts[:-1], parts[-1], "")
    return Parts(parts, parts[:-1], stem, point + suffix)
