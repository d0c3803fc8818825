"""Alternatives of an English word, by WordNet 3.1."""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib import resources
from types import MappingProxyType

import armarius._core as _core
from armarius.retrieval.thesaurus.lines import LineTable

__all__ = ["english_alternatives"]

NEARER = 0.5
"""A narrower, a similar and a derived word, before the rank of its sense."""
BROADER = 0.3
_DIGITS = 4  # of a synset's place, base 36
_DETACHED = (
    ("ies", "y"), ("es", "e"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
)  # fmt: skip


@lru_cache(maxsize=4096)
def english_alternatives(word: str) -> Mapping[str, float]:
    """Alternatives of a lower-case word, heaviest first, then by the alphabet; see `near`."""
    table = _wordnet()
    told = next((line for form in _forms(word) if (line := table.find(form)) is not None), None)
    if told is None:
        return MappingProxyType({})
    found: dict[str, float] = {}
    for senses in told:
        for rank, sense in enumerate(senses.split(b",")):
            place, _, derived = sense.partition(b" ")
            weight = 1 / (1 + rank / 2)
            _take(found, derived, NEARER * weight)
            if place:
                _take_synset(table, found, place, weight)
    own = _core.stem(word)
    ordered = sorted((-weight, one) for one, weight in found.items() if _core.stem(one) != own)
    return MappingProxyType({one: -weight for weight, one in ordered})


def _take_synset(table: LineTable, found: dict[str, float], place: bytes, weight: float) -> None:
    words, *links = table.at(int(place, 36))
    _take(found, words, weight)
    for places, share in zip(links, (NEARER, BROADER), strict=False):
        for start in range(0, len(places), _DIGITS):
            linked = table.at(int(places[start : start + _DIGITS], 36))[0]
            _take(found, linked, share * weight)


def _take(found: dict[str, float], words: bytes, weight: float) -> None:
    for word in words.decode("ascii").split():
        if weight > found.get(word, 0.0):
            found[word] = weight


def _forms(word: str) -> Iterator[str]:
    """What a word may be a form of, itself first."""
    word = word.removesuffix("'s")
    yield word
    for ending, instead in _DETACHED:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 2:
            yield rest + instead
            if not instead and len(rest) > 2 and rest[-1] == rest[-2]:
                yield rest[:-1]


@cache
def _wordnet() -> LineTable:
    return LineTable(resources.files("armarius.retrieval.thesaurus").joinpath("wordnet.txt").read_bytes())
