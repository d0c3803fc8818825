"""Words for what people are to each other: 母亲, 儿媳妇, 师徒, "sister of", "daughter-in-law"."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

import armarius._core as _core
from armarius.lexicon import word_file
from armarius.text.unicode import UNSPACED

T = TypeVar("T")
Tokens = list[tuple[str, int, int]]

_TOKEN = re.compile(rf"([{UNSPACED}])|[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)*|\d+")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_SPACED = re.compile(rf"[^\W_{UNSPACED}]")  # a letter or digit that is part of a longer token


class KinshipMatch(NamedTuple, Generic[T]):
    """A phrase in a text: `text[start:end]`, and what stands behind it."""

    start: int
    end: int
    value: T


class Phrases(Generic[T]):
    """Phrases of any script, each with a value.

    Args:
        entries: Phrase to value; a `-` inside a Latin phrase stands for a space or a hyphen.

    Cost: to find, linear in the text, times the longest phrase where one may begin; no regular expression per phrase.
    """

    __slots__ = ("_longest", "_sieve", "_values")

    def __init__(self, entries: Mapping[str, T]) -> None:
        self._values: dict[tuple[str, ...], T] = {}
        for phrase, value in entries.items():
            key = tuple(token for token, _, _ in _tokens(phrase.replace("-", " ")))
            if key:
                self._values.setdefault(key, value)
        self._longest: dict[str, int] = {}  # by first token
        for key in self._values:
            self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))
        self._sieve: tuple[re.Pattern[str] | None, bool] | None = None

    def occur_in(self, text: str) -> bool:
        """Whether `find` finds anything.

        Cost: one search for the phrases of unspaced scripts; of a text without other letters nothing more is read.
        """
        if self._sieve is None:
            self._sieve = self._made_sieve()
        unspaced, others = self._sieve
        if unspaced is not None and unspaced.search(text):
            return True
        return others and _SPACED.search(text) is not None and bool(self.find(text))

    def _made_sieve(self) -> tuple[re.Pattern[str] | None, bool]:
        """What finds the phrases of unspaced scripts alone, and whether there are others."""
        unspaced = [key for key in self._values if all(map(_IS_UNSPACED.match, key))]
        spelt = "|".join("[ -]?".join(map(re.escape, key)) for key in unspaced)
        return re.compile(spelt) if spelt else None, len(unspaced) < len(self._values)

    def find(self, text: str, tokens: "Tokens | None" = None) -> list[KinshipMatch[T]]:
        """Every phrase in `text`, leftmost-longest; spans in code points.

        Args:
            text: Any str.
            tokens: `tokens_of(text)`, for a text that several vocabularies are looked up in.
        """
        if tokens is None:
            tokens = tokens_of(text)
        found: list[KinshipMatch[T]] = []
        past, end, longest = 0, len(tokens), self._longest
        for at in [at for at, one in enumerate(tokens) if one[0] in longest]:
            if at < past:
                continue
            for length in range(min(longest[tokens[at][0]], end - at), 0, -1):
                piece = tokens[at : at + length]
                value = self._values.get(tuple(token for token, _, _ in piece))
                if value is not None and _joined(text, piece):
                    found.append(KinshipMatch(piece[0][1], piece[-1][2], value))
                    past = at + length
                    break
        return found


def tokens_of(text: str) -> Tokens:
    """The characters and words of a text as phrases are compared by: (token, first code point, one past the last)."""
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _TOKEN.finditer(text):
        yield match[1] or _stem(match[0]), *match.span()


@cache
def _stem(word: str) -> str:
    return _core.stem(word.lower().replace("’", "'"))


def _joined(text: str, piece: list[tuple[str, int, int]]) -> bool:
    """Nothing but a space or a hyphen between words, nothing at all between characters."""
    for (_, _, left), (_, right, _) in pairwise(piece):
        gap = text[left:right]
        if gap not in ("", " ", "-"):
            return False
    return True


def is_unspaced(text: str) -> bool:
    """Whether `text` holds a character of a script written without spaces."""
    return _IS_UNSPACED.search(text) is not None


def unspaced_in(text: str) -> list[str]:
    """The characters of scripts written without spaces, in order."""
    return _IS_UNSPACED.findall(text)


@cache
def _data(name: str) -> dict[str, Any]:
    return word_file(name)


def table(name: str) -> dict[str, tuple[str, ...]]:
    """The rows of a table of `questions.toml` or `attributes.toml`: name to words."""
    data = _data("attributes" if name in _data("attributes") else "questions")
    return {row: tuple(words.split()) for row, words in data[name].items()}


@cache
def about_the_text() -> "Phrases[bool]":
    """Words that speak about the text and not about what happens in it."""
    return Phrases(dict.fromkeys(_data("questions")["meta"].split(), True))


@cache
def attributes() -> "Phrases[tuple[str, ...]]":
    """Words to the attributes that they may name."""
    entries: dict[str, tuple[str, ...]] = {}
    for name, words in table("attributes").items():
        for word in words:
            entries[word] = (*entries.get(word, ()), name)
    return Phrases(entries)


@cache
def of_consistency() -> Phrases[bool]:
    """Words of a question whether texts agree."""
    return Phrases(dict.fromkeys(_data("questions")["consistency"].split(), True))


INVERSE = {
    "parent": "child",
    "child": "parent",
    "spouse": "spouse",
    "sibling": "sibling",
    "cousin": "cousin",
    "grandparent": "grandchild",
    "grandchild": "grandparent",
    "uncle_aunt": "nephew_niece",
    "nephew_niece": "uncle_aunt",
    "master": "servant",
    "servant": "master",
    "teacher": "student",
    "student": "teacher",
    "friend": "friend",
    "lover": "lover",
    "enemy": "enemy",
}


@dataclass(frozen=True, slots=True)
class Role:
    """What X is to Y: "parent" with gender "f" is a mother; gender "" is not said."""

    name: str
    gender: str = ""

    @property
    def inverse(self) -> "Role":
        """What Y is to X; of unknown gender."""
        return Role(INVERSE[self.name])


@dataclass(frozen=True, slots=True)
class Step:
    """A relation word of a question: one role, two for in-laws, none for kin of any kind."""

    word: str
    path: tuple[Role, ...]


ANY: tuple[Role, ...] = ()


def _role(name: str) -> Role:
    bare, _, gender = name.rpartition("_")
    return Role(bare, gender) if gender in ("m", "f") else Role(name)


@cache
def role_words() -> Phrases[Role]:
    """Single words that name a role, as profiles use them."""
    return Phrases({word: _role(name) for name, words in table("kin").items() for word in words})


@cache
def _pair_phrases() -> Phrases[tuple[Role, Role]]:
    found: dict[str, tuple[Role, Role]] = {}
    for name, words in table("pairs").items():
        first, second = (_role(part) for part in name.split("__"))
        found.update(dict.fromkeys(words, (first, second)))
    return Phrases(found)


@cache
def _question_words() -> Phrases[tuple[Role, ...]]:
    entries: dict[str, tuple[Role, ...]] = {}
    for name, words in table("in_law").items():
        entries.update(dict.fromkeys(words, tuple(_role(part) for part in name.split("__"))))
    for name, words in table("kin").items():
        for word in words:
            # A single character (父, 子, 友) is a role in a profile; in a question it is mostly part of a name.
            if len(word) > 1 or word in "妻妾":
                entries.setdefault(word, (_role(name),))
    for name, words in table("kin_verbs").items():
        for word in words:
            entries.setdefault(word, (_role(name),))
    entries.update(dict.fromkeys(table("any_kin")["any"], ANY))
    return Phrases(entries)


def relation_words(query: str, tokens: Tokens | None = None) -> list[KinshipMatch[tuple[Role, ...]]]:
    """Relation words of a question, leftmost-longest: the value is the way to walk, `ANY` for kin of any kind."""
    return _question_words().find(query, tokens)


def pair_of(kind: str) -> tuple[Role, Role] | None:
    """What the source and the target of a relation of type `kind` are to each other, or None.

    父子 makes the source the father and the target the son; a word for one end (母亲, "mentor of") is what the
    source is to the target.
    """
    for found in _pair_phrases().find(kind):
        return found.value
    parts = role_words().find(kind)
    if len(parts) == 2 and kind[parts[0].end : parts[1].start].strip() in ("-", "/", "and", "&", "–", "与", "和"):
        return parts[0].value, parts[1].value
    if parts:
        return parts[-1].value, parts[-1].value.inverse
    return None
