"""The paragraphs that a question found, on offer to fill a prompt: best first, each with its reasons when asked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from armarius.documents.document import Document
from armarius.documents.segments import Paragraph
from armarius.headings import heading
from armarius.records import Evidence, Row
from armarius.retrieval.ranking import Ranked
from armarius.retrieval.understand.query import Understanding
from armarius.retrieval.weights import STOP_SHARE, WEAK_TOKENS

__all__ = ["PassageOffer"]

_LAST = 1 << 30  # after every chapter
_MOST = 20_000  # rows that are looked at in one prompt
_REASONS = 4


@dataclass(frozen=True, slots=True)
class PassageOffer:
    """What one question found; see `armarius.records.Offer`.

    Attributes:
        ranked: The scores.
        documents: The texts, by path.
        asked: The question.
        chapter: The current chapter: later ones are withheld unless the question names them.
        admits: Whether a paragraph may stand in the prompt at all.
    """

    ranked: Ranked
    documents: Mapping[str, Document]
    asked: Understanding
    chapter: int | None = None
    admits: Callable[[Row], bool] = field(default=lambda _: True)

    @property
    def rows(self) -> Sequence[Row]:
        """Best first; ends where worth falls below a share of the best."""
        if self.ranked.outcome == "nothing found":
            return ()
        return _Rows(self)

    @property
    def most(self) -> int | None:
        """Tokens in all: few, when the question looks like one about what is not there."""
        return WEAK_TOKENS if self.ranked.outcome == "weak" else None

    @property
    def group(self) -> str:
        """The heading, which says when the answer is weak."""
        return heading("weak" if self.ranked.outcome == "weak" else "passages")

    def row(self, path: str, paragraph: int, /) -> Row | None:
        """Any paragraph of the project as it reads today, with its worth."""
        document = self.documents.get(path)
        if document is None or not 0 <= paragraph < len(document.paragraphs):
            return None
        return self._row(document, document.paragraphs[paragraph], self.ranked.scores.score_of(path, paragraph) or 0.0)

    def evidence(self, row: Row, /) -> tuple[Evidence, ...]:
        """What made its score: signals and families, the strongest first."""
        explained = self.ranked.corpus.explain(self.ranked.query, row.path, row.paragraph)
        if explained is None:
            return ()
        parts = sorted(explained.items(), key=lambda item: (-item[1], item[0]))
        detail = ", ".join(f"{name} {value:.2f}" for name, value in parts[:_REASONS] if value > 0)
        document = self.documents[row.path]
        span = document.paragraphs[row.paragraph]
        kind = "chapter" if row.asked else "fulltext"
        return (Evidence(kind, f"worth {row.score:.3f}: {detail}", row.path, (span.start, span.end)),)

    def _row(self, document: Document, paragraph: Paragraph, score: float) -> Row:
        chapter = document.chapter if paragraph.chapter is None else paragraph.chapter
        return Row(
            path=document.path,
            paragraph=paragraph.index,
            score=score,
            place=(_LAST if chapter is None or document.kind != "chapter" else chapter, document.path, paragraph.start),
            title=_title(document, paragraph),
            text=document.text[paragraph.start : paragraph.end].strip(),
            asked=chapter in self.asked.chapters and document.kind == "chapter",
        )

    def _withheld(self, row: Row) -> bool:
        """Whether it lies after the current chapter and the question does not name its chapter."""
        here = row.place[0]
        return self.chapter is not None and here != _LAST and here > self.chapter and not row.asked


def _title(document: Document, paragraph: Paragraph) -> str:
    if document.kind == "chapter" and document.chapter is not None:
        return document.title
    return paragraph.heading_path[-1] if paragraph.heading_path else document.title


class _Rows(Sequence[Row]):
    """Rows made as they are looked at."""

    def __init__(self, offer: PassageOffer) -> None:
        self._offer = offer
        scores = offer.ranked.scores
        floor = scores.best * STOP_SHARE
        self._found = [one for one in scores.paragraphs(_MOST) if one.score > floor]
        self._made: list[Row] = []
        self._next = 0

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Row]:
        at = 0
        while True:
            while at >= len(self._made):
                if not self._make():
                    return
            yield self._made[at]
            at += 1

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        while self._make():
            pass
        return self._made[index]

    def _make(self) -> bool:
        """The next row that may stand in the prompt; False when there is none."""
        offer = self._offer
        while self._next < len(self._found):
            one = self._found[self._next]
            self._next += 1
            document = offer.documents.get(one.path)
            if document is None:
                continue
            row = offer._row(document, document.paragraphs[one.index], one.score)
            if row.text and not offer._withheld(row) and offer.admits(row):
                self._made.append(row)
                return True
        return False
