"""Rows of `names.toml`: the parts of names."""

from functools import cache

from armarius.lexicon import word_file


@cache
def _data() -> dict[str, dict[str, str]]:
    return word_file("names")


@cache
def words(table: str, row: str) -> frozenset[str]:
    """The words of a row."""
    return frozenset(_data()[table][row].split())


@cache
def letters(table: str, row: str) -> frozenset[str]:
    """The characters of a row of single-character words."""
    return frozenset("".join(_data()[table][row].split()))
