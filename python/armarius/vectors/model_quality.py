"""Quality of an embedding model in one project, measured without labelled data.

A line of the outline describes a chapter, so a model that understands the language ranks paragraphs of that chapter
first. Without an outline, a paragraph is the query: apart from its neighbours, the nearest paragraphs are of the same
chapter more often than by chance. An English model on a Chinese novel fails both and gets weight 0.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from armarius.codex.cards import chapter_at
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.segments import Paragraph
from armarius.lexicon import word_file
from armarius.store.protocol import Store
from armarius.store.vectors_protocol import Owner, SetGone, VectorFilter, Vectors, VectorSet, VectorStore, unit_rows
from armarius.vectors.embedder import Embedder

_LINES = 48  # queries, spread evenly over the outline
_FEWEST = 8
_NEAREST = 64
_BESIDE = 2  # neighbours before and after a paragraph that are not counted
_NOTHING, _FULL = 0.10, 0.30
"""Mean reciprocal rank of the right chapter, above chance, that gives weight 0 and weight 1.

Measured with the outlines of three novels (standard error not subtracted): multilingual-e5-small .39 .67 .44; an
English model .35 on the English novel, .06 and .05 on the Chinese ones.
"""


def measure_quality(store: Store, storage: VectorStore, serving: VectorSet, embedder: Embedder) -> float:
    """Weight of the vector set `serving` in this project, 0 to 1.

    Cost: at most 48 forward passes and searches; runs in the background, once for each vector set.
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
            found = storage.nearest(serving, vector, _NEAREST, VectorFilter(kinds=STORY_KINDS))
        except SetGone:
            return 0.0
        order = list(dict.fromkeys(_chapters(found, chapters, own if aside else None)))
        ranks.append(1.0 / (1 + order.index(chapter)) if chapter in order else 0.0)
    return _beyond_chance(np.array(ranks), len(set(chapters.values())))


def _beyond_chance(ranks: NDArray[np.float64], chapters: int) -> float:
    """Mean reciprocal rank minus its standard error and the expectation of a random order, scaled to 0 to 1."""
    chance = float(np.mean(1.0 / np.arange(1, max(chapters, 1) + 1)))
    sure = float(np.mean(ranks)) - float(np.std(ranks)) / len(ranks) ** 0.5
    beyond = (sure - chance) / max(1.0 - chance, 1e-9)
    return float(np.clip((beyond - _NOTHING) / (_FULL - _NOTHING), 0.0, 1.0))


def _lines(store: Store) -> list[tuple[str, int | None, tuple[str, int]]]:
    """Text, chapter and position of the outline's paragraphs that belong to a chapter."""
    found: list[tuple[str, int | None, tuple[str, int]]] = []
    for row in store.documents(kinds=("outline",)):
        document = store.document(row.path)
        if document is None:
            continue
        lines = [one for one in document.paragraphs if one.chapter is not None and one.role == "body"]
        found += [(document.text[one.start : one.end], one.chapter, (row.path, one.index)) for one in lines]
    return found


def _paragraphs(store: Store) -> list[tuple[str, int | None, tuple[str, int]]]:
    """Text, chapter and position of one paragraph from the middle of each chapter."""
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
    return store.documents_of([row.path for row in store.documents(kinds=STORY_KINDS)])


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


_MARGIN = 0.3


def probes() -> tuple[Sequence[str], ...]:
    """Unrelated questions, by language; a project answers one or two of them at most."""
    return tuple(rows.splitlines() for rows in word_file("probes").values())


def noise_floor(sample: Vectors, probes: Sequence[Vectors], count: int) -> float:
    """The lowest cosine similarity of a paragraph that counts as found: above that of unrelated texts.

    Every query has a nearest paragraph, even if the project never mentions its subject, and each model has its own
    scale of similarity. So unrelated questions (`probes`) are compared with a sample of the project. Among n unrelated
    paragraphs the maximum is expected about sqrt(2 ln n) standard deviations above the mean (maximum of n normal
    values); the threshold lies above that. The distribution of the query itself cannot be used: a question about the
    subject of a short book is near to all of its paragraphs, and none would be an outlier (docs/decisions/0085).

    The group of probes with the highest similarities decides: a model that does not know a script finds all texts in
    it similar.

    Args:
        sample: Stored vectors, float32, shape (m, dimension), none zero; need not be normalised.
        probes: Vectors of `probes`, one group per language, each of shape (p, dimension).
        count: Number of stored vectors.
    """
    if count < 2 or not len(sample):
        return 1.0
    deviations = math.sqrt(2 * math.log(count)) + _MARGIN
    found = [unit_rows(group) @ unit_rows(sample).T for group in probes]
    return max(float(np.mean(group) + deviations * np.std(group)) for group in found)
