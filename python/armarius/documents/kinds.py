"""The words by which names of files, folders and headings say what is in them: `lexicon/kinds.toml`, read once.

Two read it, and ask different things: what kind of document a file is (`classify.py`), what a title announces
(`titles.py`). A word that both should know stands in one row for both.
"""

import re
from collections import defaultdict
from functools import lru_cache
from typing import Any

from armarius.lexicon import word_file
from armarius.text.unicode import fold

__all__ = ["KIND_OF_WORD", "TYPE_OF_WORD", "Glob", "glob", "title_words"]

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


_PART = re.compile(r"(?:\*\*/)+|(?:\*\*(?!/))+|\*|\?|[^*?]", re.DOTALL)


class Glob:
    """A gitignore-like pattern: `**` crosses folders, `*` and `?` do not, a trailing `/` means everything below.

    Every place between two parts of the pattern is a bit; all that the path may have reached so far is one number.
    """

    def __init__(self, pattern: str) -> None:
        pattern = pattern.removeprefix("/") + ("**" if pattern.endswith("/") else "")
        self._chars: dict[str, int] = defaultdict(int)  # by character: the places it leads on from
        self._plain = 0  # places that any character but "/" leads on from
        self._stays = 0  # places that any character but "/" stays at
        self._crosses = 0  # places that any character stays at
        self._one = self._two = 0  # places from which the next, or the one after it, is reached for nothing
        at = 1
        for part in _PART.findall(pattern):
            if part.startswith("**") and part.endswith("/"):  # nothing, or anything that ends in "/"
                self._one |= at
                self._two |= at
                at <<= 1
                self._crosses |= at
                self._chars["/"] |= at
            elif part[0] == "*":
                self._one |= at
                self._stays |= at
                self._crosses |= at if len(part) > 1 else 0
            elif part == "?":
                self._plain |= at
            else:
                self._chars[part] |= at
            at <<= 1
        self._end = at

    def matches(self, path: str) -> bool:
        """Whether the pattern is about this path, all of it. Cost: a few operations per character of the path."""
        places, steps = self._reached(1), self._chars
        for char in path:
            on = steps.get(char, 0)
            stays = self._crosses
            if char != "/":
                on |= self._plain
                stays |= self._stays
            places = self._reached((places & on) << 1 | places & stays)
            if not places:
                return False
        return bool(places & self._end)

    def _reached(self, places: int) -> int:
        while True:
            more = places | (places & self._one) << 1 | (places & self._two) << 2
            if more == places:
                return places
            places = more


@lru_cache(maxsize=1024)
def glob(pattern: str) -> Glob:
    """The pattern, made once."""
    return Glob(pattern)
