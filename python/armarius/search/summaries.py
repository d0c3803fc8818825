"""What sums chapters up, as a signal of ranking (docs/decisions/0206).

A summary lifts its chapter, as a line of the outline does; a passage of it lifts the paragraphs that it sums up. Both
are searched by themselves for the words of the question, and never shown.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import add
from typing import Final, Protocol

from armarius._core import CorpusQuery
from armarius.codex.cards import chapter_at
from armarius.codex.model import Summary
from armarius.corpus.paragraphs import Paragraphs
from armarius.corpus.part import parts_of_lines
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.search.corpus import Corpus
from armarius.text.matcher import EntityMatcher

_STATED: Final = ("summary", "摘要", "梗概")
_MEMO: Final = ("summaries", "", None)
_MOST: Final = 96  # sentences, best first
Place = tuple[str, int]
"""Path, and position of a unit or a paragraph in its document."""
Values = list[tuple[str, int, float]]


class SummarySource(Protocol):
    """Where summaries of documents are kept."""

    def list(self) -> Sequence[Summary]:
        """All of them."""
        ...

    def stamp(self) -> Hashable:
        """Changes with every write."""
        ...


def stated(document: Document) -> str:
    """The summary in the front matter of a document, or ""."""
    found = next((said for key in _STATED if (said := document.front_matter.get(key))), "")
    return found.strip() if isinstance(found, str) else ""


@dataclass(frozen=True, slots=True)
class Told:
    """What summaries say to one question.

    Attributes:
        units: Path, position of the unit, and how good its summary is, over the best.
        paragraphs: The same of paragraphs, by their passages.
        lines: The summary of each of those units.
        held: How many sentences hold each group of the question.
    """

    units: Values = field(default_factory=list)
    paragraphs: Values = field(default_factory=list)
    lines: Mapping[Place, str] = field(default_factory=dict)
    held: Sequence[int] = ()


Sentences = Mapping[str, Sequence[tuple[str, Sequence[Place]]]]
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
        self._ranked = (_Ranked(), _Ranked())

    def of(self, corpus: Corpus) -> Tell | None:
        """Tells what the summaries say to a question; None where there are none. Raises what the source raises.

        Cost: nothing until a text or a summary changes; then a look at every text, and the sentences that are new.
        """
        whole, stamp = corpus.whole, self._kept.stamp()
        known: tuple[Hashable, tuple[Sentences, Sentences]] | None = whole.memo.get(_MEMO)
        if known is None or known[0] != stamp:
            known = whole.memo[_MEMO] = stamp, _sentences(whole, self._kept.list())
        if not any(known[1]):
            return None
        if self._matcher is not corpus.matcher:
            self._matcher, self._ranked = corpus.matcher, (_Ranked(), _Ranked())
        for ranked, said in zip(self._ranked, known[1], strict=True):
            ranked.take(said, corpus.matcher)
        return partial(_told, *self._ranked)


class _Ranked:
    """Sentences as a corpus of their own."""

    def __init__(self) -> None:
        self.said: Sentences = {}
        self._corpus = Paragraphs()

    def take(self, said: Sentences, matcher: EntityMatcher) -> None:
        if said is self.said:
            return
        lines, before = ({path: [line for line, _ in own] for path, own in one.items()} for one in (said, self.said))
        changed = {path: own for path, own in lines.items() if before.get(path) != own}
        for path, part in parts_of_lines(changed, matcher).items():
            self._corpus.update(path, part)
        for path in before.keys() - lines.keys():
            self._corpus.remove(path)
        self.said = said

    def score(self, query: CorpusQuery) -> tuple[dict[Place, tuple[float, str]], list[int]]:
        """Of each place the best value over the best of all and its sentence; how many sentences hold each group."""
        scores = self._corpus.corpus.score(query)
        found: dict[Place, tuple[float, str]] = {}
        for one in scores.paragraphs(_MOST):
            line, about = self.said[one.path][one.index]
            for place in about:
                found.setdefault(place, (one.score / scores.best, line))
        return found, scores.frequencies


def _told(units: _Ranked, paragraphs: _Ranked, query: CorpusQuery) -> Told:
    (lifted, held), (near, also_held) = units.score(query), paragraphs.score(query)
    return Told(
        [(*place, value) for place, (value, _) in lifted.items()],
        [(*place, value) for place, (value, _) in near.items()],
        {place: line for place, (_, line) in lifted.items()},
        [*map(add, held, also_held)],
    )


def _sentences(corpus: Corpus, kept: Iterable[Summary]) -> tuple[Sentences, Sentences]:
    """What is said of units, and of paragraphs."""
    kept_of = {one.document: one for one in kept}
    documents = {text.path: text.file.document for text in corpus.texts.values()}
    of_units = defaultdict[str, list[tuple[str, Sequence[Place]]]](list)
    of_paragraphs: dict[str, list[tuple[str, Sequence[Place]]]] = {}
    units = _units(corpus)
    for path, document in documents.items():
        if document.kind == "summary":
            for number, said in _by_chapter(document).items():
                about = tuple(
                    place for key in corpus.by_chapter.get(number, ())
                    if corpus.texts[key].file.document.kind in STORY_KINDS
                    for place in units.get((corpus.texts[key].path, corpus.texts[key].section), ())
                )  # fmt: skip
                if about:
                    of_units[path].append((said, about))
        one = kept_of.get(path)
        if one is not None and one.content_hash != document.content_hash:
            one = None  # stale
        if said := stated(document) if document.kind in STORY_KINDS else "":
            of_units[path].append((said, units[path, None]))
        elif one is not None:
            of_units[path].append((one.text, units[path, None]))
        if one is not None and one.passages:
            last = len(document.paragraphs)
            of_paragraphs[path] = [
                (passage.text, tuple((path, at) for at in range(passage.first, min(passage.last + 1, last))))
                for passage in one.passages
            ]
    return of_units, of_paragraphs


def _units(corpus: Corpus) -> Mapping[tuple[str, str | None], list[Place]]:
    """The units of each document, and by label, as the core counts them."""
    found = defaultdict[tuple[str, str | None], list[Place]](list)
    for path, label in corpus.core.units:
        place = (path, len(found[path, None]))
        found[path, None].append(place)
        found[path, label].append(place)
    return found


def _by_chapter(document: Document) -> dict[int, str]:
    """What a file of summaries says of each chapter."""
    said = defaultdict[int, list[str]](list)
    for one in document.paragraphs:
        if one.role == "body" and (number := chapter_at(document, one)) is not None:
            said[number].append(document.text[one.start : one.end])
    return {number: " ".join(parts) for number, parts in said.items()}
