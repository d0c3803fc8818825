"""Whom a question is about: entities named, entities reached by relation words."""

from dataclasses import dataclass, field

from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.understand.query import Understanding
from armarius.retrieval.understand.relations import Tie, Ties

__all__ = ["People", "people_of"]


@dataclass(frozen=True, slots=True)
class People:
    """The entities of a question.

    Attributes:
        named: Ids in the order named.
        related: Id to (factor in (0, 1], the tie that led there, the word that asked for it).
        beyond: As `related`, for entities that only the graph knows.
    """

    named: tuple[str, ...]
    related: dict[str, tuple[float, Tie, str]]
    beyond: dict[str, tuple[float, Tie, str]] = field(default_factory=dict)


def people_of(tables: CorpusTables, ties: Ties, asked: Understanding) -> People:
    """Resolve the entities of a question."""
    related: dict[str, tuple[float, Tie, str]] = {}
    beyond: dict[str, tuple[float, Tie, str]] = {}
    for entity_id in asked.entities:
        for word in asked.relations:
            for tie, factor in ties.walk(entity_id, word.path):
                found = related if tie.other in tables.entities else beyond
                if tie.other not in asked.entities and factor > found.get(tie.other, (0.0,))[0]:
                    found[tie.other] = (factor, tie, word.word)
    return People(asked.entities, related, beyond)
