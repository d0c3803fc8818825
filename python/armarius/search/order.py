"""Documents and sections of settings in one order, from the scores of their paragraphs.

A text is worth its best three paragraphs, over those of the best text: recall2@5 of three books is .71 by that, .69 by
the words of the whole text and of its outline line (docs/decisions/0064). Sections come in by the
entities they describe: those of a relation word first, those named next to the best text, those in the best texts last.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Final, Literal

from armarius._core import ScoredUnit
from armarius.arguments import Bounds
from armarius.search.corpus import Corpus, UnitIndex
from armarius.search.query.query import Subjects, Understanding, terms_of
from armarius.search.rank import STOP_SHARE, Ranked
from armarius.search.rank import WEIGHTS as SCORE

WEIGHTS: Final = {
    "asked": 2.0,
    "related": 1.06,
    "named": 1.0,
    "others": 0.8,
    "present": 0.5,
    "fulltext": 0.5,
    "adjacent": 0.4,
}
"""A text is worth at most 1. Between half and double any of them moves recall2@5 of seven books by at most .02."""

_BASIS = 2  # the best texts: people named in them are present
_SECTIONS = 5  # by their words
_CHECKED = 4  # chapters before the one that is checked
_OUTLINED = 0.5  # of somebody named by the outline of a chapter
_THING = 0.6  # a place or a thing that is merely there, to a person
_FITTING = 0.9  # present, and the profile fits the question
_BACKUP = 0.95  # a text found only by meaning, below the last one found by words
_FAR = 1 << 20
_UNITS = 192  # texts and sections that are looked at, best first: many times what any answer shows
_LOOKED_AT = (12, 48, _UNITS)  # made at once
_NOTHING = 3.01 * SCORE["c"] * SCORE["d"]  # a text without any word of the question

How = Literal["words", "chapter", "adjacent", "relation", "mention", "present", "fulltext", "vector"]


@dataclass(frozen=True, slots=True)
class Ordered:
    """One document or section of the answer.

    Attributes:
        score: Comparable within one answer.
        key: Of the text or section in the corpus.
        is_section: Which of the two.
        how: What brought it in.
        unit: What the core says of a text.
    """

    score: float
    key: int
    is_section: bool
    how: How
    unit: ScoredUnit | None = None


def in_order(
    corpus: Corpus,
    question: Understanding,
    people: Subjects,
    ranked: Ranked,
    bounds: Bounds,
    limit: int,
    backup: Sequence[int] = (),
) -> list[Ordered]:
    """The best texts and sections, best first; ties go to texts, then to what comes first in the book.

    Args:
        corpus: For chapters, mentions and sections.
        question: The question.
        people: Its entities.
        ranked: Its scores.
        bounds: What may be found.
        limit: At most so many.
        backup: Texts by meaning, best first; those found in no other way come after everything else.

    Cost: linear in the best units of the project, at most 192.
    """
    found_any = ranked.outcome != "nothing found"
    # What is found by meaning stands behind all that is found by words, however many that are.
    most = _UNITS if backup else max(limit, _BASIS)
    units = _units(ranked) if found_any else ()
    texts = _texts(corpus, question, chain.from_iterable(units), corpus.units(ranked.core), bounds, most)
    sections = _sections(corpus, question, people, ranked, texts)
    texts = list({item.key: item for item in sorted(texts, key=_score)}.values())
    if bounds:
        sections = {key: pair for key, pair in sections.items() if _is_in_bounds(corpus, key, bounds)}
    scores = sorted([*map(_score, texts), *map(itemgetter(0), sections.values())], reverse=True)
    # Nothing below the last of the best can be among them, however ties are broken.
    least = -math.inf if backup or not 0 < limit <= len(scores) else scores[limit - 1]
    rows = [item for item in texts if item.score >= least]
    rows += [Ordered(score, key, is_section=True, how=how) for key, (score, how) in sections.items() if score >= least]
    rows.sort(key=lambda item: (-item.score, item.is_section, corpus.place(item.key)))
    if not backup:
        return rows[:limit]
    lowest = rows[-1].score if rows else 1.0
    keys = {item.key for item in texts}
    behind = [key for key in backup if key not in keys]
    rows += [Ordered(lowest * _BACKUP ** (n + 1), key, is_section=False, how="vector") for n, key in enumerate(behind)]
    return rows[:limit]


_score = attrgetter("score")


def _units(ranked: Ranked) -> Iterator[list[ScoredUnit]]:
    """The best units, best first, in lists that are made as they are looked at."""
    begin = 0
    for end in _LOOKED_AT:
        units = ranked.scores.units(end - begin, begin)
        yield units
        if len(units) < end - begin:
            return
        begin = end


def _texts(
    corpus: Corpus,
    question: Understanding,
    units: Iterable[ScoredUnit],
    numbered: UnitIndex,
    bounds: Bounds,
    most: int,
) -> list[Ordered]:
    """Texts asked for, their neighbours, and of those found by their words `most` and what is worth the same."""
    result: list[Ordered] = []
    asked_for: list[tuple[int, ScoredUnit]] = []
    share = WEIGHTS["others"] if question.chapters else 1.0
    best = last = 0.0
    enough, keys = False, set[int]()
    for unit in units:
        rank, wanted = unit.rank, unit.asked > 0
        if not wanted and (rank <= STOP_SHARE * best or (enough and rank < last)):
            if not question.chapters:
                break  # they stand by rank
            continue
        key = numbered.texts[unit.number]
        if key is None:
            continue
        if wanted:
            asked_for.append((key, unit))
            continue
        hit = unit.own > 0 or unit.told > 0 or rank > _NOTHING
        if not hit:
            continue
        best, last = best or rank, rank
        result.append(Ordered(share * rank / best, key, is_section=False, how="words", unit=unit))
        keys.add(key)
        enough = len(keys) >= most
    if asked_for:
        numbers = {number: place for place, number in enumerate(question.chapters)}
        asked_for.sort(key=lambda pair: (numbers.get(corpus.texts[pair[0]].number or 0, _FAR), corpus.place(pair[0])))
    first = [
        Ordered(WEIGHTS["asked"] - 0.001 * place, key, is_section=False, how="chapter", unit=unit)
        for place, (key, unit) in enumerate(asked_for, bool(corpus.outside.asked))
    ]
    named = [
        Ordered(WEIGHTS["asked"], key, is_section=False, how="chapter")
        for key, text in (corpus.texts.items() if corpus.outside.asked else ())
        if text.path in corpus.outside.asked
    ]
    first = [*named, *first]
    beside = _neighbours(corpus, question, [*first, *result], bounds) if question.chapters else ()
    return [*first, *beside, *result]


def _neighbours(corpus: Corpus, question: Understanding, items: Sequence[Ordered], bounds: Bounds) -> Iterator[Ordered]:
    """The chapters before and after those asked for, nearest first; a check looks further back."""
    ids = {item.key for item in items if item.score >= WEIGHTS["adjacent"]}
    back = _CHECKED if question.consistency else 1
    for chapter in question.chapters:
        for story in corpus.stories:
            for here in (at for at, keys in enumerate(story) if corpus.texts[keys[0]].number == chapter):
                beside = (*reversed(story[max(0, here - back) : here]), *story[here + 1 : here + 2])
                for place, keys in enumerate(beside):
                    for key in keys:
                        if key not in ids and bounds.holds(corpus.kind_of(key), corpus.texts[key].number):
                            ids.add(key)
                            yield Ordered(WEIGHTS["adjacent"] - 0.01 * place, key, is_section=False, how="adjacent")


def _is_in_bounds(corpus: Corpus, key: int, bounds: Bounds) -> bool:
    document = corpus.document(corpus.sections[key].path)
    return document is not None and bounds.holds(document.kind, document.chapter)


def _sections(
    corpus: Corpus,
    question: Understanding,
    people: Subjects,
    ranked: Ranked,
    texts: Sequence[Ordered],
) -> dict[int, tuple[float, How]]:
    described = corpus.described
    rows: list[tuple[Sequence[int], float, How]] = []
    for place, entity_id in enumerate(people.named):
        rows.append((described.get(entity_id, ()), WEIGHTS["named"] - 0.01 * place, "mention"))
    for entity_id, (factor, _, _) in people.related.items():
        rows.append((described.get(entity_id, ()), WEIGHTS["related"] * factor, "relation"))
    present = _present_entities(corpus, question, people, ranked.described, texts)
    most = max(present.values(), default=1.0)
    for entity_id, amount in present.items():
        rows.append((described.get(entity_id, ()), WEIGHTS["present"] * amount / most, "present"))
    if ranked.outcome != "nothing found":
        numbered = corpus.units(ranked.core)
        by_words = ranked.scores.by_own(numbered.headed, _UNITS)[:_SECTIONS]
        terms = {*ranked.read.terms} if not question.entities else set()
        for number, own in by_words:
            key = numbered.sections[number]
            assert key is not None, "`headed` says so"
            is_named = len(terms) > 1 and terms.issubset(terms_of(_title(corpus, key)))
            score = WEIGHTS["related"] if is_named else WEIGHTS["fulltext"] * own / by_words[0][1]
            rows.append(((key,), score, "fulltext"))
    result: dict[int, tuple[float, How]] = {}
    nothing = (0.0, "")
    for keys, score, how in rows:
        for key in keys:
            if score > result.get(key, nothing)[0]:
                result[key] = (score, how)
    return result


def _title(corpus: Corpus, key: int) -> str:
    """The heading of a section; the title of its file where it has none."""
    section = corpus.sections[key]
    document = corpus.document(section.path)
    return section.section or ("" if document is None else document.title)


def _present_entities(
    corpus: Corpus,
    question: Understanding,
    people: Subjects,
    described: Mapping[str, float],
    texts: Sequence[Ordered],
) -> dict[str, float]:
    """Who is in the texts that matter: by mentions, more when the outline names them or their profile fits."""
    corpus.refresh_outline()
    referred = [item for item in texts if item.how == "chapter"]
    basis = [(item.key, 1.0 / len(referred)) for item in referred] or [
        (item.key, item.score**3) for item in texts[:_BASIS]
    ]
    present: defaultdict[str, float] = defaultdict(float)
    for key, weight in basis:
        text = corpus.texts[key]
        most = max(text.mentions.values(), default=1)
        outlined = corpus.outlined.get(key, frozenset())
        for entity_id, count in text.mentions.items():
            amount = (count / most) ** 0.5 + (_OUTLINED if entity_id in outlined else 0.0)
            present[entity_id] += weight * amount * (1.0 if corpus.entities[entity_id].type == "character" else _THING)
    for entity_id, score in described.items():
        if entity_id in present:
            present[entity_id] *= 1 + _FITTING * score
    return present
