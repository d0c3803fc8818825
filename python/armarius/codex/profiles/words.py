"""The vocabulary of `lexicon/profiles.toml`, read once at import; comparison happens on folded text."""

from typing import Any

from armarius.lexicon import word_file
from armarius.text.folding import fold

__all__ = ["meanings", "words", "words_of"]

_DATA: dict[str, Any] = word_file("profiles")


def words(name: str) -> frozenset[str]:
    """The folded words of one list."""
    return frozenset(fold(word) for word in _DATA[name].split())


def meanings(name: str) -> dict[str, str]:
    """Folded word -> the row of the table `name` that it stands in."""
    return {fold(word): row for row, value in _DATA[name].items() for word in value.split()}


def words_of(name: str) -> dict[str, dict[str, str]]:
    """The table `name`, whose values are words as they are shown."""
    table: dict[str, dict[str, str]] = _DATA[name]
    return table
