"""Patterns of `armarius.toml` over paths, in time linear in the path whatever the pattern.

A pattern came with the project: as a regular expression `*a*a*a*a*a*b` would take hours over a path of many `a`.
"""

import re
from collections import defaultdict
from functools import lru_cache

__all__ = ["Glob", "glob"]

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
