"""Ranked lists to one list: reciprocal ranks for texts, then texts and sections side by side.

Ranks, not scores: the scores of different kinds of evidence have nothing in common.
Source: Cormack, Clarke & Büttcher 2009 (reciprocal rank fusion), with k = 10: the lists are short and their
heads matter. Between 5 and 60 the recall on the tuning novel moves by .02.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.corpus.units import Section
from armarius.retrieval.signals.rankings import Ranking, is_rare
from armarius.retrieval.understand.query import Understanding
from armarius.retrieval.understand.subjects import People

__all__ = ["Mixed", "fuse", "mix", "rare_first"]

_K = 10
# What a text is worth by its place in the fused list, beside a section at _NAMED. The steps let the profile of
# somebody named stand second, and people of the best chapters before the third chapter.
_STEPS = (1.0, 0.78, 0.62, 0.5, 0.42, 0.36, 0.3, 0.26)
_NAMED = 0.82
_NAMED_AND_RELATED = 1.03
_WANTED = 1.05  # the section itself is what the question is after
_RELATED = 1.06
_PRESENT = 0.62
_PRESENT_IN_NAMED_CHAPTER = 0.72
_REFERRED = 2.0
_BESIDE_REFERRED = 0.8
_NEIGHBOUR = 0.5
_TOLD = 0.5
_THING = 0.6  # a place or a thing that is merely there, beside a person
_OTHER_SECTION = 0.5
_WHERE = 0.7  # a place that fits the words of a question that asks for one and names none
_BACKUP = 0.95  # a text found only by meaning, below the last one found by words
_RARE = 1  # texts that hold a word
_FEW = 6  # terms of a question in which one word decides
_LONGEST = 50  # texts beyond those that the question names


@dataclass(frozen=True, slots=True)
class Mixed:
    """One candidate of the final list: a text or a section, and how it came in."""

    score: float
    key: int
    is_section: bool
    how: tuple[str, ...] = ()


def fuse(lists: Sequence[Ranking]) -> dict[int, float]:
    """Text to fused score, the best 1.0.

    Cost: linear in the lists.
    """
    scores: dict[int, float] = {}
    for ranking in lists:
        for rank, key in enumerate(ranking.keys):
            scores[key] = scores.get(key, 0.0) + ranking.weight * _K / (_K + rank)
    best = max(scores.values(), default=1.0)
    return {key: score / best for key, score in scores.items()}


def rare_first(
    tables: CorpusTables, asked: Understanding, lists: Sequence[Ranking], fused: dict[int, float]
) -> dict[int, float]:
    """Fused scores in which the text that fits the words best is not behind texts without its rare word.

    In a short question that names nobody, a word that one text alone holds says more than an outline or a profile that
    shares a character. In longer ones, and for words of two texts, ndcg falls by .01 to .02.

    Cost: one look into the index per term.
    """
    best = next((ranking.keys[0] for ranking in lists if ranking.kind == "fulltext" and ranking.keys), None)
    if best is None or asked.entities or asked.chapters or "thread" in asked.intents or len(asked.terms) > _FEW:
        return fused
    holders: set[int] = set()
    for term in asked.terms:
        holding = {key for key, _ in tables.text_index.occurrences(term)}
        if best in holding and len(holding) <= _RARE:
            holders |= holding
    others = max((score for key, score in fused.items() if key not in holders), default=0.0)
    if not holders or fused[best] > others:
        return fused
    return fused | {best: min(1.0, others) + 1e-6}


def mix(
    tables: CorpusTables,
    asked: Understanding,
    people: People,
    fused: dict[int, float],
    matching: Sequence[tuple[int, float]],
    backup: Sequence[int] = (),
) -> list[Mixed]:
    """Texts and sections in one order, best first; ties go to texts, then to what comes first in the book.

    Args:
        tables: For chapters, mentions and sections.
        asked: The question.
        people: Its entities.
        fused: Texts with their fused scores.
        matching: Sections by their words, (key, score in (0, 1]), best first.
        backup: Texts by meaning, best first; those found in no other way come after everything else.
    """
    referred = [key for number in asked.chapters for key in tables.by_chapter.get(number, ()) if key in tables.texts]
    others = sorted(fused.keys() - set(referred), key=lambda key: (-fused[key], tables.place(key)))
    order = referred + others[:_LONGEST]
    found: list[Mixed] = []
    for place, key in enumerate(order):
        step = _STEPS[min(place - len(referred), len(_STEPS) - 1)]
        if place < len(referred):
            score = _REFERRED - 0.001 * place
        elif referred:
            score = (_BESIDE_REFERRED if asked.terms else _NEIGHBOUR) * step * fused[key]
        elif "thread" in asked.intents:
            score = max(step * fused[key] ** 0.3, 0.9 * fused[key] ** 0.1 - 0.01 * place)
        else:
            score = step * fused[key] ** 0.3
        found.append(Mixed(score, key, is_section=False, how=("chapter",) if place < len(referred) else ()))
    sections = _sections(tables, asked, people, referred, order, fused)
    for key, score in matching:
        factor = _matching_factor(tables, asked, people, tables.sections[key])
        if factor * score > sections.get(key, (0.0, ""))[0]:
            sections[key] = (factor * score, "fulltext")
    found += [Mixed(score, key, is_section=True, how=(how,)) for key, (score, how) in sections.items()]
    found.sort(key=lambda one: (-one.score, one.is_section, tables.place(one.key)))
    lowest, known = (found[-1].score if found else _STEPS[0]), set(order)
    behind = [key for key in backup if key not in known]
    return found + [Mixed(lowest * _BACKUP ** (n + 1), key, is_section=False) for n, key in enumerate(behind)]


def _matching_factor(tables: CorpusTables, asked: Understanding, people: People, section: Section) -> float:
    """What a section that shares words with the question is worth: one of an entity comes in by the entity."""
    if not section.entities:
        return _OTHER_SECTION
    types = {tables.entities[entity_id].type for entity_id in section.entities}
    named = any(tables.entities[entity_id].type == "location" for entity_id in people.named)
    return _WHERE if "location" in types and "whereabouts" in asked.intents and not named else 0.0


def _sections(
    tables: CorpusTables,
    asked: Understanding,
    people: People,
    referred: list[int],
    order: list[int],
    fused: dict[int, float],
) -> dict[int, tuple[float, str]]:
    scores: dict[int, tuple[float, str]] = {}

    def put(entity_id: str, score: float, how: str) -> None:
        for key in tables.described.get(entity_id, ()):
            if score > scores.get(key, (0.0, ""))[0]:
                scores[key] = (score, how)

    base = _named_score(tables, asked, people)
    for place, entity_id in enumerate(people.named):
        put(entity_id, base - 0.01 * place, "mention")
    for entity_id, (factor, _, _) in people.related.items():
        put(entity_id, _RELATED * factor, "relation")
    present = _present(tables, people, referred, order, fused)
    most = max(present.values(), default=1.0)
    factor = _PRESENT_IN_NAMED_CHAPTER if referred and not people.named else _PRESENT
    for entity_id, amount in present.items():
        put(entity_id, factor * amount / most, "present")
    return scores


def _named_score(tables: CorpusTables, asked: Understanding, people: People) -> float:
    if people.related:
        return _NAMED_AND_RELATED
    # Who did something in a place is told where it happens, not in the description of the place.
    asks_for_section = not {"consistency", "thread"}.isdisjoint(asked.intents) or (
        "deed" not in asked.intents and any(tables.entities[entity_id].type == "location" for entity_id in people.named)
    )
    by_rare_name = any(
        mention.term != tables.entities[mention.entity_id].name and is_rare(tables, mention.term, mention.entity_id)
        for mention in asked.mentions
    )
    return _WANTED if asks_for_section or by_rare_name else _NAMED


def _present(
    tables: CorpusTables, people: People, referred: list[int], order: list[int], fused: dict[int, float]
) -> dict[str, float]:
    """Who is in the chapters that matter: by mentions, more when the outline names them or their profile fits."""
    basis = [(key, 1.0 / len(referred)) for key in referred] or [(key, fused[key] ** 3) for key in order[:2]]
    present: defaultdict[str, float] = defaultdict(float)
    for key, weight in basis:
        text = tables.texts[key]
        most = max(text.mentions.values(), default=1)
        told = tables.told.get(key, frozenset())
        for entity_id, count in text.mentions.items():
            amount = (count / most) ** 0.5 + (_TOLD if entity_id in told else 0.0)
            present[entity_id] += weight * amount * (1.0 if tables.entities[entity_id].type == "character" else _THING)
    for entity_id, score in people.described.items():
        if entity_id in present:
            present[entity_id] *= 1 + 0.9 * score
    return present
