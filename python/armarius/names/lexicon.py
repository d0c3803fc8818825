"""The words of `names.toml`: what names are made of."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["groups", "letters", "words"]


@cache
def _data() -> dict[str, dict[str, str]]:
    data: dict[str, Any] = tomllib.loads(files("armarius.lexicon").joinpath("names.toml").read_text(encoding="utf-8"))
    return data


@cache
def words(table: str, row: str) -> frozenset[str]:
    """The words of a row."""
    return frozenset(_data()[table][row].split())


@cache
def letters(table: str, row: str) -> frozenset[str]:
    """The characters of a row whose words are single characters."""
    return frozenset("".join(_data()[table][row].split()))


@cache
def groups(table: str, row: str) -> dict[str, frozenset[str]]:
    """Word to all words that mean the same, for a row of words joined by slashes."""
    found: dict[str, frozenset[str]] = {}
    for group in _data()[table][row].split():
        same = frozenset(group.split("/"))
        found |= {word: found.get(word, frozenset()) | same for word in same}
    return found
