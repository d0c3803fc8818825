"""The paragraphs of a project ranked for a question, and whether there is an answer among them at all.

The question is asked in families of terms (`understand.families`), the numbers stand in `weights`, the core adds up.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from armarius._core import Corpus, CorpusGroup, CorpusQuery, CorpusScores, CorpusWeights
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.understand.families import FAMILIES, Group, Question, is_function, question, terms_of
from armarius.retrieval.understand.query import Understanding
from armarius.retrieval.weights import ABSENT, FAMILY_B, FAMILY_WEIGHTS, K1, LEVELS, WEIGHTS

__all__ = ["Ranked", "rank"]

_DESCRIBED = 5  # profiles that may be meant where nobody is named
_CARD_TERMS = 3.0  # what the sentence of a profile weighs in all, in terms
_SENTENCE = re.compile(r"[。；;！!？?\n]|\. ")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_SINGLE = 0.5  # what a single Han character counts among the words of a question
_MEAN, _MOST = 0.6, 0.4  # how the scores of other wordings are added


@dataclass(frozen=True, slots=True)
class Ranked:
    """A question's scores.

    Attributes:
        scores: Of every paragraph that may be found.
        query: As the core was asked, for explaining a paragraph.
        corpus: What was asked.
        outcome: `found`; `weak`: it looks like a question about what is not there; `nothing found`.
        missing: Its words that occur nowhere.
    """

    scores: CorpusScores
    query: CorpusQuery
    corpus: Corpus
    outcome: Literal["found", "weak", "nothing found"]
    missing: tuple[str, ...]


def rank(
    tables: CorpusTables,
    asked: Understanding,
    related: Mapping[str, float] | None = None,
    *,
    also: Sequence[tuple[Understanding, Mapping[str, float]]] = (),
    kinds: Sequence[str] = (),
    chapters: tuple[int | None, int | None] = (None, None),
    as_of: int | None = None,
) -> Ranked:
    """Rank every paragraph of the project.

    Args:
        tables: The project.
        asked: The question.
        related: Entities that a relation word of it leads to, each with a factor.
        also: The same question in other words, understood likewise.
        kinds: Only documents of these kinds; empty is all.
        chapters: Inclusive bounds; with one, what is no chapter is left out.
        as_of: Nothing of a later chapter.

    Cost: the postings of the question's terms.
    """
    corpus = tables.paragraphs.corpus
    limits = _Limits(tuple(kinds), chapters, as_of)
    read = question(asked, related)
    query = _query(tables, corpus, asked, read, limits)
    scores = corpus.score(query)
    outcome, missing = _outcome(corpus, asked, read, scores)
    if also:
        others = []
        for wording, reached in also:
            others.append(corpus.score(_query(tables, corpus, wording, question(wording, reached), limits)))
        scores = scores.fused(others, mean=_MEAN, most=_MOST)
        if outcome == "weak":
            outcome = "found"
    if asked.chapters and outcome == "weak":
        outcome = "found"
    return Ranked(scores, query, corpus, "nothing found" if scores.best <= 0 else outcome, missing)


@dataclass(frozen=True, slots=True)
class _Limits:
    kinds: tuple[str, ...] = ()
    chapters: tuple[int | None, int | None] = (None, None)
    as_of: int | None = None


@cache
def _weights() -> CorpusWeights:
    families = [(name, FAMILY_WEIGHTS[name], [FAMILY_B[name][level] for level in LEVELS]) for name in FAMILIES]
    return CorpusWeights(families, k1=[K1[level] for level in LEVELS], **WEIGHTS)


def _query(tables: CorpusTables, corpus: Corpus, asked: Understanding, read: Question, limits: _Limits) -> CorpusQuery:
    groups = [*read.groups, *_described(tables, corpus, asked, read), *_cards(tables, corpus, asked, read)]
    concepts = [(word, None, _SINGLE if _is_single(word) else 1.0, []) for word in read.words]
    concepts += [(None, entity, 1.0, []) for entity in asked.entities]
    return CorpusQuery(
        _weights(),
        [_core_group(group) for group in groups],
        asked=list(asked.chapters),
        concepts=concepts,
        kinds=list(limits.kinds),
        chapters=limits.chapters,
        as_of=limits.as_of,
    )


def _core_group(group: Group) -> CorpusGroup:
    entities = [(entity, 1.0) for entity in group.entities]
    return CorpusGroup(group.family, list(group.words), entities=entities, weight=group.weight)


def _is_single(word: str) -> bool:
    return len(word) == 1 and _HAN.match(word) is not None


def _described(tables: CorpusTables, corpus: Corpus, asked: Understanding, read: Question) -> list[Group]:
    """Whose profiles fit a question that names nobody and no chapter."""
    if asked.entities or asked.chapters:
        return []
    groups = [_core_group(group) for group in read.groups if group.family in ("main", "single")]
    if not groups:
        return []
    scores = corpus.score(CorpusQuery(_weights(), groups, kinds=["setting"]))
    owners = tables.owners
    found: dict[str, float] = {}
    best = 0.0
    for unit in sorted(scores.units(1 << 20), key=lambda one: (-one.own, one.path, one.unit)):
        mine = owners.get((unit.path, unit.label), ())
        if not mine or unit.own <= 0:
            continue
        best = best or unit.own
        for entity in mine:
            found.setdefault(entity, unit.own / best)
        if len(found) >= _DESCRIBED:
            break
    return [Group("described", share, entities=(entity,)) for entity, share in list(found.items())[:_DESCRIBED]]


def _cards(tables: CorpusTables, corpus: Corpus, asked: Understanding, read: Question) -> list[Group]:
    """How the profiles of those named put what is asked: the terms of the sentence that shares most with the question."""
    wanted, names = set(read.terms), set(read.names)
    if not wanted:
        return []
    found: dict[str, None] = {}
    for entity in asked.entities:
        for key in tables.described.get(entity, ()):
            best, said = 0.0, list[str]()
            for sentence in _SENTENCE.split(tables.sections[key].text):
                terms = terms_of(sentence)
                shared = sorted(set(terms) & wanted)
                worth = sum(corpus.rarities(shared)) if shared else 0.0
                if worth > best:
                    best, said = worth, terms
            found |= dict.fromkeys(
                term
                for term in said
                if term not in wanted and term not in names and not (_HAN.match(term) and any(map(is_function, term)))
            )
    weight = _CARD_TERMS / max(len(found), 1)
    return [Group("card", weight, words=((term, 1.0),)) for term in found]


def _outcome(
    corpus: Corpus, asked: Understanding, read: Question, scores: CorpusScores
) -> tuple[Literal["found", "weak", "nothing found"], tuple[str, ...]]:
    """Whether the question looks like one about what is not there, and its words that occur nowhere.

    A logarithm of how good the best paragraph is, the share of the question's rarity that occurs nowhere, and the share
    that one window holds; fitted on the absent questions of two books (docs/decisions/0065).
    """
    coverage = scores.coverage
    missing = tuple(read.words[at] for at in coverage.missing if at < len(read.words))
    if coverage.total <= 0:
        return "found", missing
    scale = 2.5 if any(_HAN.match(word) for word in (*read.words, asked.query)) else 1.5
    count = max(len(corpus), 1)
    best = scores.strongest["paragraph"] / math.log(1 + count / 0.5) / scale
    signs = coverage.lost / coverage.total - math.log(best + 1e-3) - 0.5 * coverage.best / coverage.total
    return ("weak" if signs >= ABSENT else "found"), missing
