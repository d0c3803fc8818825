"""Signals of ranking beside words: code that calls or is called, and what sums chapters up.

A question about how something happens finds one function by its words and needs the next ones too. Names are read from
the text (`definitions` and `calls` of the core), so that no index of symbols is needed; a name that many definitions
have says little and is followed inside its own file only.

A summary lifts its chapter, as a line of the outline does; a passage of it lifts the paragraphs that it sums up
(docs/decisions/0206). Both are searched by themselves for the words of the question, and never shown.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from operator import add
from typing import Final, Protocol

import armarius._core as _core
from armarius._core import CorpusQuery, CorpusScores
from armarius.codex.cards import chapter_at
from armarius.codex.model import Summary
from armarius.corpus.part import Paragraphs, parts_of_lines
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.search.corpus import Corpus
from armarius.text.matcher import EntityMatcher
from armarius.types import PassageKey

_STATED: Final = ("summary", "摘要", "梗概")
_MEMO: Final = ("summaries", "", None)
_MOST: Final = 96  # sentences, best first
"""Path, and position of a unit or a paragraph in its document."""
Values = list[tuple[str, int, float]]


class SummarySource(Protocol):
    """Where summaries of documents are kept."""

    def list(self) -> Sequence[Summary]:
        """All of them."""

    def stamp(self) -> Hashable:
        """Changes with every write."""


def stated_summary(document: Document) -> str:
    """The summary in the front matter of a document, or ""."""
    value = next((text for key in _STATED if (text := document.front_matter.get(key))), "")
    return value.strip() if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Told:
    """What summaries say to one question.

    Attributes:
        units: Path, position of the unit, and how good its summary is, over the best.
        paragraphs: The same of paragraphs, by their passages.
        lines: The summary of each of those units.
        held: How many sentences hold each group of the question.
        share: Their weight, 1 where all of the story is summed up.
    """

    units: Values = field(default_factory=list)
    paragraphs: Values = field(default_factory=list)
    lines: Mapping[PassageKey, str] = field(default_factory=dict)
    held: Sequence[int] = ()
    share: float = 1.0


Sentences = Mapping[str, Sequence[tuple[str, Sequence[PassageKey]]]]
"""By document: a sentence and what it is about."""
Tell = Callable[[CorpusQuery], Told]


class SummaryIndex:
    """The summaries of a project, as far as they fit its texts; used by whoever holds the corpus.

    Args:
        kept: Those that are kept beside the texts.
    """

    def __init__(self, kept: SummarySource) -> None:
        self._kept = kept
        self._matcher: EntityMatcher | None = None
        self._ranked = (_SentenceCorpus(), _SentenceCorpus())

    def of(self, corpus: Corpus) -> Tell | None:
        """Tells what the summaries say to a question; None without summaries. Raises what the source raises.

        Cost: nothing until a text or a summary changes; then a look at every text, and the sentences that are new.
        """
        whole, stamp = corpus.whole, self._kept.stamp()
        entry: tuple[Hashable, tuple[Sentences, Sentences], float] | None = whole.memo.get(_MEMO)
        if entry is None or entry[0] != stamp:
            entry = whole.memo[_MEMO] = stamp, *_sentences(whole, self._kept.list())
        if not any(entry[1]):
            return None
        if self._matcher is not corpus.matcher:
            self._matcher, self._ranked = corpus.matcher, (_SentenceCorpus(), _SentenceCorpus())
        for ranked, sentences in zip(self._ranked, entry[1], strict=True):
            ranked.take(sentences, corpus.matcher)
        return partial(_summary_scores, *self._ranked, entry[2])


class _SentenceCorpus:
    """Sentences as a corpus of their own."""

    def __init__(self) -> None:
        self.said: Sentences = {}
        self._corpus = Paragraphs()

    def take(self, sentences: Sentences, matcher: EntityMatcher) -> None:
        if sentences is self.said:
            return
        lines, before = (
            {path: [line for line, _ in own] for path, own in group.items()} for group in (sentences, self.said)
        )
        changed = {path: own for path, own in lines.items() if before.get(path) != own}
        for path, part in parts_of_lines(changed, matcher).items():
            self._corpus.update(path, part)
        for path in before.keys() - lines.keys():
            self._corpus.remove(path)
        self.said = sentences

    def score(self, query: CorpusQuery) -> tuple[dict[PassageKey, tuple[float, str]], list[int]]:
        """Of each place the best value over the best of all and its sentence; how many sentences hold each group."""
        scores = self._corpus.corpus.score(query)
        result: dict[PassageKey, tuple[float, str]] = {}
        for path, index, score in scores.paragraphs(_MOST):
            line, about = self.said[path][index]
            for place in about:
                result.setdefault(place, (score / scores.best, line))
        return result, scores.frequencies


def _summary_scores(units: _SentenceCorpus, paragraphs: _SentenceCorpus, share: float, query: CorpusQuery) -> Told:
    (lifted, counts), (near, also_held) = units.score(query), paragraphs.score(query)
    return Told(
        [(*place, value) for place, (value, _) in lifted.items()],
        [(*place, value) for place, (value, _) in near.items()],
        {place: line for place, (_, line) in lifted.items()},
        [*map(add, counts, also_held)],
        share,
    )


def _sentences(corpus: Corpus, kept: Iterable[Summary]) -> tuple[tuple[Sentences, Sentences], float]:
    """What is said of units, and of paragraphs, and the weight of both.

    Of less than half of the story they have none: they would pull questions away from the rest.
    """
    kept_of = {summary.document: summary for summary in kept}
    documents = {text.path: text.file.document for text in corpus.texts.values()}
    of_units = defaultdict[str, list[tuple[str, Sequence[PassageKey]]]](list)
    of_paragraphs: dict[str, list[tuple[str, Sequence[PassageKey]]]] = {}
    units = cache(partial(_units, corpus))  # most projects need none
    for path, document in documents.items():
        if document.kind == "summary":
            for number, text in _by_chapter(document).items():
                about = tuple(
                    place for key in corpus.by_chapter.get(number, ())
                    if corpus.texts[key].file.document.kind in STORY_KINDS
                    for place in units().get((corpus.texts[key].path, corpus.texts[key].section), ())
                )  # fmt: skip
                if about:
                    of_units[path].append((text, about))
        summary = kept_of.get(path)
        if summary is not None and summary.content_hash != document.content_hash:
            summary = None  # stale
        if text := stated_summary(document) if document.front_matter and document.kind in STORY_KINDS else "":
            of_units[path].append((text, units()[path, None]))
        elif summary is not None:
            of_units[path].append((summary.text, units()[path, None]))
        if summary is not None and summary.passages:
            last = len(document.paragraphs)
            of_paragraphs[path] = [
                (passage.text, tuple((path, at) for at in range(passage.first, min(passage.last + 1, last))))
                for passage in summary.passages
            ]
    some = documents.items() if of_units else ()
    story = [place for path, document in some if document.kind in STORY_KINDS for place in units()[path, None]]
    summed = {place for own in of_units.values() for _, about in own for place in about}.intersection(story)
    share = max(0.0, 2 * len(summed) / max(1, len(story)) - 1)
    return (of_units, of_paragraphs), share


def _units(corpus: Corpus) -> Mapping[tuple[str, str | None], list[PassageKey]]:
    """The units of each document, and by label, as the core counts them."""
    places = defaultdict[tuple[str, str | None], list[PassageKey]](list)
    for path, label in corpus.core.units:
        place = (path, len(places[path, None]))
        places[path, None].append(place)
        places[path, label].append(place)
    return places


def _by_chapter(document: Document) -> dict[int, str]:
    """What a file of summaries says of each chapter."""
    texts = defaultdict[int, list[str]](list)
    for block in document.paragraphs:
        if block.role == "body" and (number := chapter_at(document, block)) is not None:
            texts[number].append(document.text[block.start : block.end])
    return {number: " ".join(parts) for number, parts in texts.items()}


CALLED, CALLER = 1.0, 0.3
"""Of a paragraph that what was found calls, and of one that calls it, both times the worth of the latter over the best.
Chosen on questions derived from five packages (`benches/eval_code.py`): docs/decisions/0092."""
_LOOKED_AT = 24  # paragraphs, best first
_STRONG = 0.35  # of the best: what is weaker leads nowhere
_AMBIGUOUS = 3  # definitions of one name
_USED = 12  # callers: what everybody calls tells nothing of the question

Signal = tuple[str, float, float, list[tuple[str, int, float]]]
"""Of paragraphs, as `CorpusQuery` takes it: name, weight, weight of neighbours, (path, paragraph, value)."""


_KEY = ("has code", "", None)


@dataclass(frozen=True, slots=True)
class _CodeHit:
    place: PassageKey
    share: float
    names: tuple[str, ...]
    own: str


def calls(corpus: Corpus, scores: CorpusScores) -> list[Signal]:
    """Signals of paragraphs as `CorpusQuery` takes them: what the best paragraphs of code call, and what calls them.

    Cost: the text of at most two dozen paragraphs, and as many postings as they call names; nothing without code.
    """
    if scores.best <= 0 or not _has_code(corpus.whole):
        return []
    hits = [hit for hit in _strong_files(corpus, scores) if hit.names or hit.own]
    if not hits:
        return []
    core = corpus.core
    called: dict[PassageKey, float] = {}
    callers: dict[PassageKey, float] = {}
    names = list(dict.fromkeys(name for hit in hits for name in hit.names))
    defined = dict(zip(names, core.definitions(names), strict=True))
    for hit in hits:
        for name in hit.names:
            _follow_link(called, hit, defined[name], _AMBIGUOUS)
    own = list(dict.fromkeys(hit.own for hit in hits if hit.own))
    used = dict(zip(own, core.calls(own), strict=True))
    for hit in hits:
        if hit.own:
            _follow_link(callers, hit, used[hit.own], _USED)
    return [
        (name, weight, 0.0, [(*place, share) for place, share in sorted(shares.items())])
        for name, weight, shares in (("called", CALLED, called), ("calls", CALLER, callers))
        if shares
    ]


def text_of(document: Document, paragraph: int) -> str:
    """The text of a paragraph."""
    block = document.paragraphs[paragraph]
    return document.text[block.start : block.end]


def _strong_files(corpus: Corpus, scores: CorpusScores) -> Iterator[_CodeHit]:
    for path, index, score in scores.paragraphs(_LOOKED_AT):
        document = corpus.document(path)
        share = score / scores.best
        if document is None or document.kind != "code" or share < _STRONG:
            continue
        above = document.paragraphs[index].heading_path
        names = tuple(name for name in _core.called_names(text_of(document, index)) if name not in above)
        yield _CodeHit((path, index), share, names, above[-1] if above else "")


def _has_code(corpus: Corpus) -> bool:
    """Whether any document is source code; looked up once for each state of the project."""
    answer: bool | None = corpus.memo.get(_KEY)
    if answer is None:
        documents = map(corpus.document, corpus.paths)
        answer = corpus.memo[_KEY] = any(doc is not None and doc.kind == "code" for doc in documents)
    return answer


def _follow_link(shares: dict[PassageKey, float], hit: _CodeHit, places: Sequence[PassageKey], most: int) -> None:
    here = [place for place in places if place[0] == hit.place[0]]
    if len(places) > most:
        places = here
    if not places or len(places) > most:
        return
    for place in places:
        if place != hit.place:
            shares[place] = max(shares.get(place, 0.0), hit.share / len(places))
