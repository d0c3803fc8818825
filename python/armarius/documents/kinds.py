"""What each kind of document means, the words of names that give a kind, the weights of the evidence for each.

The words are used by `classify.py` (the kind of a document) and `titles.py` (what a title announces); a word for both
is in one row.

A weight is a row: a clue is a feature that a file has, how much of it, and the words of its sentence. Clues add up:
none decides by itself, except a suffix of source code and a kind that front matter states.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple, cast

import armarius._core as _core
from armarius.arguments import KINDS, Kind
from armarius.documents.units import UNNUMBERED, unit_words
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
} | dict.fromkeys(unit_words("latin", "chapter") | unit_words("names", *UNNUMBERED), "chapter")
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
        parts = (
            _MEANING.get(match.lastgroup or "") or re.escape(match[0]) for match in _PART.finditer(_clean_text(pattern))
        )
        whole = rf"\A{''.join(parts)}\z" if len(pattern) <= _LONGEST else r"[^\s\S]"
        self._expression = _core.KeyPattern(whole, dot_all=True)

    def matches(self, path: str) -> bool:
        """Whether the pattern matches the whole path. Cost: about 1 µs."""
        return self._expression.search(_clean_text(path)) == 0


def _clean_text(text: str) -> str:
    """`text` without lone surrogates, which the core does not take."""
    return text.encode("utf-8", "replace").decode()


@lru_cache(maxsize=1024)
def glob(pattern: str) -> Glob:
    """The compiled pattern, cached."""
    return Glob(pattern)


Vote = tuple[Kind, float, str]
"""A kind, the weight of the clue, the clue in words."""

_RANK: Final = {kind: at for at, kind in enumerate(KINDS)}


class Clue(NamedTuple):
    """What speaks for a kind.

    Attributes:
        feature: Names the rows of `WEIGHTS`.
        words: Of the sentence.
        share: How much of the feature there is.
        kind: Where a word says it; else None.
    """

    feature: str
    words: tuple[object, ...] = ()
    share: float = 1.0
    kind: Kind | None = None


class Weight(NamedTuple):
    """A rule of the map: the weight is `base + share * slope`, at most `most`.

    Attributes:
        feature: As in a clue.
        kind: None stands for the kind of the clue, unless the feature has a row for it.
        sentence: With the words of the clue.
        base: Weight of the feature itself.
        slope: Weight by its share.
        most: Upper bound.
    """

    feature: str
    kind: Kind | None
    sentence: str
    base: float = 0.0
    slope: float = 0.0
    most: float = 9.0


WEIGHTS: Final = (
    Weight("project file", "data", "a project of novelWriter", 9.0),
    Weight("main file", "note", "includes the files of a LaTeX document", 2.0),
    Weight("format", "chapter", "a text in the format {}", 8.0),
    Weight("data suffix", None, "a {} file", 1.05, 1.5),  # more where no name says another kind
    # The file name; a share is that of the word in the name, or of lists in the text.
    Weight("supplement", "note", "file name {}: a supplement", 4.0),
    Weight("style guide", "note", "file name {}: how to write", 3.2),
    Weight("whole name", None, "file name: {}", 5.0),
    Weight("word in name", None, "file name: {}", slope=3.2),
    Weight("unit in name, lists", "outline", "file name: {}, and lists", slope=3.2),
    Weight("chapter number", "chapter", "file name {}: chapter {}", 4.0, -2.2),
    Weight("chapter number, lists", "outline", "file name {}: chapter {}, and lists", slope=1.2),
    Weight("title", None, "file name: {}", slope=1.5),
    # Folders; a share is less for a folder further up.
    Weight("template folder", "template", "folder {}", 6.0),
    Weight("folder", None, "folder {}: {}", slope=1.8),
    Weight("folder", "tool", "folder {}: {}", slope=1.26),
    Weight("volume folder", "chapter", "folder {}: a volume", 1.2),
    # Front matter.
    Weight("kind field", None, "front matter {}: {}", slope=4.0),
    Weight("tag field", None, "front matter {}: {}", slope=2.0),
    Weight("sheet fields", "setting", "front matter of a sheet: {}", 2.0),
    # Headings; a share is that of the word in the heading, or of lists in the text.
    Weight("chapter heading", "chapter", "heading {}", 3.2, -2.8),
    Weight("heading", None, "heading: {}", slope=2.0),
    Weight("heading", "chapter", "heading: {}", slope=1.0),
    Weight("headings, lists", "outline", "headings of {} chapters above lists", 2.0),
    # The text; a share is of its lines.
    Weight("most fields empty", "template", "{} of {} fields are empty", 6.0),
    Weight("list of files", "data", "a list of files", 9.0),
    Weight("citations", "chapter", "speaks of {} chapters", -4.0),
    Weight("dialogue", "chapter", "prose with dialogue", 0.9),
    Weight("prose", "chapter", "prose", 0.4),
    Weight("lists", "chapter", "lists", slope=-2.0),
    Weight("words of a kind", None, "words of its headings and fields: {}", 0.0, 0.35, 2.4),
    Weight("words of a kind", "setting", "words of its headings and fields: {}", 0.0, 0.35, 1.6),
    Weight("fields", "setting", "fields with values", 0.7),
    # The other files.
    Weight("only story", "chapter", "prose with dialogue, and no other story", 1.5),
    Weight("run", "chapter", "{} files of its folder count on", 2.0),
    Weight("in an order", "chapter", "listed among the chapters", 0.5, 6.5),
    Weight("companion", "chapter", "the numbers of {}, with {}", -6.0),
    Weight("kind of companions", None, "the numbers of {}, with {}", 5.0),
    Weight("alike in its folder", None, "{} of {} files of its folder", slope=2.0),
    Weight("alike in its series", None, "{} of {} files of its series", slope=4.5),
    Weight("alike in its series", "chapter", "{} of {} files of its series", slope=7.0),
)

_ROWS: Final = {feature: {row.kind: row for row in rows} for feature, rows in groupby(WEIGHTS, attrgetter("feature"))}


def votes_of(clues: Iterable[Clue]) -> list[Vote]:
    """What the clues weigh, in their order."""
    votes = []
    for feature, words, share, name in clues:
        rows = _ROWS[feature]
        for row in rows.values() if name is None else filter(None, [rows.get(name) or rows.get(None)]):
            kind = row.kind or name
            if kind is not None and (weight := min(row.most, row.base + row.slope * share)):
                votes.append((kind, weight, row.sentence.format(*words)))
    return votes


def best_of(votes: Sequence[Vote]) -> tuple[Kind, float, tuple[str, ...]]:
    """The kind with the most weight, the confidence (0 to 1) by its lead, and its clues, the weightiest first."""
    sums, kind = sums_of(votes)
    most = sums.pop(kind)
    clues = sorted([vote for vote in votes if vote[0] == kind and vote[1] > 0], key=itemgetter(1), reverse=True)
    sure = round(min(1.0, 0.5 + (most - max((0.0, *sums.values()))) / 5), 2)
    return kind, sure, tuple(dict.fromkeys(map(itemgetter(2), clues)))


def sums_of(votes: Iterable[Vote]) -> tuple[dict[Kind, float], Kind]:
    """The weight of each kind, and the heaviest; a file without evidence is a note."""
    sums: dict[Kind, float] = {"note": 1.0}
    for kind, weight, _ in votes:
        sums[kind] = sums.get(kind, 0.0) + weight
    return sums, max(sorted(sums, key=_RANK.__getitem__), key=sums.__getitem__)
