"""How well a model knows the language of a project: what it finds of what the project itself says belongs together.

A line of the outline tells of a chapter, so a model that understands the text finds paragraphs of that chapter nearest
to the line. Where there is no outline, a paragraph stands for a line: what is nearest to it, its neighbours aside, is
of the same chapter more often than chance. An English model on a Chinese novel fails both; then it is not heard.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armarius.codex.cards import chapter_at
from armarius.documents.document import Document
from armarius.documents.segments import Paragraph
from armarius.embedders.protocol import Embedder
from armarius.store.protocol import Store
from armarius.store.vector_rows import unit_rows
from armarius.store.vectors_protocol import Owner, SetGone, VectorFilter, Vectors, VectorSet, VectorStore

__all__ = ["PROBES", "Near", "NoiseFloor", "VectorHits", "trust_of"]

_LINES = 48  # looked up, spread evenly
_FEWEST = 8
_NEAREST = 64
_BESIDE = 2  # paragraphs before and after one that are no evidence
_NOTHING, _FULL = 0.10, 0.30
"""Reciprocal rank of the right chapter beyond chance: of a model that cannot read it, and of one that counts in full.

By the outlines of three novels (before the standard error is taken off): multilingual-e5-small .39 .67 .44, an English
model .35 on the English one, .06 and .05 on the Chinese ones.
"""


def trust_of(store: Store, storage: VectorStore, serving: VectorSet, embedder: Embedder) -> float:
    """0 to 1: what the similarities of `serving` are worth in this project.

    Cost: at most 48 forward passes and searches; in the background, once for each set of vectors.
    """
    asked = _lines(store)
    aside = False
    if len(asked) < _FEWEST:
        asked, aside = _paragraphs(store), True
    if len(asked) < _FEWEST:
        return 0.0
    asked = [asked[at * len(asked) // _LINES] for at in range(_LINES)] if len(asked) > _LINES else asked
    chapters = {
        (document.path, one.index): chapter
        for document in _chapter_documents(store)
        for one in document.paragraphs
        if (chapter := chapter_at(document, one)) is not None
    }
    vectors = embedder.embed_queries([text for text, _, _ in asked])
    ranks = []
    for (_, chapter, own), vector in zip(asked, vectors, strict=True):
        if not vector.any():
            ranks.append(0.0)
            continue
        try:
            found = storage.nearest(serving, vector, _NEAREST, VectorFilter(kinds=("chapter",)))
        except SetGone:
            return 0.0
        order = list(dict.fromkeys(_chapters(found, chapters, own if aside else None)))
        ranks.append(1.0 / (1 + order.index(chapter)) if chapter in order else 0.0)
    return _beyond_chance(np.array(ranks), len(set(chapters.values())))


def _beyond_chance(ranks: NDArray[np.float64], chapters: int) -> float:
    """The reciprocal ranks, less their standard error and what any order of so many chapters gives; 0 to 1."""
    chance = float(np.mean(1.0 / np.arange(1, max(chapters, 1) + 1)))
    sure = float(np.mean(ranks)) - float(np.std(ranks)) / len(ranks) ** 0.5
    beyond = (sure - chance) / max(1.0 - chance, 1e-9)
    return float(np.clip((beyond - _NOTHING) / (_FULL - _NOTHING), 0.0, 1.0))


def _lines(store: Store) -> list[tuple[str, int | None, tuple[str, int]]]:
    """Text, chapter and place of the outline's paragraphs that tell of a chapter."""
    found: list[tuple[str, int | None, tuple[str, int]]] = []
    for row in store.documents(kinds=("outline",)):
        document = store.document(row.path)
        if document is None:
            continue
        told = [one for one in document.paragraphs if one.chapter is not None and one.role == "body"]
        found += [(document.text[one.start : one.end], one.chapter, (row.path, one.index)) for one in told]
    return found


def _paragraphs(store: Store) -> list[tuple[str, int | None, tuple[str, int]]]:
    """The same of one paragraph from the middle of each chapter."""
    found: list[tuple[str, int | None, tuple[str, int]]] = []
    for document in _chapter_documents(store):
        by_chapter: dict[int | None, list[Paragraph]] = {}
        for one in document.paragraphs:
            if one.role == "body":
                by_chapter.setdefault(chapter_at(document, one), []).append(one)
        for chapter, body in by_chapter.items():
            if chapter is not None and len(body) > 2 * _BESIDE + 1:
                one = body[len(body) // 2]
                found.append((document.text[one.start : one.end], chapter, (document.path, one.index)))
    return found


def _chapter_documents(store: Store) -> list[Document]:
    return store.documents_of([row.path for row in store.documents(kinds=("chapter",))])


def _chapters(
    found: Iterable[tuple[Owner, float]],
    chapters: Mapping[tuple[str, int], int],
    aside: tuple[str, int] | None,
) -> Iterable[int]:
    for owner, _ in found:
        if isinstance(owner, str):
            continue
        path, index = owner
        if aside is not None and path == aside[0] and abs(index - aside[1]) <= _BESIDE:
            continue
        chapter = chapters.get(owner)
        if chapter is not None:
            yield chapter


PROBES = (
    (
        "How do I renew a passport?",
        "What is the boiling point of ethanol?",
        "Which vitamins are in carrots?",
        "How does a jet engine work?",
        "Who won the chess tournament?",
        "How are tax returns filed online?",
        "What causes volcanoes to erupt?",
        "How do you train a puppy?",
        "What is the capital of Australia?",
        "How is cheese made?",
        "Why do stock prices fall?",
        "How does encryption protect a message?",
    ),
    (
        "怎样更换护照？",
        "乙醇的沸点是多少？",
        "胡萝卜里有哪些维生素？",
        "喷气发动机是怎样工作的？",
        "谁赢了象棋比赛？",
        "怎样在网上报税？",
        "火山为什么会喷发？",
        "怎样训练小狗？",
        "澳大利亚的首都是哪里？",
        "奶酪是怎样做成的？",
        "股票为什么会下跌？",
        "加密怎样保护消息？",
    ),
)
"""Questions of many fields, in two languages: what a project answers at most one or two of."""

_MARGIN = 0.3


@dataclass(frozen=True, slots=True)
class Near:
    """A paragraph near in meaning: code points `start` to `end` of the document, cosine similarity.

    `by_wording`: the embedder compares letters and words, not meaning.
    """

    path: str
    start: int
    end: int
    similarity: float
    by_wording: bool = False


@dataclass(frozen=True, slots=True)
class VectorHits:
    """An answer to retrieval.

    Attributes:
        found: What stands out, best first.
        trouble: Why more may be missing; "" when nothing is.
        paragraphs: The nearest of chapters and notes: path, position, cosine similarity, best first.
        lines: The nearest of the outline, likewise.
        trust: How well the model knows this project, 0 to 1; see `semantic.trust`.
    """

    found: tuple[Near, ...] = ()
    trouble: str = ""
    paragraphs: tuple[tuple[str, int, float], ...] = ()
    lines: tuple[tuple[str, int, float], ...] = ()
    trust: float = 0.0


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """How similar a question about something else is to just anything, so that only what stands out counts as found.

    Every query has a nearest paragraph, also one about something the project never mentions, and each model has its own
    scale. So questions that have nothing to do with a novel (`PROBES`) are compared with a sample of the project. Among
    n unrelated paragraphs the best is expected about sqrt(2 ln n) standard deviations above the mean (the maximum of n
    normal values); what is near in meaning lies beyond that. A query's own distribution does not serve: a question on
    the very subject of a short book is near to all of it, and then nothing stands out (docs/decisions/0085).

    Attributes:
        least: The cosine similarity from which a paragraph stands out.
    """

    least: float

    @classmethod
    def of(cls, sample: Vectors, probes: Sequence[Vectors], count: int) -> "NoiseFloor":
        """From some stored vectors (float32, shape (m, dimension)) and the vectors of each group of probes.

        The group that lies highest decides: a model that cannot read a script finds everything in it alike.

        Args:
            sample: Any scale, none zero.
            probes: Groups in one language each, shape (p, dimension).
            count: How many vectors there are in all.
        """
        if count < 2 or not len(sample):
            return cls(1.0)
        deviations = math.sqrt(2 * math.log(count)) + _MARGIN
        found = [unit_rows(group) @ unit_rows(sample).T for group in probes]
        return cls(max(float(np.mean(group) + deviations * np.std(group)) for group in found))
