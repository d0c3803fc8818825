"""Words that stand for somebody or something said before: she, 他们, there, 那件事; where they stand, what they may be.

Words of closed classes (`followups.toml`); `Coreference` resolves them.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

from armarius.codex import Codex
from armarius.codex.people import genders_of
from armarius.codex.profile_entity import function_words
from armarius.lexicon import word_file
from armarius.search.query.words import Phrases, pair_of
from armarius.text.matcher import EntityMatcher, Mention
from armarius.text.unicode import UNSPACED

PronounKind = Literal["m", "f", "thing", "people", "women", "things", "place"]

LATIN_WORD = re.compile(rf"[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)*")
_END = re.compile(r"[,;:，；：、。.?!？！]")
_CLOSING = re.compile(r"(?<![\s?？。.!！~～…])[\s?？。.!！~～…]+$")
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
    result = [item for item in (*_latin(text), *_han(text)) if not any(e.start < item.end <= e.end for e in events)]
    return sorted(result, key=lambda item: item.start)


def says(text: str, row: str, *besides: str) -> bool:
    """Whether a text has words of a row of `followups.toml` that are in none of the others.

    It takes up an `event` (did that, 那件事), a thing (`demonstrative`: 那张) or what came after (`sequence`: and then,
    后来); asks who or what somebody is, which needs no other subject (`identity`: 谁是…), for a `name` (谁…, which …),
    why, how or when (`circumstance`); or `asks` anything: "and the watch?" does not.
    """
    return any(match.value for match in _phrases(row, *besides).find(text))


def demonstrative_ends(text: str) -> list[int]:
    """Where each word ends that points at a thing: 那只, 这张."""
    return [match.end for match in _phrases("demonstrative").find(text)]


def goes_on(text: str) -> bool:
    """Whether it goes on from what was said: and …, what about …, 那…, …呢."""
    start = len(text) - len(text.lstrip(" \t\n—–-…,，“\"'"))
    begins = _phrases("begins", "no_begin", "demonstrative").find(text)
    if any(match.start == start and match.value for match in begins):
        return True
    bare = _CLOSING.sub("", text)
    return any(bare.endswith(word) for word in words_of("han", "ends"))


def parts_clause(text: str) -> bool:
    """Whether a clause ends in `text`: by punctuation, or before a joining word."""
    if _END.search(text):
        return True
    joins = words_of("latin", "joins")
    return any(word[0].lower() in joins for word in LATIN_WORD.finditer(text))


def _latin(text: str) -> Iterator[Pronoun]:
    kinds = _latin_kinds()
    words = list(LATIN_WORD.finditer(text))
    for at, match in enumerate(words):
        word = match[0].lower().replace("’", "'")
        bare = word.partition("'")[0]
        if bare in words_of("latin", "place") and not _is_existential(words, at):
            yield Pronoun(match[0], match.start(), match.end(), "place")
        kind = kinds.get(bare)
        if kind is None:
            continue
        if kind == "thing" and _has_antecedent(words, at):
            continue
        follows = words[at + 1] if at + 1 < len(words) else None
        adjacent = follows is not None and not text[match.end() : follows.start()].strip()
        noun = adjacent and follows is not None and follows[0].lower() not in function_words()
        possessive = bare in words_of("latin", "possessive") and noun
        end = match.start() + len(bare)
        yield Pronoun(
            text[match.start() : end],
            match.start(),
            end,
            kind,
            possessive,
            bare in words_of("latin", "objects") and not possessive,
        )


def _is_existential(words: list[re.Match[str]], at: int) -> bool:
    """Whether `there` only says that something is: "is there a cat"."""
    if "'" in words[at][0].replace("’", "'"):
        return True
    adjacent = [words[i][0].lower().replace("’", "'") for i in (at - 1, at + 1) if 0 <= i < len(words)]
    return any(word in words_of("latin", "existential") for word in adjacent)


def _has_antecedent(words: list[re.Match[str]], at: int) -> bool:
    """Whether a noun with an article stands before `it` in the same question: "the watch … it"."""
    before = [word[0].lower() for word in words[:at]]
    determiners = words_of("latin", "determiners")
    return any(word in determiners and other not in function_words() for word, other in pairwise(before))


def _han(text: str) -> Iterator[Pronoun]:
    spans: list[tuple[int, int]] = []
    for kind_of, kind in _HAN_KINDS:
        for word in sorted(words_of("han", kind_of), key=len, reverse=True):
            for match in re.finditer(re.escape(word), text):
                start, end = match.span()
                if any(begin < end and start < other for begin, other in spans) or _is_no_pronoun(text, start, end):
                    continue
                spans.append((start, end))
                possessive = text.startswith("的", end) and bool(text[end + 1 : end + 2].strip())
                yield Pronoun(word, start, end, kind, possessive, not possessive and _ends_clause(text[end:]))


def _is_no_pronoun(text: str, start: int, end: int) -> bool:
    return any(
        text.startswith(word, at) and at + len(word) >= end and len(word) > end - start
        for word in words_of("han", "no_pronoun")
        for at in range(max(0, start - len(word) + 1), start + 1)
    )


def _ends_clause(rest: str) -> bool:
    """Whether nothing but particles follows in the clause."""
    clause = _END.split(rest, maxsplit=1)[0]
    return not clause.strip(" ".join(words_of("han", "particles")) + " ")


@cache
def _latin_kinds() -> dict[str, PronounKind]:
    return {word: kind for row, kind in _LATIN_KINDS.items() for word in words_of("latin", row)}


@cache
def words_of(table: str, row: str) -> frozenset[str]:
    """The words of one row of `followups.toml`."""
    return frozenset(_data()[table][row].split())


@cache
def _phrases(row: str, *without: str) -> Phrases[bool]:
    tables = _data().values()
    words = {word: True for table in tables for word in table.get(row, "").split()}
    return Phrases(
        words | {word: False for table in tables for name in without for word in table.get(name, "").split()}
    )


@cache
def _data() -> dict[str, dict[str, str]]:
    return word_file("followups")


_FADES = 0.5
_ASIDE_FADES, _ASIDE = 0.8, 0.6  # of an answer that names others than it is about
_GAINS = (1.0, 0.7, 0.5, 0.4)
_LEAST_GAIN = 0.3
_AGAIN, _MOST_AGAIN = 0.1, 3
_UNSAID = 0.7  # gender unknown
_ELSEWHERE = 0.5  # of a place as "it"
_FORGOTTEN = 0.02
_GROUP_TURNS = 4
_GENDERS: tuple[PronounKind, PronounKind] = ("m", "f")
_MOST_TOGETHER = 4


class NamedEntity(NamedTuple):
    """What is known of an entity that a pronoun may mean."""

    name: str
    kind: Literal["person", "place", "thing"]
    gender: str


Cast = Mapping[str, NamedEntity]


def cast_of(codex: Codex) -> Cast:
    """Everybody and everything that may be meant, by id; genders as profiles and relations say them.

    Cost: linear in the codex.
    """
    genders: dict[str, str] = {**genders_of(codex.entities)}
    for relation in codex.relations:
        roles = pair_of(relation.type)
        for id_, role in zip((relation.source, relation.target), roles or (), strict=False):
            if genders.get(id_) == "" and role.gender:
                genders[id_] = role.gender
    return {
        entity.id: NamedEntity(
            entity.name,
            "person" if entity.id in genders else "place" if entity.type == "location" else "thing",
            genders.get(entity.id, ""),
        )
        for entity in codex.entities
    }


def may_mean(kind: PronounKind, named: NamedEntity) -> bool:
    """Whether a pronoun of that kind may mean what is `named`."""
    if kind in ("m", "f"):
        return named.kind == "person" and named.gender in ("", kind)
    if kind == "women":
        return named.kind == "person" and named.gender in ("", "f")
    if kind == "people":
        return named.kind == "person"
    return named.kind == "place" if kind == "place" else named.kind != "person"


@dataclass(slots=True)
class _Salience:
    weight: float
    turn: int
    term: str


class Coreference:
    """Resolves pronouns by the salience of the entities named so far. Of one thread.

    Args:
        cast: Of the project.
        matcher: Finds them.
    """

    def __init__(self, cast: Cast, matcher: EntityMatcher) -> None:
        self._cast = dict(cast)
        self._matcher = matcher
        self._salience: dict[str, _Salience] = {}
        self._turns: list[tuple[str, ...]] = []

    def observe(self, number: int, text: str, *, aside: bool = False) -> tuple[str, ...]:
        """Take in a turn; the ids of those it is about, in the order in which it comes to them.

        Args:
            number: Of the turn.
            text: Without lone surrogates.
            aside: It answers what did not ask for a name: what is new in it counts less.
        """
        for salience in self._salience.values():
            salience.weight *= _ASIDE_FADES if aside else _FADES
        mentions = [mention for mention in self._matcher.find_all(text) if mention.entity_id in self._cast]
        counts: dict[str, int] = {}
        refs = pronouns(text)
        tells = self._gender_pronoun(text, refs)
        spots: list[Mention | Pronoun] = [*mentions, *refs]
        for spot in sorted(spots, key=lambda spot: spot.start):
            if isinstance(spot, Pronoun):
                fitting = [id_ for id_ in counts if may_mean(spot.kind, self._cast[id_])]
                if not fitting:
                    fitting = [*self.resolve(spot.kind)]
                    counts |= dict.fromkeys(fitting, 1)
                if spot is tells and len(fitting) == 1:
                    self._set_gender(fitting[0], spot.kind)
                continue
            counts[spot.entity_id] = counts.get(spot.entity_id, 0) + 1
            salience = self._salience.setdefault(spot.entity_id, _Salience(0.0, number, spot.term))
            salience.turn, salience.term = number, spot.term
        for place, (id_, count) in enumerate(counts.items()):
            gain = _GAINS[place] if place < len(_GAINS) else _LEAST_GAIN
            worth = gain + _AGAIN * min(count - 1, _MOST_AGAIN)
            self._salience[id_].weight += _ASIDE * worth if aside else worth
        self._turns.append(tuple(counts))
        return tuple(counts)

    def resolve(self, kind: PronounKind, without: Collection[str] = ()) -> tuple[str, ...]:
        """The ids of the likeliest antecedents of a pronoun; several for a plural, none where nobody fits."""
        if kind in ("people", "women", "things"):
            for turn in self._turns[: -_GROUP_TURNS - 1 : -1]:
                together = [id_ for id_ in turn if id_ not in without and may_mean(kind, self._cast[id_])]
                if len(together) > 1:
                    return tuple(together[:_MOST_TOGETHER])
        fit = [(self._antecedent_score(kind, id_), id_) for id_ in self._antecedents(kind, without)]
        best = max(fit, key=lambda pair: (pair[0], pair[1]), default=(0.0, ""))
        return (best[1],) if best[0] >= _FORGOTTEN else ()

    def man_and_woman(self, first: PronounKind, without: Collection[str] = ()) -> dict[PronounKind, tuple[str, ...]]:
        """The antecedents of "he" and "she" in one question: two people; the `first` pronoun takes the likelier.

        One person alone who might be either is neither: nothing says which.
        """
        meant = {kind: self.resolve(kind, without) for kind in _GENDERS}
        if meant["m"] != meant["f"] or not meant["m"]:
            return meant
        other = {kind: self.resolve(kind, (*without, *meant["m"])) for kind in _GENDERS}
        if not any(other.values()):
            return other
        second: PronounKind = "f" if first == "m" else "m"
        gives_way = second if other[second] else first
        return meant | {gives_way: other[gives_way]}

    @property
    def cast(self) -> Cast:
        """With the genders that the conversation has shown."""
        return self._cast

    def turn_of(self, entity_id: str) -> int:
        """The turn that named it last."""
        return self._salience[entity_id].turn

    def name_of(self, entity_id: str) -> str:
        """What it is found by: its name, or as the conversation has it where its name is somebody else's too."""
        name = self._cast[entity_id].name
        ids = {mention.entity_id for mention in self._matcher.find_all(name)}
        return name if ids == {entity_id} else self._salience[entity_id].term

    def _antecedents(self, kind: PronounKind, without: Collection[str]) -> Iterable[str]:
        return (id_ for id_ in self._salience if id_ not in without and may_mean(kind, self._cast[id_]))

    @staticmethod
    def _gender_pronoun(text: str, refs: list[Pronoun]) -> Pronoun | None:
        """The pronoun of a turn that may tell a gender: its first, if it begins the turn or all are of one gender."""
        gendered = [ref for ref in refs if ref.kind in _GENDERS]
        if not gendered or gendered[0].is_object:
            return None
        alone = len({ref.kind for ref in gendered}) == 1
        return gendered[0] if alone or not text[: gendered[0].start].strip(" \t\n\"'“‘") else None

    def _set_gender(self, id_: str, kind: PronounKind) -> None:
        """Record the gender of an antecedent, unless the turn before named another possible antecedent."""
        last = self._turns[-1] if self._turns else ()
        if not self._cast[id_].gender and not any(other != id_ and may_mean(kind, self._cast[other]) for other in last):
            self._cast[id_] = self._cast[id_]._replace(gender=kind)

    def _antecedent_score(self, kind: PronounKind, id_: str) -> float:
        entity, weight = self._cast[id_], self._salience[id_].weight
        if kind in ("m", "f", "women") and not entity.gender:
            return weight * _UNSAID
        return weight * _ELSEWHERE if kind in ("thing", "things") and entity.kind == "place" else weight
