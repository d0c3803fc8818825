"""`Retrieval`, the result of `engine.retrieve`, with the excerpts of its hits and how likely the answer is in them.

`Stretches` is that of `engine.find`.

`confidence` is a logistic model of a few signs of a ranking. `benches/eval_confidence.py` fitted it on the questions of
three novels, with and without an answer, at 8,000 tokens; docs/decisions/0207 has its errors on books that it was not
fitted on, and benches/results/confidence.json the bins.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import mul
from typing import TYPE_CHECKING, Final, Literal, overload

import armarius._core as _core
from armarius._core import CorpusScores
from armarius.codex.cards import drop_blanks
from armarius.documents.document import Document
from armarius.documents.segments import Paragraph
from armarius.errors import ContextWarning
from armarius.search.query.query import Understanding
from armarius.text.unicode import AT_END
from armarius.types import Hit, Hits, Omission

if TYPE_CHECKING:
    from rich.table import Table

Outcome = Literal["found", "weak", "nothing found", "index not ready", "source failed"]


@dataclass(frozen=True, slots=True, repr=False)
class Retrieval(Sequence[Hit]):
    """Hits, best first, as a sequence; ties go to texts before sections, then to the earlier path.

    Attributes:
        hits: The same as the sequence itself.
        understanding: What was read out of the question.
        outcome: `found`; `nothing found` (looked everywhere); `index not ready` (nothing has been read yet);
            `source failed` (nothing found, and not every source could look).
        confidence: How likely the answer is in what was found, 0 to 1, as calibrated on questions with and without an
            answer (docs/decisions/0207); 0 where nothing is found. The score of a hit says nothing of that.
        omitted: What would have been a hit, with the reason; `timeline`: it lies after the current chapter, or
            after `as_of`; `excluded`: the question names a chapter that the request leaves out.
        warnings: Sources that could not look; chapters that are named and that there are not (`CHAPTER_UNKNOWN`).
        also: The other wordings that were asked with.
        carried: What the question left to earlier turns of a conversation, each with its turn.
        stages: Stage to milliseconds; not part of equality.
    """

    hits: tuple[Hit, ...]
    understanding: Understanding
    outcome: Outcome
    omitted: tuple[Omission, ...] = ()
    warnings: tuple[ContextWarning, ...] = ()
    also: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict, compare=False)
    confidence: float = 0.0

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        """The hit at `index`."""
        return self.hits[index]

    def __len__(self) -> int:
        """Number of hits."""
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        """The hits, best first."""
        return iter(self.hits)

    def __repr__(self) -> str:
        left_out = f", {len(self.omitted)} omitted" if self.omitted else ""
        warned = f", {len(self.warnings)} warning{'s' * (len(self.warnings) != 1)}" if self.warnings else ""
        return f"Retrieval({self.outcome}: {Hits(self.hits)!r}{left_out}{warned})"

    def __rich__(self) -> "Table":
        """The hits as a table, as a terminal with rich shows them."""
        return Hits(self.hits).__rich__()

    def _repr_html_(self) -> str:
        """The hits as a table, as a notebook shows them."""
        return Hits(self.hits)._repr_html_()


class Stretches(Hits):
    """Some sentences each, four at most, best first: a page of them, and where the next one begins.

    Attributes:
        next_cursor: The `cursor` of the next page; None when there is nothing more.
        missing: Words of the query that the project holds nowhere.
        confidence: As of `Retrieval`; 1 for words in quotation marks that are there.
    """

    next_cursor: int | None = None
    missing: tuple[str, ...] = ()
    confidence: float = 0.0

    def __str__(self) -> str:
        """As an agent reads them: path, line, text; then what is missing and the next cursor."""
        rows = [row_of(hit) for hit in self]
        rows += [f"nowhere: {', '.join(self.missing)}"] if self.missing else []
        rows += [] if self or self.missing else ["nothing found"]
        return "\n".join([*rows, f"[more: cursor {self.next_cursor}]"] if self.next_cursor is not None else rows)


def row_of(hit: Hit) -> str:
    """A stretch with its place: `path:line ¶paragraph text`."""
    level = f" ({hit.level}: not in prompts)" if hit.level else ""
    return f"{hit.path}:{hit.line} ¶{hit.paragraph}{level} {hit.text}"


PAGE: Final = 800
"""Characters of a page of stretches, with their places."""
_SENTENCES = 4
_LONGEST = 400  # code points of a stretch: a row of a table may be longer


def stretch(text: str, paragraph: Paragraph, grams: Sequence[str]) -> tuple[int, int]:
    """The sentences of a paragraph that hold most of the grams and what follows them, four in all.

    Args:
        text: Of the document.
        paragraph: Of it.
        grams: Words, or pairs of characters, of the query.

    Returns:
        First and one past the last code point; as long as the paragraph when it is that short.

    Cost: one search of the paragraph for each gram.
    """
    ends = [match.end() for match in AT_END.finditer(text, paragraph.start, paragraph.end)]
    spans = [
        (end - len(part.lstrip()), start + len(part.rstrip()))
        for start, end in pairwise((paragraph.start, *ends, paragraph.end))
        if (part := text[start:end]).strip()
    ] or [(paragraph.start, paragraph.end)]
    sentences = [text[start:end] for start, end in spans]
    sets = [{at for at, hits in enumerate(_core.find_terms(sentences, [gram])) if hits} for gram in grams]
    runs = [(first, first + size) for size in range(1, _SENTENCES + 1) for first in range(len(spans) - size + 1)]
    first, end = max(runs, key=lambda run: (sum(not group.isdisjoint(range(*run)) for group in sets), run[0] - run[1]))
    end = min(len(spans), first + _SENTENCES)
    first = max(0, end - _SENTENCES)
    begin, last = spans[first][0], spans[end - 1][1]
    if last - begin <= _LONGEST:
        return begin, last
    places = [begin + span[0] for hits in _core.find_terms([text[begin:last]], list(grams)) for span in hits]
    begin = max(begin, min(min(places, default=begin) - _LONGEST // 4, last - _LONGEST))
    return begin, begin + _LONGEST


# Code points that an excerpt of a document has at least: in a dialogue a paragraph is a line, and the answer stands in
# the next one.
_LEAST = 400
_GAP = "……"


def excerpt(document: Document, hit: Hit, *, is_part: bool = False) -> str:
    """What `hit` found in `document`, of which a bounded request may see a part (`armarius.codex.cards`).

    Args:
        document: As it may be seen.
        hit: Of it.
        is_part: Whether something of it is blanked.

    Returns:
        A section's text; of a document the paragraphs that evidence with a span stands in, in document order, or the
        first one when no evidence has a span, of a paragraph itself; with what follows and precedes them until there
        are about 400 code points.
        Paragraphs are joined by blank lines, with an ellipsis between those that do not follow each other.

    Cost: one pass over the document's paragraphs.
    """
    paragraphs = document.paragraphs
    if hit.paragraph is None and hit.section:
        chosen = {at for at, paragraph in enumerate(paragraphs) if hit.section in paragraph.heading_path}
    else:
        spans = [reason.span for reason in hit.evidence if reason.span is not None and reason.path in ("", hit.path)]
        if hit.paragraph is not None:
            spans = [(hit.start, hit.end)]
        chosen = {
            at
            for at, paragraph in enumerate(paragraphs)
            if any(start < paragraph.end and paragraph.start < end for start, end in spans)
        }
        chosen = _grow_excerpt(paragraphs, chosen or set(range(min(1, len(paragraphs)))))
    parts: list[str] = []
    chosen = {at for at in chosen if document.text[paragraphs[at].start : paragraphs[at].end].strip()}
    for at in sorted(chosen):
        if parts and at - 1 not in chosen:
            parts.append(_GAP)
        text = document.text[paragraphs[at].start : paragraphs[at].end]
        parts.append(drop_blanks(text) if is_part else text)
    return "\n\n".join(parts)


def _grow_excerpt(paragraphs: Sequence[Paragraph], chosen: set[int]) -> set[int]:
    """`chosen` and what stands next to it, what follows before what precedes, until it is long enough."""
    chosen = set(chosen)
    length = sum(paragraphs[at].end - paragraphs[at].start for at in chosen)
    while length < _LEAST:
        after = {at + 1 for at in chosen} - chosen
        before = {at - 1 for at in chosen} - chosen
        adjacent = [at for at in (*sorted(after), *sorted(before)) if 0 <= at < len(paragraphs)]
        if not adjacent:
            break
        for at in adjacent:
            if length < _LEAST:
                chosen.add(at)
                length += paragraphs[at].end - paragraphs[at].start
    return chosen


SIGNS: Final = ("one", "best", "lost", "held", "asked", "named", "level", "worded", "sure")
WEIGHTS: Final = (0.34, 1.98, -1.08, 0.88, 1.21, 0.44, -1.08, 0.66, 1.19)
"""Of the signs, for the logarithm of the odds."""
READ: Final = (1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
"""The signs of the request who is in the chapters that it names: no words are looked for."""
_RANK = 20  # the paragraph that the best is compared with
_NAMES = 2  # more say nothing more


def signs(
    own: CorpusScores, fused: CorpusScores, best: float, *, asked: bool, names: int, worded: int, sure: int
) -> Sequence[float]:
    """The signs of a ranking, in the order of `SIGNS`.

    Args:
        own: Of the question's own words.
        fused: With its other wordings.
        best: How much the best paragraph holds of what the best of a question usually has.
        asked: Chapters, quoted words or files are asked for and there.
        names: How many entities the question names.
        worded: Other wordings.
        sure: Those of them that found something.

    Cost: one pass over the scores.
    """
    coverage = own.coverage
    total = coverage.total
    first = fused.paragraphs(_RANK + 1)
    return (
        1.0,
        math.log((best if total > 0 else 1.0) + 0.01),  # a chapter that is asked for needs no words
        coverage.lost / total if total > 0 else 0.0,
        coverage.best / total if total > 0 else 1.0,
        float(asked),
        float(min(names, _NAMES)),
        first[_RANK][2] / first[0][2] if len(first) > _RANK else 0.0,
        float(worded > 0),
        sure / worded if worded else 0.0,
    )


def confidence(values: Sequence[float]) -> float:
    """The probability that belongs to the signs, three digits."""
    odds = sum(map(mul, WEIGHTS, values))
    return round(1 / (1 + math.exp(-odds)), 3)
