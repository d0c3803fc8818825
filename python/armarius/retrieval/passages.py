"""Hits to passages: whole sentences around the evidence, each with where it stands."""

from collections.abc import Sequence
from dataclasses import dataclass

from armarius.documents.document import Document
from armarius.hits import Hit
from armarius.records import Evidence
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.corpus.units import Text
from armarius.retrieval.signals.explain import best_paragraph, sought_words
from armarius.retrieval.trace import Found
from armarius.text.sentences import BREAK

__all__ = ["BEST_SCORE", "TEXTS", "Passage", "passages_of"]

# Code points of a passage: about what a writer reads at a glance, and a tenth of the layer at the default budget.
_LENGTH = 400
_PER_TEXT = 2
TEXTS = 5  # passages come from so many at most
# Below a card of somebody named (1.0), above what happens to stand around the cursor (0.5).
BEST_SCORE = 0.95


@dataclass(frozen=True, slots=True, repr=False)
class Passage(Hit):
    """Sentences of a document that begin in paragraph `paragraph`; `anchor` is where in them the first word stands."""

    anchor: int = 0

    @property
    def source(self) -> str:
        """`rag:passage:<path>#<n>`."""
        return f"rag:passage:{self.reference}"


def passages_of(tables: CorpusTables, found: Found) -> list[Passage]:
    """The passages of an answer, best first: at most two of a text, none said twice.

    Cost: the blocks that were found are read again.
    """
    words = sought_words(tables, found.answer.understanding)
    blocks: dict[int, tuple[int, ...]] = {}
    for kind in ("vector", "fulltext"):  # words decide where to cut, meaning where there are none
        blocks |= next((ranking.blocks for ranking in found.lists if ranking.kind == kind), {})
    passages: list[Passage] = []
    texts = [(one, hit) for one, hit in zip(found.mixed, found.answer.hits, strict=False) if not one.is_section]
    for place, (one, hit) in enumerate(texts[:TEXTS]):
        text = tables.texts[one.key]
        document = tables.document(text.path)
        if document is None or not text.blocks:
            continue
        for rank, block in enumerate(blocks.get(one.key, (0,))[:_PER_TEXT]):
            score = BEST_SCORE - 0.06 * place - 0.1 * rank
            passages.append(_passage(document, text, block, words, score, hit.evidence))
    return sorted(passages, key=lambda passage: (-passage.score, passage.source))


def _passage(
    document: Document, text: Text, block: int, words: Sequence[str], score: float, evidence: tuple[Evidence, ...]
) -> Passage:
    index, held = best_paragraph(document, text, block, words)
    paragraph = document.paragraphs[index]
    at = _first_word(document.text[paragraph.start : paragraph.end], held)
    last = text.blocks[block].end
    start, end = _around(document.text, paragraph.start, max(paragraph.end, last), paragraph.start + at)
    return Passage(
        path=text.path,
        span=(start, end),
        heading=paragraph.heading_path,
        score=score,
        evidence=evidence,
        title=text.section or text.title,
        kind=document.kind,
        chapter=text.number,
        paragraph=index,
        role=paragraph.role,
        text=document.text[start:end],
        anchor=paragraph.start + at - start,
    )


def _first_word(text: str, words: Sequence[str]) -> int:
    lower = text.lower()
    return min((at for word in words if (at := lower.find(word)) >= 0), default=0)


def _around(text: str, low: int, high: int, at: int) -> tuple[int, int]:
    """Whole sentences of `text[low:high]` around `at`, about `_LENGTH` long."""
    cuts = [low, *(match.end() for match in BREAK.finditer(text, low, high)), high]
    start = max((cut for cut in cuts if cut <= max(low, at - _LENGTH // 4)), default=low)
    if at - start > _LENGTH:  # one endless sentence
        start = at - _LENGTH // 4
    end = max((cut for cut in cuts if at < cut <= start + _LENGTH), default=min(high, start + _LENGTH))
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
