"""The words of `names.toml`: what names are made of."""

from dataclasses import dataclass
from functools import cache

from armarius.lexicon import word_file

__all__ = ["RawName", "groups", "letters", "words"]


@cache
def _data() -> dict[str, dict[str, str]]:
    return word_file("names")


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


@dataclass(frozen=True, slots=True)
class RawName:
    """One form.

    Attributes:
        name: As written.
        count: How often.
        kind: `person`, `place` or `thing`.
        reason: What speaks for it.
        aliases: Filled in when forms are put together.
    """

    name: str
    count: int
    kind: str
    reason: str
    aliases: tuple[str, ...] = ()
