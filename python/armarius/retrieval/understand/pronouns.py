"""Words that stand for somebody or something said before: she, 他们, there, 那件事; where they stand, what they may be.

Words of closed classes (`followups.toml`); whom they mean is found in `referents`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

from armarius.lexicon import word_file
from armarius.retrieval.understand.lexicon import Phrases
from armarius.text.scripts import UNSPACED

__all__ = [
    "Pronoun",
    "PronounKind",
    "asks",
    "asks_circumstance",
    "asks_identity",
    "asks_name",
    "goes_on",
    "parts_clause",
    "pronouns",
    "shown",
    "takes_up",
]

PronounKind = Literal["m", "f", "thing", "people", "women", "things", "place"]

_WORD = re.compile(rf"[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)*")
_END = re.compile(r"[,;:，；：、。.?!？！]")
_CLOSING = re.compile(r"[\s?？。.!！~～…]+$")
_LATIN_KINDS: dict[str, PronounKind] = {"he": "m", "she": "f", "it": "thing", "they": "people"}
_HAN_KINDS: tuple[tuple[str, PronounKind], ...] = (
    ("they_m", "people"),
    ("they_f", "women"),
    ("they_it", "things"),
    ("he", "m"),
    ("she", "f"),
    ("it", "thing"),
    ("place", "place"),
)


@dataclass(frozen=True, slots=True)
class Pronoun:
    """`text[start:end] == word`.

    Attributes:
        kind: A man, a woman, a thing; several of them (`people` of any gender); a place.
        possessive: Somebody's: his house, 她的猫.
        is_object: Nobody's subject: a name before it in the same clause is somebody else.
    """

    word: str
    start: int
    end: int
    kind: PronounKind
    possessive: bool = False
    is_object: bool = False


def pronouns(text: str) -> list[Pronoun]:
    """The pronouns of the third person in `text`, by position. Cost: linear."""
    events = _phrases("event").find(text)  # did it: what, not which thing
    found = [one for one in (*_latin(text), *_han(text)) if not any(e.start < one.end <= e.end for e in events)]
    return sorted(found, key=lambda one: one.start)


def takes_up(text: str, row: Literal["event", "demonstrative", "sequence"]) -> bool:
    """Whether it takes up an `event` (did that, 那件事), a thing (那张), or what came after (and then, 后来)."""
    return bool(_phrases(row).find(text))


def shown(text: str) -> list[int]:
    """Where each word ends that points at a thing: 那只, 这张."""
    return [found.end for found in _phrases("demonstrative").find(text)]


def goes_on(text: str) -> bool:
    """Whether it goes on from what was said: and …, what about …, 那…, …呢."""
    start = len(text) - len(text.lstrip(" \t\n—–-…,，“\"'"))
    begins = _phrases("begins", "no_begin", "demonstrative").find(text)
    if any(found.start == start and found.value for found in begins):
        return True
    bare = _CLOSING.sub("", text)
    return any(bare.endswith(word) for word in _words("han", "ends"))


def asks_circumstance(text: str) -> bool:
    """Whether it asks why, how or when."""
    return any(found.value for found in _phrases("circumstance", "no_circumstance").find(text))


def asks_identity(text: str) -> bool:
    """Whether it asks who or what somebody is, which needs no other subject: 谁是…, who is …."""
    return bool(_phrases("identity").find(text))


def asks_name(text: str) -> bool:
    """Whether it asks for somebody or something by name: 谁…, who …, which …."""
    return bool(_phrases("name").find(text))


def asks(text: str) -> bool:
    """Whether it says what it asks for: who, where, 哪里, 多少; "and the watch?" does not."""
    return any(found.value for found in _phrases("asks", "begins").find(text))


def parts_clause(text: str) -> bool:
    """Whether a clause ends in `text`: by punctuation, or before a joining word."""
    if _END.search(text):
        return True
    joins = _words("latin", "joins")
    return any(word[0].lower() in joins for word in _WORD.finditer(text))


def _latin(text: str) -> Iterator[Pronoun]:
    kinds = _latin_kinds()
    words = list(_WORD.finditer(text))
    for at, found in enumerate(words):
        word = found[0].lower().replace("’", "'")
        bare = word.partition("'")[0]
        if bare in _words("latin", "place") and not _exists(words, at):
            yield Pronoun(found[0], found.start(), found.end(), "place")
        kind = kinds.get(bare)
        if kind is None:
            continue
        if kind == "thing" and _has_antecedent(words, at):
            continue
        follows = words[at + 1] if at + 1 < len(words) else None
        beside = follows is not None and not text[found.end() : follows.start()].strip()
        noun = beside and follows is not None and not _is_function(follows[0].lower())
        possessive = bare in _words("latin", "possessive") and noun
        end = found.start() + len(bare)
        yield Pronoun(
            text[found.start() : end],
            found.start(),
            end,
            kind,
            possessive,
            bare in _words("latin", "objects") and not possessive,
        )


def _exists(words: list[re.Match[str]], at: int) -> bool:
    """Whether `there` only says that something is: "is there a cat"."""
    if "'" in words[at][0].replace("’", "'"):
        return True
    beside = [words[i][0].lower().replace("’", "'") for i in (at - 1, at + 1) if 0 <= i < len(words)]
    return any(word in _words("latin", "existential") for word in beside)


def _has_antecedent(words: list[re.Match[str]], at: int) -> bool:
    """Whether a noun with an article stands before `it` in the same question: "the watch … it"."""
    before = [word[0].lower() for word in words[:at]]
    determiners = _words("latin", "determiners")
    return any(one in determiners and not _is_function(other) for one, other in pairwise(before))


def _han(text: str) -> Iterator[Pronoun]:
    taken: list[tuple[int, int]] = []
    for kind_of, kind in _HAN_KINDS:
        for word in sorted(_words("han", kind_of), key=len, reverse=True):
            for found in re.finditer(re.escape(word), text):
                start, end = found.span()
                if any(one < end and start < other for one, other in taken) or _is_no_pronoun(text, start, end):
                    continue
                taken.append((start, end))
                possessive = text.startswith("的", end) and bool(text[end + 1 : end + 2].strip())
                yield Pronoun(word, start, end, kind, possessive, not possessive and _ends(text[end:]))


def _is_no_pronoun(text: str, start: int, end: int) -> bool:
    return any(
        text.startswith(word, at) and at + len(word) >= end and len(word) > end - start
        for word in _words("han", "no_pronoun")
        for at in range(max(0, start - len(word) + 1), start + 1)
    )


def _ends(rest: str) -> bool:
    """Whether nothing but particles follows in the clause."""
    clause = _END.split(rest, maxsplit=1)[0]
    return not clause.strip(" ".join(_words("han", "particles")) + " ")


def _is_function(word: str) -> bool:
    return word in _function_words()


@cache
def _function_words() -> frozenset[str]:
    return frozenset(word_file("functions")["latin"].split())


@cache
def _latin_kinds() -> dict[str, PronounKind]:
    return {word: kind for row, kind in _LATIN_KINDS.items() for word in _words("latin", row)}


@cache
def _words(table: str, row: str) -> frozenset[str]:
    return frozenset(_data()[table][row].split())


@cache
def _phrases(row: str, *without: str) -> Phrases[bool]:
    tables = _data().values()
    found = {word: True for table in tables for word in table.get(row, "").split()}
    return Phrases(found | {word: False for table in tables for one in without for word in table.get(one, "").split()})


@cache
def _data() -> dict[str, dict[str, str]]:
    return word_file("followups")
