"""Two spellings of one word compared: labels, titles, names of records."""

import unicodedata
from typing import Final

__all__ = ["APOSTROPHES", "caseless", "fold", "slug"]

APOSTROPHES: Final = str.maketrans("‘’ʼ", "'''")  # the core's `is_apostrophe` (rust/text/normalize.rs)


def fold(text: str) -> str:
    """`text` for comparison: NFKC, case folded, white space collapsed, every apostrophe a straight one.

    Names inside running text are compared by the matcher, which also keeps the places (`rust/text/normalize.rs`).
    """
    return _folded(text).translate(APOSTROPHES)


def caseless(name: str) -> str:
    """A name as the matcher hears it, but for what is rare: without case, every apostrophe a straight one."""
    return name.lower().translate(APOSTROPHES)


def slug(name: str) -> str:
    """`name` as an id: folded, but for its apostrophes, which ids that were given have kept; without white space."""
    return _folded(name).replace(" ", "-")


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
