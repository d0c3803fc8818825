"""What a sentence says of an attribute, in a form that two sentences can be compared by.

Five kinds of value can be compared without understanding the story: a place, a number of years, who of two is the
older, a part of the body, a colour. Two sentences compete when they speak of one attribute and share no value; which
of them is right is for the writer to say.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from armarius.matching import Mention
from armarius.project.numerals import parse_numeral
from armarius.retrieval.library import Library
from armarius.retrieval.words import Phrases, concepts, table

__all__ = ["ATTRIBUTES", "Topic", "topic_of", "values_in", "without_names"]

_YEARS = re.compile(
    r"(?<![比第])([零〇一二两三四五六七八九十百\d]{1,5})\s*岁|\b(\d{1,3}|[a-z]+(?:-[a-z]+)?)[\s-]years?[\s-]old\b"
)
_WHO = r"[^，。；、：“”‘’！？\s的得]{1,6}?"
_OLDER_ZH = re.compile(
    rf"(?P<left>{_WHO})比(?P<right>{_WHO})(?P<way>年?[大长小幼]|年[长轻])(?=[一二两三四五六七八九十几\d]|些|$|[，。；、！？”])"
)
_OLDER_EN = re.compile(
    r"(?P<left>[\w'’]+)(?:\s+\w+){0,6}?\s+(?P<way>older|younger|elder)\s+(?:than|sister of|brother of)\s+"
    r"(?P<right>[\w'’]+)",
    re.IGNORECASE,
)
_ANY = ("body", "colour")
_DIMENSIONS = {
    "age": ("age",),
    "house": ("place",),
    "mark": ("body",),
    "appearance": ("colour", "body"),
    "wound": ("body",),
}
# The attributes that sentences can be compared by when none is named.
ATTRIBUTES = tuple(_DIMENSIONS)


@dataclass(frozen=True, slots=True)
class Topic:
    """An attribute as it is looked for.

    Attributes:
        name: As asked for.
        concepts: Of the vocabulary.
        dimensions: The kinds of value that are compared: age, place, body, colour.
        words: Whatever betrays that a sentence speaks of it.
        valued: A sentence without a value says nothing of it; False when the attribute is not known to have any.
    """

    name: str
    concepts: tuple[str, ...]
    dimensions: tuple[str, ...]
    words: tuple[str, ...]
    valued: bool


def topic_of(attribute: str) -> Topic:
    """The topic of an attribute name or of a question: 年龄, 住处, "eye colour"."""
    named = tuple(dict.fromkeys(name for found in concepts().find(attribute) for name in found.value[0]))
    dimensions = tuple(dict.fromkeys(one for name in named for one in _DIMENSIONS.get(name, ())))
    known = table("concepts")
    words = [word.replace("-", " ") for name in named for word in known[name]]
    return Topic(attribute, named, dimensions or _ANY, tuple(dict.fromkeys([attribute, *words])), bool(dimensions))


def values_in(library: Library, sentence: str, mentions: Sequence[Mention], topic: Topic) -> frozenset[str]:
    """The values that a sentence gives, each prefixed by its kind; empty when it gives none.

    Args:
        library: For the types of entities.
        sentence: One sentence.
        mentions: The entities mentioned in it.
        topic: Which kinds of value count.
    """
    found: set[str] = set()
    bare = without_names(sentence, mentions)  # a place called 翠 is not green
    if "place" in topic.dimensions:
        found |= {
            f"place:{mention.entity_id}"
            for mention in mentions
            if library.entities[mention.entity_id].type == "location"
        }
    if "age" in topic.dimensions:
        found |= _ages(sentence)
    for kind in ("body", "colour"):
        if kind in topic.dimensions and _first_letters(kind).search(bare):
            found |= {f"{kind}:{one.value}" for one in _values(kind).find(bare)}
    return frozenset(found)


def without_names(sentence: str, mentions: Sequence[Mention]) -> str:
    """The sentence with spaces in place of the names in it."""
    for mention in mentions:
        sentence = sentence[: mention.start] + " " * (mention.end - mention.start) + sentence[mention.end :]
    return sentence


def _ages(sentence: str) -> set[str]:
    found = set()
    for match in _YEARS.finditer(sentence.lower()):
        years = parse_numeral(match[1] or match[2])
        before = sentence[max(0, match.start() - 1) : match.start()]
        if years is not None and before not in ("大", "小", "长"):
            found.add(f"years:{years}")
    for pattern in (_OLDER_ZH, _OLDER_EN):
        for match in pattern.finditer(sentence):
            left, right = match["left"], match["right"]
            younger = match["way"].lower() in ("小", "幼", "年幼", "年轻", "年小", "younger")
            found.add(f"older:{right if younger else left}")
    return found


@cache
def _values(kind: str) -> Phrases[str]:
    rows = table(kind)
    return Phrases({word: name for name, words in rows.items() for word in words})


@cache
def _first_letters(kind: str) -> re.Pattern[str]:
    """What a sentence without any value of this kind does not hold; looking costs next to nothing."""
    words = [word for row in table(kind).values() for word in row]
    latin = "|".join(sorted({re.escape(word.split("-")[0]) for word in words if word.isascii()}))
    other = "".join(sorted({word[0] for word in words if not word.isascii()}))
    return re.compile(rf"[{other}]|\b(?:{latin})", re.IGNORECASE)
