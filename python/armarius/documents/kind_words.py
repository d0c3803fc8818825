"""The words by which names of files, folders and headings say what is in them: `lexicon/kinds.toml`, read once.

Two read it, and ask different things: what kind of document a file is (`classify.py`), what a title announces
(`titles.py`). A word that both should know stands in one row for both.
"""

from typing import Any

from armarius.lexicon import word_file
from armarius.text.folding import fold

__all__ = ["KIND_OF_WORD", "TYPE_OF_WORD", "title_words"]

_DATA: dict[str, Any] = word_file("kinds")
_BOTH: dict[str, dict[str, str]] = _DATA["both"]


def _title_row(row: str, listed: str) -> frozenset[str]:
    both = (rows.get(row, "") for rows in _BOTH.values())
    return frozenset(fold(word) for words in (listed, *both) for word in words.split())


def title_words(row: str) -> frozenset[str]:
    """The folded words of one row, as titles are made of them."""
    return _title_row(row, _DATA["titles"][row])


KIND_OF_WORD: dict[str, str] = {
    word: kind
    for kind, only in _DATA["files"].items()
    for words in (only, *_BOTH[kind].values())
    for word in words.split()
}
"""Word, in lower case, to the kind of document whose name holds it."""

TYPE_OF_WORD: dict[str, str] = {
    word: kind for kind, words in _DATA["types"].items() for word in _title_row(kind, words)
}
"""Folded word to the type of entity that it names."""
