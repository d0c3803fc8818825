"""Whom and what a question is about: entities named, entities reached by relation words, entities described."""

from dataclasses import dataclass, field

from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.signals.bm25_query import SHORT, short_groups
from armarius.retrieval.understand.query import Understanding
from armarius.retrieval.understand.relations import Tie, Ties

__all__ = ["People", "people_of"]

_DESCRIBED = 8


@dataclass(frozen=True, slots=True)
class People:
    """The entities of a question.

    Attributes:
        named: Ids in the order named.
        related: Id to (factor in (0, 1], the tie that led there, the word that asked for it).
        beyond: As `related`, for entities that only the graph knows.
        described: Id to a score in (0, 1], for a question that names nobody: how well its section fits the words.
    """

    named: tuple[str, ...]
    related: dict[str, tuple[float, Tie, str]]
    described: dict[str, float]
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
    described: dict[str, float] = {}
    if not asked.entities and not asked.chapters:
        ranked = tables.section_index.search(short_groups(asked), limit=_DESCRIBED, **SHORT)
        best = ranked[0][1] if ranked else 1.0
        for key, score, _ in ranked:
            for entity_id in tables.sections[key].entities:
                described.setdefault(entity_id, score / best)
    return People(asked.entities, related, described, beyond)
