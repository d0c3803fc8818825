"""Two spellings of one word compared: labels, titles, names of records."""

import unicodedata

__all__ = ["fold", "slug"]


def fold(text: str) -> str:
    """`text` for comparison: NFKC, case folded, white space collapsed.

    Names inside running text are compared by the matcher, which also keeps the places (`rust/text/normalize.rs`).
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def slug(name: str) -> str:
    """`name` folded, as an id: without white space."""
    return fold(name).replace(" ", "-")
