"""Ranked lists of texts, each from one kind of evidence: words, outline, mentions, names, beginnings, endings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import armarius._core as _core
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.signals.bm25_query import (
    LONG,
    SHORT,
    Group,
    entity_groups,
    long_groups,
    short_groups,
    term_groups,
)
from armarius.retrieval.signals.phrases import holding
from armarius.retrieval.understand.lexicon import is_unspaced
from armarius.retrieval.understand.query import Understanding
from armarius.retrieval.understand.subjects import People
from armarius.semantic.outliers import Near
from armarius.text.sentences import RUN

__all__ = ["Ranking", "Weights", "claims", "grounded", "is_rare", "rankings"]

_LIMIT = 100
_CHECKED = 4  # chapters before the one whose consistency is asked about
_W = {"alias": 0.5, "first": 1.0, "ending": 1.0, "origin": 1.5}


@dataclass(frozen=True, slots=True)
class Ranking:
    """Texts by one kind of evidence, best first, with the weight of the list in the fusion.

    `blocks` and `near` say where in a text: the blocks that matched, the paragraph that is near in meaning.
    """

    kind: str
    weight: float
    keys: tuple[int, ...]
    blocks: dict[int, tuple[int, ...]] = field(default_factory=dict)
    near: dict[int, Near] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each kind of evidence counts, given the intents."""

    outline: float
    density: float

    @classmethod
    def of(cls, asked: Understanding, people: People) -> "Weights":
        """A question with content is answered by its words; one without, by where the names stand."""
        # A relation word that led to somebody has done its work.
        spent = {term for word in asked.relations for term in _core.terms(word.word)} if people.related else set()
        outline, density = 1.0, 0.3 if set(asked.terms) - spent else 0.9
        if "thread" in asked.intents:
            # Every occurrence counts, also those that a summary passes over.
            outline, density = 0.5, 1.0
        if "consistency" in asked.intents and asked.terms:
            # What is to be checked stands in a passage, not in a summary or in the number of mentions.
            outline, density = 0.25 * outline, 0.3 * density
        return cls(outline, density)


def grounded(tables: CorpusTables, asked: Understanding) -> Understanding:
    """The question without its single characters when nothing else of it occurs in the project.

    A character alone is found in every book: with nothing beside it, it would make an answer out of nothing.
    """
    if not asked.singles or asked.entities or asked.chapters:
        return asked
    tables.refresh_outline()
    bare = replace(asked, singles=())
    indexes = (tables.text_index, tables.outline_index, tables.section_index)
    found = any(index.search(long_groups(bare), limit=1, **SHORT) for index in indexes)
    return asked if found else bare


def rankings(tables: CorpusTables, asked: Understanding, people: People) -> list[Ranking]:
    """Every ranked list that the question calls for; empty lists are left out."""
    tables.refresh_outline()
    weights = Weights.of(asked, people)
    entities = dict.fromkeys(people.named, 1.0)
    entities |= {entity_id: 0.7 * factor for entity_id, (factor, _, _) in people.related.items()}
    entities |= {entity_id: 0.5 * score for entity_id, score in list(people.described.items())[:5]}
    who = entity_groups(entities, tables.numbers)
    words = long_groups(asked) + claims(tables, asked) + who
    found = tables.text_index.search(words, limit=_LIMIT, **LONG)
    blocks = {key: tuple(block for block, _ in best) for key, _, best in found}
    lists = [Ranking("fulltext", 1.0, _ordered(tables, {key: score for key, score, _ in found}), blocks)]
    told = tables.outline_index.search(short_groups(asked) + who, limit=_LIMIT, **SHORT)
    lists.append(Ranking("outline", weights.outline, _ordered(tables, {key: score for key, score, _ in told})))
    lists.append(Ranking("mention", weights.density, _densest(tables, [*people.named, *people.related])))
    lists.append(Ranking("alias", _W["alias"], _users(tables, asked)))
    if "origin" in asked.intents:
        lists.append(Ranking("origin", _W["origin"], _beginnings(tables, asked)))
    places = [e for e in people.named if tables.entities[e].type == "location"]
    if places and ("scene" in asked.intents or not asked.terms):
        # A place is described when it is first entered.
        lists.append(Ranking("first", _W["first"], _first(tables, places)))
    if "ending" in asked.intents:
        lists.append(Ranking("ending", _W["ending"], _endings(tables, people.named)))
    if asked.chapters:
        lists.append(Ranking("neighbour", 0.5, _neighbours(tables, asked)))
    lists += [Ranking("phrase", 3.0, _ordered(tables, holding(tables, phrase))) for phrase in asked.phrases]
    return [ranking for ranking in lists if ranking.keys and ranking.weight > 0]


def claims(tables: CorpusTables, asked: Understanding) -> list[Group]:
    """For a question of consistency: the words of the sentence in the profile that it is about."""
    if "consistency" not in asked.intents or not asked.terms:
        return []
    wanted = set(asked.terms)
    words: list[str] = []
    for entity_id in asked.entities:
        best: tuple[int, list[str]] = (0, [])
        for key in tables.described.get(entity_id, ()):
            for sentence in RUN.finditer(tables.sections[key].text):
                terms = _core.terms(sentence[0])
                if len(wanted.intersection(terms)) > best[0]:
                    best = (len(wanted.intersection(terms)), terms)
        words += best[1]
    return term_groups([word for word in dict.fromkeys(words) if word not in wanted], 0.5)


def _ordered(tables: CorpusTables, scores: Mapping[int, float]) -> tuple[int, ...]:
    keys: Iterable[int] = scores
    if len(scores) > _LIMIT:
        least = sorted(scores.values(), reverse=True)[_LIMIT - 1]
        keys = [key for key, score in scores.items() if score >= least]
    return tuple(sorted(keys, key=lambda key: (-scores[key], tables.place(key)))[:_LIMIT])


def _densest(tables: CorpusTables, entity_ids: Iterable[str]) -> tuple[int, ...]:
    """Texts by how much of them is about all of the entities at once."""
    scores: dict[int, float] = {}
    for entity_id in entity_ids:
        counts = tables.mentioned.get(entity_id, {})
        most = max(counts.values(), default=0)
        for key, count in counts.items():
            scores[key] = scores.get(key, 0.0) + count / (count + 0.5 * most)
    return _ordered(tables, scores)


def _users(tables: CorpusTables, asked: Understanding) -> tuple[int, ...]:
    """Texts that use the very name of the question, when it is not the usual one."""
    scores: dict[int, float] = {}
    for mention in asked.mentions:
        if mention.term == tables.entities[mention.entity_id].name:
            continue
        counts = tables.written.get(mention.term, {})
        if counts and is_rare(tables, mention.term, mention.entity_id):
            most = max(counts.values())
            for key, count in counts.items():
                scores[key] = scores.get(key, 0.0) + count / (count + 0.5 * most)
    return _ordered(tables, scores)


def is_rare(tables: CorpusTables, term: str, entity_id: str) -> bool:
    """Whether an entity is mostly called otherwise."""
    used = sum(tables.written.get(term, {}).values())
    return 2 * used < sum(tables.mentioned.get(entity_id, {}).values())


def _beginnings(tables: CorpusTables, asked: Understanding) -> tuple[int, ...]:
    """Where the names of the question come from: the first text that uses each, or plays on a character of it.

    A nickname is often made from a character before it is used (颦颦, then 颦儿): a character that hardly occurs
    outside the name counts as the name.
    """
    found: list[int] = []
    for term in asked.aliases:
        using = list(tables.written.get(term, {}))
        total = sum(tables.written.get(term, {}).values())
        for char in dict.fromkeys(term) if is_unspaced(term) else ():
            places = tables.text_index.occurrences(char)
            if sum(count for _, count in places) <= 2.5 * total + 3:
                using += [key for key, _ in places]
        if using:
            found.append(min(using, key=tables.place))
    return tuple(dict.fromkeys([*found, *_first(tables, asked.entities)]))


def _first(tables: CorpusTables, entity_ids: Iterable[str]) -> tuple[int, ...]:
    found = []
    for entity_id in entity_ids:
        using = tables.mentioned.get(entity_id)
        if using:
            found.append(min(using, key=tables.place))
    return tuple(dict.fromkeys(found))


def _endings(tables: CorpusTables, entity_ids: Iterable[str]) -> tuple[int, ...]:
    """The last text in which each entity is more than named."""
    found = []
    for entity_id in entity_ids:
        counts = tables.mentioned.get(entity_id, {})
        enough = max(2.0, 0.15 * max(counts.values(), default=0))
        using = [key for key, count in counts.items() if count >= enough]
        if using:
            found.append(max(using, key=tables.place))
    return tuple(dict.fromkeys(found))


def _neighbours(tables: CorpusTables, asked: Understanding) -> tuple[int, ...]:
    """The texts before and after the chapters named, nearest first; a check looks further back."""
    numbers = sorted(tables.by_chapter)
    found: list[int] = []
    back = _CHECKED if "consistency" in asked.intents else 1
    for chapter in asked.chapters:
        if chapter not in tables.by_chapter:
            continue
        before = [number for number in reversed(numbers) if number < chapter][:back]
        after = [number for number in numbers if number > chapter][:1]
        found += [key for number in (*before, *after) for key in tables.by_chapter[number]]
    return tuple(dict.fromkeys(found))
