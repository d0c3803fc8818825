"""A question as the corpus is asked: its words in families, each a concept of its own or one with other wordings.

    main     pairs of characters and word stems of what the question is about
    stop     the other pairs of the question, which join what was cut apart
    single   single characters of scripts without spaces
    name     the names as they are written
    entity   the entities named, whatever they are called where they stand
    related  whom a relation word of the question leads to
    described whose profile fits, where nobody is named
    synonym  what else may be meant by a word
    card     how the profile of somebody named puts what is asked

What every family weighs stands in `retrieval/weights.py`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import armarius._core as _core
from armarius.lexicon import word_file
from armarius.retrieval.thesaurus import near, split
from armarius.retrieval.understand.query import Understanding

__all__ = ["FAMILIES", "Group", "Question", "question", "terms_of"]

FAMILIES = ("main", "stop", "single", "name", "entity", "related", "described", "synonym", "card")

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LONGEST_WORD = 2  # Han characters of a word that no dictionary vouches for
_IS_HAN = re.compile(f"[{_HAN}]")
_RUN = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+(?:['’][^\W_{_HAN}]+)*")
_CONTRACTED = re.compile(r"(.+?)(?:n't|'(?:s|m|re|ll|ve|d))$")
_SHORTENED = frozenset({"ai", "ca", "sha", "wo"})  # of am, can, shall, will before n't


class Group(NamedTuple):
    """One concept: any of several wordings, whose frequencies add up to one, with one rarity. The core takes it so.

    Attributes:
        family: One of `FAMILIES`.
        weight: Factor on its score beside that of the family.
        terms: Single terms as the analysis gives them (stems, pairs), each with the factor on its frequency.
        words: Words or phrases as written, likewise; all terms of one must stand together.
        entities: Entity ids.
    """

    family: str
    weight: float = 1.0
    terms: tuple[tuple[str, float], ...] = ()
    words: tuple[tuple[str, float], ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """The groups of a question, and its content words as one would look them up.

    Attributes:
        groups: In the order of `FAMILIES`.
        words: Content words, each once.
        alternatives: Of those words, what else may be meant: each with the factor on its frequency.
        terms: Of the family `main`, for the families that are read from the project.
        names: Terms of the names.
    """

    groups: tuple[Group, ...]
    words: tuple[str, ...]
    alternatives: Mapping[str, tuple[tuple[str, float], ...]]
    terms: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Functions:
    han: frozenset[str]
    between: re.Pattern[str]  # the longest of them first
    latin: frozenset[str]
    stems: frozenset[str]


@cache
def _functions() -> _Functions:
    words = word_file("functions")
    han, latin = frozenset(words["han"].split()), frozenset(words["latin"].split())
    between = re.compile("|".join(map(re.escape, sorted(han, key=lambda word: (-len(word), word)))))
    return _Functions(han, between, latin, frozenset(_core.stem(word) for word in latin))


def question(asked: Understanding, related: Mapping[str, float] | None = None) -> Question:
    """The groups that are in the question itself.

    Args:
        asked: The question, understood.
        related: Entities that a relation word leads to, each with a factor.

    Cost: linear in the question.
    """
    query = asked.query
    blank = list(query)
    for reference in asked.references:
        blank[reference.start : reference.end] = "\0" * (reference.end - reference.start)
    named = "".join(blank)
    for mention in asked.mentions:
        blank[mention.start : mention.end] = "\0" * (mention.end - mention.start)
    text = "".join(blank)
    main: dict[str, None] = {}
    singles: dict[str, None] = {}
    words: dict[str, None] = {}
    for run in _runs(text):
        if _IS_HAN.match(run):
            for piece in _pieces(run):
                main |= dict.fromkeys(_pairs(piece))
                singles |= dict.fromkeys(piece)
                words |= dict.fromkeys(word for part in split(piece) for word in _looked_up(part))
        elif (root := _content(run)) is not None:
            main[root] = None
            words[_plain(run).split("'")[0]] = None
    alternatives = {word: found for word in words if (found := _alternatives(word))}
    names = dict.fromkeys(term for mention in asked.mentions for term in terms_of(query[mention.start : mention.end]))
    others = {pair: None for run in _runs(named) if _IS_HAN.match(run) for pair in _pairs(run)}
    stop = [pair for pair in others if pair not in main and pair not in names]
    groups = [
        *_one_each("main", main),
        *_one_each("stop", stop),
        *_one_each("single", singles),
        *_one_each("name", names),
        *(Group("entity", entities=(entity,)) for entity in asked.entities),
        *(
            Group("related", factor, entities=(entity,))
            for entity, factor in (related or {}).items()
            if entity not in asked.entities
        ),
        *(Group("synonym", words=found) for found in alternatives.values()),
    ]
    return Question(tuple(groups), tuple(words), alternatives, tuple(main), tuple(names))


def terms_of(text: str) -> list[str]:
    """The pairs and stems of a text, in order, function words of Latin script left out."""
    found: list[str] = []
    for run in _runs(text):
        if _IS_HAN.match(run):
            found += _pairs(run)
        elif (root := _content(run)) is not None:
            found.append(root)
    return found


def is_function(char: str) -> bool:
    """Whether a Han character by itself is a function word."""
    return char in _functions().han


def _looked_up(part: str) -> list[str]:
    """A headword as it is; what no dictionary has, in pairs."""
    return [part] if len(part) <= _LONGEST_WORD else _pairs(part)


@lru_cache(maxsize=1024)
def _alternatives(word: str) -> tuple[tuple[str, float], ...]:
    """Other words for `word`, one for each stem, function words left out."""
    if _IS_HAN.match(word):
        return tuple(near(word).items())
    found: dict[str, tuple[str, float]] = {}
    for other, weight in near(word).items():
        root = _content(other)
        if root is not None and weight > found.get(root, ("", 0.0))[1]:
            found[root] = (other, weight)
    return tuple(found.values())


def _one_each(family: str, terms: Iterable[str]) -> list[Group]:
    return [Group(family, 1.0, ((term, 1.0),)) for term in terms]


def _runs(text: str) -> Iterator[str]:
    return (match[0] for match in _RUN.finditer(text))


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _plain(run: str) -> str:
    return run.lower().replace("’", "'")


@lru_cache(maxsize=2048)
def _content(run: str) -> str | None:
    """The stem of a word, None of a function word."""
    word, functions = _plain(run), _functions()
    short = _CONTRACTED.match(word)
    if short is not None and (short[1] in functions.latin or short[1] in _SHORTENED):
        return None
    root = _core.stem(word)
    return None if word in functions.latin or root in functions.stems else root


def _pieces(run: str) -> list[str]:
    """What is left of a run of Han when function words are taken out, leftmost-longest."""
    return [piece for piece in _functions().between.split(run) if piece]
