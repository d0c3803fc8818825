"""Whom a pronoun may mean: who was named in a conversation, how lately and in which place, a man or a woman.

Who is named first in a turn is most often whom it is about; every turn since then halves that. An answer to "who?" is
about whom it names, any other about whom the question named. A pronoun in a turn is a mention of whom it means, so that
an answer that says "she" keeps her; of one whose gender nothing says it tells the gender. Nothing is parsed.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from armarius.codex import Codex
from armarius.names.people import persons_of
from armarius.retrieval.understand.kinship import pair_of
from armarius.retrieval.understand.pronouns import Pronoun, PronounKind, pronouns
from armarius.text.matcher import EntityMatcher, Mention

__all__ = ["Cast", "Referents", "cast_of", "may_mean"]

_FADES = 0.5
_ASIDE_FADES, _ASIDE = 0.8, 0.6  # of an answer that names others than it is about
_GAINS = (1.0, 0.7, 0.5, 0.4)
_LEAST_GAIN = 0.3
_AGAIN, _MOST_AGAIN = 0.1, 3
_UNSAID = 0.7  # of one whose gender nobody says
_ELSEWHERE = 0.5  # of a place as "it"
_FORGOTTEN = 0.02
_GROUP_TURNS = 4
_GENDERS: tuple[PronounKind, PronounKind] = ("m", "f")
_MOST_TOGETHER = 4


class Named(NamedTuple):
    """What is known of an entity that a pronoun may mean."""

    name: str
    kind: Literal["person", "place", "thing"]
    gender: str


Cast = Mapping[str, Named]


def cast_of(codex: Codex) -> Cast:
    """Everybody and everything that may be meant, by id; genders as profiles and relations say them.

    Cost: linear in the codex.
    """
    genders = {one.id: str(one.gender) for one in persons_of(codex.entities)}
    for relation in codex.relations:
        roles = pair_of(relation.type)
        for id_, role in zip((relation.source, relation.target), roles or (), strict=False):
            if genders.get(id_) == "" and role.gender:
                genders[id_] = role.gender
    return {
        one.id: Named(
            one.name,
            "person" if one.id in genders else "place" if one.type == "location" else "thing",
            genders.get(one.id, ""),
        )
        for one in codex.entities
    }


def may_mean(kind: PronounKind, named: Named) -> bool:
    """Whether a pronoun of that kind may mean what is `named`."""
    if kind in ("m", "f"):
        return named.kind == "person" and named.gender in ("", kind)
    if kind == "women":
        return named.kind == "person" and named.gender in ("", "f")
    if kind == "people":
        return named.kind == "person"
    return named.kind == "place" if kind == "place" else named.kind != "person"


@dataclass(slots=True)
class _Heard:
    weight: float
    turn: int
    term: str


class Referents:
    """Who has been named so far. Of one thread.

    Args:
        cast: Of the project.
        matcher: Finds them.
    """

    def __init__(self, cast: Cast, matcher: EntityMatcher) -> None:
        self._cast = dict(cast)
        self._matcher = matcher
        self._heard: dict[str, _Heard] = {}
        self._turns: list[tuple[str, ...]] = []

    def hear(self, number: int, text: str, *, aside: bool = False) -> tuple[str, ...]:
        """Take in a turn; the ids of those it is about, in the order in which it comes to them.

        Args:
            number: Of the turn.
            text: Without lone surrogates.
            aside: It answers what did not ask for a name: what is new in it counts less.
        """
        for heard in self._heard.values():
            heard.weight *= _ASIDE_FADES if aside else _FADES
        mentions = [one for one in self._matcher.find_all(text) if one.entity_id in self._cast]
        counts: dict[str, int] = {}
        said = pronouns(text)
        tells = self._telling(text, said)
        spots: list[Mention | Pronoun] = [*mentions, *said]
        for spot in sorted(spots, key=lambda one: one.start):
            if isinstance(spot, Pronoun):
                fitting = [id_ for id_ in counts if may_mean(spot.kind, self._cast[id_])]
                if not fitting:
                    fitting = [*self.whom(spot.kind)]
                    counts |= dict.fromkeys(fitting, 1)
                if spot is tells and len(fitting) == 1:
                    self._tell(fitting[0], spot.kind)
                continue
            counts[spot.entity_id] = counts.get(spot.entity_id, 0) + 1
            heard = self._heard.setdefault(spot.entity_id, _Heard(0.0, number, spot.term))
            heard.turn, heard.term = number, spot.term
        for place, (id_, count) in enumerate(counts.items()):
            gain = _GAINS[place] if place < len(_GAINS) else _LEAST_GAIN
            worth = gain + _AGAIN * min(count - 1, _MOST_AGAIN)
            self._heard[id_].weight += _ASIDE * worth if aside else worth
        self._turns.append(tuple(counts))
        return tuple(counts)

    def whom(self, kind: PronounKind, without: Collection[str] = ()) -> tuple[str, ...]:
        """The ids of whom a pronoun most likely means; none, one, or several for several."""
        if kind in ("people", "women", "things"):
            for said in self._turns[: -_GROUP_TURNS - 1 : -1]:
                together = [id_ for id_ in said if id_ not in without and may_mean(kind, self._cast[id_])]
                if len(together) > 1:
                    return tuple(together[:_MOST_TOGETHER])
        fit = [(self._worth(kind, id_), id_) for id_ in self._fitting(kind, without)]
        best = max(fit, key=lambda one: (one[0], one[1]), default=(0.0, ""))
        return (best[1],) if best[0] >= _FORGOTTEN else ()

    def man_and_woman(self, first: PronounKind, without: Collection[str] = ()) -> dict[PronounKind, tuple[str, ...]]:
        """Whom "he" and "she" of one question mean: two people. The likelier is whom the `first` of them means.

        One person alone who might be either is neither: nothing says which.
        """
        meant = {kind: self.whom(kind, without) for kind in _GENDERS}
        if meant["m"] != meant["f"] or not meant["m"]:
            return meant
        other = {kind: self.whom(kind, (*without, *meant["m"])) for kind in _GENDERS}
        if not any(other.values()):
            return other
        second: PronounKind = "f" if first == "m" else "m"
        gives_way = second if other[second] else first
        return meant | {gives_way: other[gives_way]}

    @property
    def cast(self) -> Cast:
        """With the genders that the conversation told."""
        return self._cast

    def turn_of(self, entity_id: str) -> int:
        """The turn that named it last."""
        return self._heard[entity_id].turn

    def name_of(self, entity_id: str) -> str:
        """What it is found by: its name, or as the conversation has it where its name is somebody else's too."""
        name = self._cast[entity_id].name
        found = {one.entity_id for one in self._matcher.find_all(name)}
        return name if found == {entity_id} else self._heard[entity_id].term

    def _fitting(self, kind: PronounKind, without: Collection[str]) -> Iterable[str]:
        return (id_ for id_ in self._heard if id_ not in without and may_mean(kind, self._cast[id_]))

    @staticmethod
    def _telling(text: str, said: list[Pronoun]) -> Pronoun | None:
        """The pronoun of a turn that may tell a gender: its first, if it begins the turn or all are of one gender."""
        gendered = [one for one in said if one.kind in _GENDERS]
        if not gendered or gendered[0].is_object:
            return None
        alone = len({one.kind for one in gendered}) == 1
        return gendered[0] if alone or not text[: gendered[0].start].strip(" \t\n\"'“‘") else None

    def _tell(self, id_: str, kind: PronounKind) -> None:
        """Keep that a pronoun means somebody, unless the turn before named another whom it may mean."""
        last = self._turns[-1] if self._turns else ()
        if not self._cast[id_].gender and not any(one != id_ and may_mean(kind, self._cast[one]) for one in last):
            self._cast[id_] = self._cast[id_]._replace(gender=kind)

    def _worth(self, kind: PronounKind, id_: str) -> float:
        known, weight = self._cast[id_], self._heard[id_].weight
        if kind in ("m", "f", "women") and not known.gender:
            return weight * _UNSAID
        return weight * _ELSEWHERE if kind in ("thing", "things") and known.kind == "place" else weight
