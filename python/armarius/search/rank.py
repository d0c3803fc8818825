"""Ranks the paragraphs of a corpus for a question, and decides whether the question is answered at all.

A query becomes weighted groups of terms (`search/query/query.py`); the weights and thresholds are constants here; the
core (`rust/corpus`) computes the scores.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import compress, count, filterfalse
from operator import add, attrgetter
from typing import Final, Literal

from armarius._core import Corpus as CoreCorpus
from armarius._core import CorpusGroup, CorpusQuery, CorpusScores, CorpusWeights
from armarius.arguments import DOUBTED, EVERYTHING, GREATEST, MEAN, Bounds
from armarius.corpus.part import PARAGRAPH_B, PARAGRAPH_K1
from armarius.headings import Reason
from armarius.search.corpus import Corpus
from armarius.search.hits import READ, confidence, signs
from armarius.search.query.query import FAMILIES, QueryWords, TermGroup, Understanding, is_function, question, terms_of
from armarius.search.signals import Signal, Tell, Told, calls
from armarius.text.unicode import BETWEEN
from armarius.types import Evidence, VectorHits

FAMILY_WEIGHTS: Final = {
    "main": 1.0,
    "stop": 0.3,
    "single": 0.5,
    "name": 0.5,
    "entity": 0.7,
    "related": 0.7,
    "described": 0.2,
    "synonym": 0.6,
    "card": 0.5,
}
"""Without a family `answers@8000` of three books falls by: single .052, name .058, entity .031, related .024,
described .018, card .019, stop .011, synonym (English) .056."""

LEVELS: Final = ("paragraph", "window", "unit", "line")
K1: Final = {"paragraph": PARAGRAPH_K1, "window": 1.2, "unit": 1.2, "line": 1.2}
_B, _B_OF_NAMES = PARAGRAPH_B, 0.3
_NAMES = frozenset({"entity", "related", "described"})
FAMILY_B: Final = {
    family: {level: _B_OF_NAMES if family in _NAMES and level in ("paragraph", "line") else _B for level in LEVELS}
    for family in FAMILY_WEIGHTS
}
"""How much long texts are held back; a name says as much in a long paragraph as in a short one."""

WEIGHTS: Final = {
    "paragraph": 1.0,
    "near": 0.3,
    "window": 0.75,
    "unit": 0.5,
    "line": 0.5,
    "asked": 6.0,
    "c": 0.2,
    "d": 0.2,
}
MEANING: Final = {"paragraph": 1.2, "near": 0.4, "line": 0.4}
"""Of similarity, with a model that knows the project; half or twice any moves three books by at most .015."""
TOLD: Final = {"summary": WEIGHTS["line"], "passage": 1.0}
"""Of a chapter's summary, as of a line of the outline, and of its passages beside a paragraph's own words. Chosen on
either of two books they are the best or next to it on the other: docs/decisions/0206."""
STOP_SHARE: Final = 0.10
"""Of the best score: nothing below it enters. Costs nothing at 16,000 tokens; .15 costs .003, .2 .012."""

ABSENT: Final = 0.53
"""Above it a question is taken for one about what is not there; see `ranking`. Chosen on the absent questions of two
books (training): .50 and .38 of them, at .009 of the answers that others hold; docs/decisions/0065."""


_GRAIN = 1024
Placed = tuple[str, int, float]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a search by meaning says of a question; without any, nothing.

    Attributes:
        paragraphs: Path, position and value in (0, 1], best first.
        lines: The same of the outline.
        trust: Factor on the weights, 0 to 1.
        stands_out: Whether anything is nearer than chance would have it.
    """

    paragraphs: tuple[Placed, ...] = ()
    lines: tuple[Placed, ...] = ()
    trust: float = 0.0
    stands_out: tuple[Placed, ...] = ()

    @classmethod
    def of(cls, nearby: VectorHits, stands_out: Sequence[Placed]) -> "Meaning":
        """The signal of one answer; `stands_out` as placed in the documents of the request."""
        return cls(_scale_hits(nearby.paragraphs), _scale_hits(nearby.lines), nearby.trust, tuple(stands_out))

    def __bool__(self) -> bool:
        """Whether it counts."""
        return self.trust > 0 and bool(self.paragraphs)

    @property
    def paragraph_signal(self) -> tuple[str, float, float, list[Placed]]:
        """As the core takes it: name, weight, weight of the neighbours, values."""
        weight, near = MEANING["paragraph"] * self.trust, MEANING["near"] * self.trust
        return ("meaning", weight, near, list(self.paragraphs))

    @property
    def line_signal(self) -> tuple[str, float, list[Placed]]:
        """As the core takes it: name, weight, values."""
        return ("meaning", MEANING["line"] * self.trust, list(self.lines))


def _scale_hits(places: Sequence[Placed]) -> tuple[Placed, ...]:
    rounded = [(path, index, round(similarity * _GRAIN)) for path, index, similarity in places]
    if not rounded:
        return ()
    most, least = max(row[2] for row in rounded), min(row[2] for row in rounded)
    if most == least:
        return tuple((path, index, 1.0) for path, index, _ in rounded)
    return tuple((path, index, (value - least) / (most - least)) for path, index, value in rounded if value > least)


_ALL_UNITS = 1 << 20
_DESCRIBED = 5  # profiles that may be meant where nobody is named
_CARD_TERMS = 3.0  # what the sentence of a profile weighs in all, in terms
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_SINGLE = 0.5  # what a single Han character counts among the words of a question
_ALIKE = 0.3  # an alternative of at least this weight counts as the word, in part
_BEST_HAN, _BEST_LATIN = 2.5, 1.9  # what the best paragraph of a question usually has, in rarities of a single word
_LOST, _LOCKS = 0.25, 0.5
_ALL = 0.999  # of the rarity of a question's words: what one window holds that holds them all
_FAINT = frozenset({"stop", "single"})  # found in every book: alone they are no answer
# Of a book's paragraphs, and at least how many, hold a character that says little: 说 .61 and .68 of two novels, 好 .47
# and .53, 走 .25 and .34, 死 .15 and .13.
_COMMON, _COMMON_LEAST = 0.4, 20
_BEST = 100  # paragraphs of a wording that are compared with those of another
_AGREES = 4  # times as many in common as by chance: it speaks of the same
_MOST_BY_CHANCE = 0.5  # of them: in a shorter text everything agrees
_QUOTED = 20.0  # what a quoted phrase of one paragraph adds to it, where the best words make 2 at most


_NO_MEANING, _NOT_TOLD = Meaning(), Told()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A question's scores.

    Attributes:
        scores: Of every paragraph that may be found.
        query: As the core was asked, for explaining a paragraph.
        core: What was asked.
        outcome: `found`; `weak`: it looks like a question about what is not there; `nothing found`.
        missing: Its words that occur nowhere.
        described: Entities with a profile that fits a question without names, each with its share of the best.
        read: Its words.
        groups: What was looked up.
        also: Other wordings, and as the core was asked for each.
        strange: Wordings that look like questions about what is not there, each with its words that occur nowhere:
            they count for nothing, as their best would count as much as that of a good one.
        stated: A card says what is asked for, even if the story does not.
        told: What summaries say to it.
        signs: Of how likely the answer is in it; see `search/hits.py`.
    """

    scores: CorpusScores
    query: CorpusQuery
    core: CoreCorpus
    outcome: Literal["found", "weak", "nothing found"]
    missing: tuple[str, ...]
    described: Mapping[str, float]
    read: QueryWords
    groups: tuple[TermGroup, ...]
    also: tuple[tuple[str, CorpusQuery], ...] = ()
    strange: tuple[tuple[str, tuple[str, ...]], ...] = ()
    stated: bool = False
    told: Told = _NOT_TOLD
    signs: Sequence[float] = ()

    @property
    def confidence(self) -> float:
        """How likely the answer is in what was found, 0 to 1."""
        return 0.0 if self.outcome == "nothing found" else confidence(self.signs)

    @property
    def is_faint(self) -> bool:
        """Whether an answer has to say that there may be none."""
        return self.outcome == "weak" and not self.stated


def rank(
    corpus: Corpus,
    analysis: Understanding,
    related: Mapping[str, float] | None = None,
    *,
    also: Sequence[tuple[Understanding, Mapping[str, float]]] = (),
    bounds: Bounds = EVERYTHING,
    quoted: Sequence[Placed] = (),
    meaning: Callable[[], Meaning] = Meaning,
    summaries: Tell | None = None,
) -> Ranked:
    """Rank every paragraph of the project.

    Args:
        corpus: The project.
        analysis: The question.
        related: Entities that a relation word of it leads to, each with a factor.
        also: The same question in other words, understood likewise.
        bounds: What may be found.
        quoted: Paragraphs that hold a quoted phrase, each with how rare that is: they come first.
        meaning: Says what is near in meaning, and may wait for it: asked last. With other wordings it counts for
            nothing.
        summaries: What sums chapters up.

    Cost: the postings of the question's terms.
    """
    core = corpus.core
    read = _drop_synonyms(core, analysis, question(analysis, related))
    described = _described_scores(corpus, core, analysis, read)
    groups = _groups(corpus, core, analysis, read, described)
    boost = _summary_hits(groups, summaries)
    sure, weak, strange = _rank_wordings(corpus, also, bounds, summaries)
    near = meaning()
    query = _query(analysis, read, groups, bounds, quoted, near if not also else _NO_MEANING, told=boost)
    scores = core.score(query)
    if boost.share < 1 and not _is_grounded(groups, scores, len(core), _NOT_TOLD):  # words of a summary alone
        boost = replace(boost, share=1.0)
        query = _query(analysis, read, groups, bounds, quoted, near if not also else _NO_MEANING, told=boost)
        scores = core.score(query)
    if leads := calls(corpus, scores):  # of code alone
        query = _query(analysis, read, groups, bounds, quoted, near if not also else _NO_MEANING, leads, boost)
        scores = core.score(query)
    named = bool(quoted or corpus.outside.asked) or any(bounds.holds("chapter", number) for number in analysis.chapters)
    grounded = named or _is_grounded(groups, scores, len(core), boost)
    outcome, missing = _outcome(core, analysis, read, scores)
    if not grounded and not sure and weak:  # a strange one counts only where nothing else finds anything
        sure, strange = weak, [pair for pair in strange if pair[0] not in {wording for _, wording, _ in weak}]
    others = [scores for scores, _, _ in sure]
    own = scores
    if others:
        scores, grounded = _fuse_scores(core, scores, others), True
        if outcome == "weak":
            outcome = "found"
    if named and outcome == "weak":
        outcome = "found"
    if not grounded and near.stands_out:
        query = _query(
            analysis, read, groups, bounds, quoted, replace(near, paragraphs=near.stands_out, trust=1.0), told=boost
        )
        scores, outcome = core.score(query), "found"
    elif not grounded or (scores.best <= 0 and not corpus.outside.asked):
        outcome = "nothing found"
    return Ranked(
        scores,
        query,
        core,
        outcome,
        missing,
        described,
        read,
        tuple(groups),
        tuple([pair[1:] for pair in sure]),
        tuple(strange),
        told=boost,
        signs=READ if analysis.chapters and analysis.reads and "whole" in analysis.recipe.parts else signs(
            own, scores, _best(core, analysis, read, own), asked=named, names=len(analysis.entities), worded=len(also),
            sure=len(others),
        ),
    )  # fmt: skip


def _drop_synonyms(core: CoreCorpus, analysis: Understanding, read: QueryWords) -> QueryWords:
    """The words of a question; one word that the project holds has no synonyms, as they would outrank some of it."""
    alone = len(read.words) == 1 and read.alternatives and not analysis.entities
    if not alone or not all(core.frequencies(list(read.terms))):
        return read
    return replace(read, groups=tuple(group for group in read.groups if group.family != "synonym"), alternatives={})


Wording = tuple[CorpusScores, str, CorpusQuery]


def _rank_wordings(
    corpus: Corpus,
    also: Sequence[tuple[Understanding, Mapping[str, float]]],
    bounds: Bounds,
    summaries: Tell | None,
) -> tuple[list[Wording], list[Wording], list[tuple[str, tuple[str, ...]]]]:
    """Other wordings looked up: those that found something; of the strange ones those that found anything; the strange.

    Strange is one that looks like a question about what is not there; with its words that occur nowhere.
    """
    core, sure, weak, strange = corpus.core, list[Wording](), list[Wording](), list[tuple[str, tuple[str, ...]]]()
    for wording, reached in also:
        read = question(wording, reached)
        groups = _groups(corpus, core, wording, read, _described_scores(corpus, core, wording, read))
        boost = _summary_hits(groups, summaries)
        query = _query(wording, read, groups, bounds, told=boost)
        scores = core.score(query)
        how, missing = _outcome(core, wording, read, scores)
        grounded = _is_grounded(groups, scores, len(core), boost)
        if how == "found" and grounded:
            sure.append((scores, wording.query, query))
            continue
        strange.append((wording.query, missing))
        if grounded:
            weak.append((scores, wording.query, query))
    return sure, weak, strange


def _fuse_scores(core: CoreCorpus, own: CorpusScores, others: list[CorpusScores]) -> CorpusScores:
    """The scores of a question with those of its wordings; where most agree with nothing, those count a part.

    A wording agrees when its best paragraphs are those of the question or of another wording more often than by chance;
    in a short text, and where there is but one, nobody can tell.
    """
    share = _AGREES * _BEST / max(len(core), 1)
    if len(others) == 1 or share > _MOST_BY_CHANCE:
        return own.fused(others, mean=MEAN, most=GREATEST)
    best = [{item[:2] for item in scores.paragraphs(_BEST)} for scores in (own, *others)]
    sure, doubted = list[CorpusScores](), list[CorpusScores]()
    for at, scores in enumerate(others, 1):
        rest = [other for number, other in enumerate(best) if number != at]
        agrees = any(len(best[at] & keys) >= max(1, share * min(len(best[at]), len(keys))) for keys in rest)
        (sure if agrees else doubted).append(scores)
    if 2 * len(sure) >= len(others):  # their author knows the book
        return own.fused(others, mean=MEAN, most=GREATEST)
    fused = own
    for some, part in ((sure, 1.0), (doubted, DOUBTED)):
        if some:
            fused = fused.fused(some, mean=MEAN * part * len(some) / len(others), most=GREATEST * part)
    return fused


def paragraphs_about(
    corpus: Corpus, entity_id: str, words: Sequence[str], terms: Sequence[str], *, as_of: int | None, limit: int
) -> list[tuple[str, int]]:
    """Path and position of the paragraphs that speak of an entity in any of `words`, or in `terms`, likeliest first."""
    groups = [CorpusGroup("entity", [], entities=[(entity_id, 1.0)])]
    if words:
        groups.append(CorpusGroup("main", [(word, 1.0) for word in words]))
    groups += [CorpusGroup("card", [], terms=[(term, 1.0)]) for term in terms]
    core, bounds = corpus.core, corpus.scope
    as_of = as_of if bounds.as_of is None else bounds.as_of
    query = CorpusQuery(_weights(), groups, kinds=list(bounds.kinds), chapters=bounds.chapters, as_of=as_of)
    return [(path, index) for path, index, _ in core.score(query).paragraphs(limit)]


def _is_grounded(groups: Sequence[TermGroup], scores: CorpusScores, paragraphs: int, boost: Told) -> bool:
    """Whether anything but single characters and words of every book was found, in texts or summaries.

    A pair that function words were cut out of counts where the other character is one of the question and no common
    one: 继之 does, 为什 does not, nor 你说.
    """
    counts = scores.frequencies if not boost.held else list(map(add, scores.frequencies, boost.held))
    if not _FAINT.issuperset(map(attrgetter("family"), compress(groups, counts))):
        return True
    pairs = [(group, count) for group, count in zip(groups, counts, strict=True) if count]
    common = max(_COMMON * paragraphs, _COMMON_LEAST)
    telling = {
        term for group, count in pairs if group.family == "single" and count <= common for term, _ in group.terms
    }
    return any(
        group.family == "stop" and not telling.isdisjoint(char for term, _ in group.terms for char in term)
        for group, _ in pairs
    )


@cache
def _weights() -> CorpusWeights:
    families = [(name, FAMILY_WEIGHTS[name], _level_values(FAMILY_B[name])) for name in FAMILIES]
    return CorpusWeights(families, k1=_level_values(K1), **WEIGHTS)


@cache
def _summary_weights() -> CorpusWeights:
    """A sentence of a summary is ranked as a line of the outline is."""
    families = [(name, FAMILY_WEIGHTS[name], (FAMILY_B[name]["line"],) * 4) for name in FAMILIES]
    return CorpusWeights(families, k1=(K1["line"],) * 4)


def _summary_hits(groups: Sequence[TermGroup], summaries: Tell | None) -> Told:
    return _NOT_TOLD if summaries is None else summaries(CorpusQuery(_summary_weights(), groups))


def _level_values(values: Mapping[str, float]) -> tuple[float, float, float, float]:
    paragraph, window, unit, line = (values[level] for level in LEVELS)
    return paragraph, window, unit, line


def _groups(
    corpus: Corpus, core: CoreCorpus, analysis: Understanding, read: QueryWords, described: Mapping[str, float]
) -> list[TermGroup]:
    fitting = [TermGroup("described", share, entities=(entity,)) for entity, share in described.items()]
    return [*read.groups, *fitting, *_cards(corpus, core, analysis, read)]


def _query(
    analysis: Understanding,
    read: QueryWords,
    groups: Sequence[TermGroup],
    bounds: Bounds,
    quoted: Sequence[Placed] = (),
    meaning: Meaning = _NO_MEANING,
    leads: Sequence[Signal] = (),
    told: Told = _NOT_TOLD,
) -> CorpusQuery:
    alike: dict[str, int] = {}
    if read.alternatives:
        first = next((at for at, group in enumerate(groups) if group.family == "synonym"), 0)
        alike = dict(zip(read.alternatives, count(first)))
    concepts: list[tuple[str | None, str | None, float, int | None]] = [
        (word, None, _SINGLE if len(word) == 1 and _HAN.match(word) else 1.0, alike.get(word)) for word in read.words
    ]
    concepts += [(None, entity, 1.0, None) for entity in analysis.entities]
    return CorpusQuery(
        _weights(),
        groups,
        asked=list(analysis.chapters),
        concepts=concepts,
        near=_ALIKE,
        kinds=list(bounds.kinds),
        chapters=bounds.chapters,
        as_of=bounds.as_of,
        besides=list(bounds.exceptions),
        without=list(bounds.without),
        paragraph_signals=[
            ("quoted", _QUOTED, 0.0, list(quoted)),
            *([meaning.paragraph_signal] if meaning else []),
            *leads,
            ("passage", TOLD["passage"] * told.share, 0.0, told.paragraphs),
        ],
        unit_signals=[("summary", TOLD["summary"] * told.share, told.units)],
        line_signals=[meaning.line_signal] if meaning else [],
    )


def _described_scores(corpus: Corpus, core: CoreCorpus, analysis: Understanding, read: QueryWords) -> dict[str, float]:
    """Entities with a profile that fits a question without names and chapters, each with its share of the best."""
    if analysis.entities or analysis.chapters:
        return {}
    groups = [group for group in read.groups if group.family in ("main", "single", "synonym")]
    if not groups:
        return {}
    scores = core.score(CorpusQuery(_weights(), groups, kinds=["setting"]))
    numbered = corpus.units(core)
    shares: dict[str, float] = {}
    best = 0.0
    for number, own in scores.by_own(numbered.describing, _ALL_UNITS):
        best = best or own
        for entity in numbered.owners[number]:
            shares.setdefault(entity, own / best)
        if len(shares) >= _DESCRIBED:
            break
    return dict(list(shares.items())[:_DESCRIBED])


def _cards(corpus: Corpus, core: CoreCorpus, analysis: Understanding, read: QueryWords) -> list[TermGroup]:
    """How the profiles of those named put what is asked: the sentence that shares most with the question, its terms."""
    if not analysis.entities:
        return []
    names, own = set(read.names), set(read.terms)
    wanted = own | {term for others in read.alternatives.values() for word, _ in others for term in terms_of(word)}
    if not wanted:
        return []
    pairs = sorted(wanted) if all(map(_HAN.match, wanted)) else None  # of which a sentence tells without its terms
    rarities: dict[str, float] = {}
    terms: dict[str, None] = {}
    for entity in analysis.entities:
        for key in corpus.described.get(entity, ()):
            best, line = 0.0, ""
            for sentence in BETWEEN.split(corpus.sections[key].text):
                if pairs is None:
                    shared = sorted(wanted.intersection(terms_of(sentence)))
                else:
                    shared = list(filter(sentence.__contains__, pairs))
                if strange := list(filterfalse(rarities.__contains__, shared)):
                    rarities.update(zip(strange, core.rarities(strange), strict=True))
                worth = sum(map(rarities.__getitem__, shared))
                if worth > best:
                    best, line = worth, sentence
            terms |= dict.fromkeys(
                term
                for term in terms_of(line)
                if term not in own and term not in names and not (_HAN.match(term) and any(map(is_function, term)))
            )
    weight = _CARD_TERMS / max(len(terms), 1)
    return [TermGroup("card", weight, terms=((term, 1.0),)) for term in terms]


def _join_words(words: Sequence[str], query: str) -> tuple[str, ...]:
    """Words that overlap or touch in the question as one, in its order: 量子 and 子计 are 量子计."""
    inside = ["\0"] * len(query)
    rest = []
    for word in words:
        at = query.find(word) if _HAN.match(word) else -1
        if at < 0:
            rest.append(word)
        else:
            inside[at : at + len(word)] = word
    return (*dict.fromkeys(filter(None, "".join(inside).split("\0"))), *rest)


def _outcome(
    core: CoreCorpus, analysis: Understanding, read: QueryWords, scores: CorpusScores
) -> tuple[Literal["found", "weak", "nothing found"], tuple[str, ...]]:
    """Whether the question looks like one about what is not there, and its words that occur nowhere.

    How good the best paragraph is, the share of the question's rarity that occurs nowhere, and the share that one
    window holds; fitted on the absent questions of two books (docs/decisions/0065).
    """
    coverage = scores.coverage
    absent = [read.words[at] for at in coverage.missing if at < len(read.words)] if coverage.missing else []
    missing = _join_words(absent, analysis.query) if absent else ()
    named_alone = bool(analysis.entities) and not read.words
    all_together = coverage.lost <= 0 and coverage.best >= _ALL * coverage.total
    if coverage.total <= 0 or named_alone or all_together:
        return "found", missing
    best = math.log(_best(core, analysis, read, scores) + 1e-3)
    strange = _LOST * coverage.lost / coverage.total - best - _LOCKS * coverage.best / coverage.total
    return ("weak" if strange >= ABSENT else "found"), missing


def _best(core: CoreCorpus, analysis: Understanding, read: QueryWords, scores: CorpusScores) -> float:
    """How much the best paragraph holds of what that of a question usually does."""
    scale = _BEST_HAN if any(map(_HAN.match, (*read.words, analysis.query))) else _BEST_LATIN
    return scores.strongest["paragraph"] / math.log(1 + max(len(core), 1) / 0.5) / scale


_MANY = 256


def wording_evidence(corpus: Corpus, ranked: Ranked) -> dict[int, Evidence]:
    """Key of each text that another wording finds to its best paragraph, of the wording that puts it highest.

    Cost: the postings of the wordings once more.
    """
    best: dict[int, tuple[float, Evidence]] = {}
    for wording, query in ranked.also:
        scores = ranked.core.score(query)
        for path, index, score in scores.paragraphs(_MANY):
            document = corpus.document(path)
            if document is None or scores.best <= 0:
                continue
            paragraph = document.paragraphs[index]
            text = corpus.text_at(path, paragraph.start)
            share = score / scores.best
            if text is not None and share > best.get(text.key, (0.0, None))[0]:
                detail = Reason("words.wording_alone", wording=wording)
                best[text.key] = (share, Evidence("fulltext", detail, path, (paragraph.start, paragraph.end)))
    return {key: evidence for key, (_, evidence) in best.items()}
