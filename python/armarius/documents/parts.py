"""A path taken apart once: a dozen rules ask one after the other for the stem, the suffix and the folders of a file."""

from functools import lru_cache
from pathlib import PurePosixPath

__all__ = ["parts_of"]

_AT_ONCE = 16


@lru_cache(maxsize=_AT_ONCE)
def parts_of(path: str) -> PurePosixPath:
    """`PurePosixPath(path)`; of the files that are read now it is kept, with its parts."""
    return PurePosixPath(path)
