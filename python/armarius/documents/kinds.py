"""What each kind of document means, and the words of names that give a kind: `lexicon/kinds.toml`, read once.

The words are used by `classify.py` (the kind of a document) and `titles.py` (what a title announces); a word for both
is in one row.
"""

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

import armarius._core as _core
from armarius.arguments import Kind
from armarius.documents.units import UNNUMBERED, listed
from armarius.lexicon import word_file
from armarius.text.unicode import fold


class KindUse(NamedTuple):
    """What a kind means for prompts.

    Attributes:
        story: Text of the story: it has a place in its order.
        hidden: In no prompt unless asked for by name, or nothing else answers.
        cards: Its sections may describe entities.
        prose: Running prose: what is close in meaning is looked for in it.
    """

    story: bool = False
    hidden: bool = False
    cards: bool = False
    prose: bool = False


USES: Final[dict[Kind, KindUse]] = {
    "chapter": KindUse(story=True, prose=True),
    "manuscript": KindUse(story=True, prose=True),
    "outline": KindUse(cards=True),
    "setting": KindUse(cards=True),
    "state": KindUse(cards=True),
    "summary": KindUse(),
    "review": KindUse(hidden=True),
    "note": KindUse(cards=True, prose=True),
    "template": KindUse(hidden=True),
    "tool": KindUse(hidden=True),
    "data": KindUse(),
    "code": KindUse(),
}
STORY_KINDS: Final[tuple[Kind, ...]] = tuple(kind for kind, use in USES.items() if use.story)
HIDDEN_KINDS: Final[tuple[Kind, ...]] = tuple(kind for kind, use in USES.items() if use.hidden)
CARD_KINDS: Final[tuple[Kind, ...]] = tuple(kind for kind, use in USES.items() if use.cards)
PROSE_KINDS: Final[tuple[Kind, ...]] = tuple(kind for kind, use in USES.items() if use.prose)

_DATA: dict[str, Any] = word_file("kinds")
_BOTH: dict[str, dict[str, str]] = _DATA["both"]


def _title_row(row: str, listed: str) -> frozenset[str]:
    both = (rows.get(row, "") for rows in _BOTH.values())
    return frozenset(fold(word) for words in (listed, *both) for word in words.split())


def title_words(row: str) -> frozenset[str]:
    """The folded words of one row, for titles."""
    return _title_row(row, _DATA["titles"][row])


KIND_OF_WORD: dict[str, Kind] = {
    word: cast("Kind", kind)
    for kind, only in _DATA["files"].items()
    for words in (only, *_BOTH.get(kind, {}).values())
    for word in words.split()
} | dict.fromkeys(listed("latin", "chapter") | listed("names", *UNNUMBERED), "chapter")
"""Lower-case word in a name to the kind of document."""


def _rows(table: str) -> dict[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in _DATA[table].items()}


EDITION_WORDS: Final = _rows("editions")
"""Words of names for another edition, or for a draft."""
CONTENT_WORDS: Final = _rows("content")
"""Kind to words of its headings and fields."""
LANGUAGE_WORDS: Final = _rows("languages")
"""Language to its most frequent words."""

TYPE_OF_WORD: dict[str, str] = {
    word: kind for kind, words in _DATA["types"].items() for word in _title_row(kind, words)
}
"""Folded word to the type of entity that it names."""


_PART = re.compile(r"(?P<inside>\*\*/)+|(?P<all>\*\*(?!/))+|(?P<name>\*)|(?P<one>\?)|[^*?]+")
_MEANING = {"inside": "(?:.*/)?", "all": ".*", "name": "[^/]*", "one": "[^/]"}
_LONGEST = 1_000  # code points of a pattern; a longer one matches nothing


class Glob:
    """A gitignore-like pattern: `**` crosses folders, `*` and `?` do not, a trailing `/` means everything below.

    A regular expression of the core, which runs in time linear in the path.
    """

    def __init__(self, pattern: str) -> None:
        pattern = pattern.removeprefix("/") + ("**" if pattern.endswith("/") else "")
        parts = (_MEANING.get(one.lastgroup or "") or re.escape(one[0]) for one in _PART.finditer(_sound(pattern)))
        whole = rf"\A{''.join(parts)}\z" if len(pattern) <= _LONGEST else r"[^\s\S]"
        self._expression = _core.KeyPattern(whole, dot_all=True)

    def matches(self, path: str) -> bool:
        """Whether the pattern matches the whole path. Cost: about 1 µs."""
        return self._expression.search(_sound(path)) == 0


def _sound(text: str) -> str:
    """`text` without lone surrogates, which the core does not take."""
    return text.encode("utf-8", "replace").decode()


@lru_cache(maxsize=1024)
def glob(pattern: str) -> Glob:
    """The compiled pattern, cached."""
    return Glob(pattern)
