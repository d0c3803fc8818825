"""The protocol `Embedder`, a host's own model as one, and its quality in one project, measured without labelled data.

A line of the outline describes a chapter, so a model that understands the language ranks paragraphs of that chapter
first. Without an outline, a paragraph is the query: apart from its neighbours, the nearest paragraphs are of the same
chapter more often than by chance. An English model on a Chinese novel fails both and gets weight 0.
"""

import hashlib
import inspect
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armarius.codex.cards import chapter_at
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.segments import Paragraph
from armarius.errors import ArmariusError, ContractError, DimensionMismatch, EmbeddingError
from armarius.lexicon import word_file
from armarius.store.protocol import Store
from armarius.store.vectors_protocol import (
    Fingerprint,
    Owner,
    SetGone,
    VectorFilter,
    Vectors,
    VectorSet,
    VectorStore,
    unit_rows,
)
from armarius.validation import shown


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Queries and documents have separate methods: many models encode them differently.

    Implementations must be thread-safe.
    """

    @property
    def fingerprint(self) -> Fingerprint:
        """Identifies the model and the settings that determine document vectors; cheap after the first call."""

    def embed_queries(self, texts: Sequence[str], /) -> Vectors:
        """One vector per query, in the order of `texts`, comparable with document vectors.

        Returns:
            float32, shape (len(texts), dimension), C-contiguous. A row of zeros means that the text cannot be embedded
            (it is empty, or no token is known).
        """

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """One vector per paragraph or card, in the order of `texts`.

        Returns:
            As `embed_queries`; normalised if the fingerprint says so.
        """


@runtime_checkable
class OneKindEmbedder(Protocol):
    """An embedder with one method for queries and documents."""

    def embed(self, texts: Sequence[str], /) -> ArrayLike:
        """One vector per text: numbers of shape (len(texts), dimension)."""


AnyEmbedder = Embedder | OneKindEmbedder | Callable[[Sequence[str]], ArrayLike]
"""What a host may pass; `as_embedder` wraps it."""

PROBE = "The lighthouse keeper wrote a letter. 守灯塔的人写了一封信。"
"""The text with which a model is identified: its vector replaces the hash of files."""
_STRONGEST = 4


def as_embedder(embedder: AnyEmbedder) -> Embedder:
    """Return `embedder` if it is an `Embedder`, else a wrapper around it.

    A model without `fingerprint` is identified by its name, its dimension and the vector of a fixed text.

    Args:
        embedder: An object with `embed_queries` and `embed_documents`, an object with `embed`, or a callable that takes
            texts.

    Raises:
        ContractError: None of these; names the missing methods.
    """
    queries = getattr(embedder, "embed_queries", None)
    documents = getattr(embedder, "embed_documents", None)
    if callable(queries) and callable(documents) and not isinstance(embedder, type):
        if inspect.getattr_static(embedder, "fingerprint", None) is not None:  # not evaluated: that may load a model
            whole: Embedder = embedder  # type: ignore[assignment]
            return whole
        return _HostEmbedder(embedder, queries, documents)
    embed = getattr(embedder, "embed", None)
    if not callable(embed):
        embed = embedder if callable(embedder) else None
    if embed is None or isinstance(embedder, type):
        name = getattr(embedder, "__name__", type(embedder).__name__)
        raise ContractError(
            f"embedder: {name} is no Embedder: it has neither embed_queries and embed_documents nor embed"
        )
    return _HostEmbedder(embedder, embed, embed)


def fingerprint_of(embedder: Embedder) -> Fingerprint:
    """The fingerprint of an embedder, which may come from the host. Cost: may load and run the model.

    Raises:
        EmbeddingError: The embedder raised an exception of any kind, or returned no `Fingerprint`.
    """
    try:
        result = embedder.fingerprint
    except ArmariusError:
        raise
    except Exception as error:
        raise model_error(error) from error
    if not isinstance(result, Fingerprint):
        raise EmbeddingError(
            f"embedder: the fingerprint of {type(embedder).__name__} is no Fingerprint: {shown(result)}"
        )
    return result


def model_error(error: Exception) -> EmbeddingError:
    """The `EmbeddingError` for an exception of a host's model."""
    return EmbeddingError(f"the embedder failed: {type(error).__name__}: {error}")


def checked_vectors(made: ArrayLike, count: int, dimension: int | None, who: str) -> Vectors:
    """Check the output of a host's model and convert it to float32, shape (count, dimension), C-contiguous.

    Raises:
        EmbeddingError: Not numbers of that shape, or NaN or infinity among them; names `who`.
        DimensionMismatch: Vectors of another dimension.
    """
    try:
        vectors = np.ascontiguousarray(made, np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"{who} answered with no vectors: {error}") from error
    if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:
        raise EmbeddingError(
            f"{who} answered with shape {vectors.shape} for {count} texts, expected ({count}, dimension)"
        )
    if dimension is not None and vectors.shape[1] != dimension:
        raise DimensionMismatch(f"{who} answered with {vectors.shape[1]} dimensions, before it were {dimension}")
    if not np.isfinite(vectors).all():
        raise EmbeddingError(f"{who} answered with NaN or infinity")
    return vectors


def likeness(vector: Vectors) -> str:
    """The signed indices of the four largest coordinates, as a short string that rounding errors do not change."""
    strongest = np.argsort(-np.abs(vector), kind="stable")[:_STRONGEST]
    return ",".join(f"{'-' if vector[at] < 0 else '+'}{at}" for at in strongest)


def fingerprint_by(vector: Vectors, name: str, identity: str, pooling: str) -> Fingerprint:
    """The fingerprint of a model by the vector of `PROBE`, with whatever else identifies it."""
    digest = hashlib.sha256(f"{identity}{likeness(vector)}".encode("utf-8", "replace")).hexdigest()
    unit = bool(np.allclose(unit_rows(vector[None])[0], vector, atol=1e-3))
    return Fingerprint(name, digest, len(vector), pooling=pooling, normalise=unit)


class _HostEmbedder:
    """An `Embedder` over a host's functions."""

    def __init__(
        self,
        embedder: Any,  # noqa: ANN401
        queries: Callable[[Sequence[str]], ArrayLike],
        documents: Callable[[Sequence[str]], ArrayLike],
    ) -> None:
        self._given, self._queries, self._documents = embedder, queries, documents
        kind = embedder if hasattr(embedder, "__qualname__") else type(embedder)
        self._name = f"{kind.__module__}.{kind.__qualname__}"
        self._made: Fingerprint | None = None
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> Fingerprint:
        result = getattr(self._given, "fingerprint", None)
        if isinstance(result, Fingerprint):
            return result
        with self._lock:
            if self._made is None:
                vector = checked_vectors(self._documents([PROBE]), 1, None, self._name)[0]
                self._made = fingerprint_by(vector, self._name, f"{self._name} ", "its own")
            return self._made

    def embed_queries(self, texts: Sequence[str], /) -> Vectors:
        return self._call(self._queries, texts)

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        return self._call(self._documents, texts)

    def _call(self, embed: Callable[[Sequence[str]], ArrayLike], texts: Sequence[str]) -> Vectors:
        dimension = self.fingerprint.dimension
        if not texts:
            return np.zeros((0, dimension), np.float32)
        return checked_vectors(embed(list(texts)), len(texts), dimension, self._name)


_LINES = 48  # queries, spread evenly over the outline
_FEWEST = 8
_NEAREST = 64
_BESIDE = 2  # neighbours before and after a paragraph that are not counted
_NOTHING, _FULL = 0.10, 0.30
"""Mean reciprocal rank of the right chapter, above chance, that gives weight 0 and weight 1.

Measured with the outlines of three novels (standard error not subtracted): multilingual-e5-small .39 .67 .44; an
English model .35 on the English novel, .06 and .05 on the Chinese ones.
"""


def measure_weight(store: Store, storage: VectorStore, serving: VectorSet, embedder: Embedder) -> float:
    """Weight of the vector set `serving` in this project, 0 to 1.

    Cost: at most 48 forward passes and searches; runs in the background, once for each vector set.
    """
    queries = _lines(store)
    aside = False
    if len(queries) < _FEWEST:
        queries, aside = _paragraphs(store), True
    if len(queries) < _FEWEST:
        return 0.0
    queries = [queries[at * len(queries) // _LINES] for at in range(_LINES)] if len(queries) > _LINES else queries
    chapters = {
        (document.path, part.index): chapter
        for document in _chapter_documents(store)
        for part in document.paragraphs
        if (chapter := chapter_at(document, part)) is not None
    }
    vectors = embedder.embed_queries([text for text, _, _ in queries])
    ranks = []
    for (_, chapter, own), vector in zip(queries, vectors, strict=True):
        if not vector.any():
            ranks.append(0.0)
            continue
        try:
            pairs = storage.nearest(serving, vector, _NEAREST, VectorFilter(kinds=STORY_KINDS))
        except SetGone:
            return 0.0
        order = list(dict.fromkeys(_chapters(pairs, chapters, own if aside else None)))
        ranks.append(1.0 / (1 + order.index(chapter)) if chapter in order else 0.0)
    return _above_chance(np.array(ranks), len(set(chapters.values())))


def _above_chance(ranks: NDArray[np.float64], chapters: int) -> float:
    """Mean reciprocal rank minus its standard error and the expectation of a random order, scaled to 0 to 1."""
    chance = float(np.mean(1.0 / np.arange(1, max(chapters, 1) + 1)))
    sure = float(np.mean(ranks)) - float(np.std(ranks)) / len(ranks) ** 0.5
    beyond = (sure - chance) / max(1.0 - chance, 1e-9)
    return float(np.clip((beyond - _NOTHING) / (_FULL - _NOTHING), 0.0, 1.0))


def _lines(store: Store) -> list[tuple[str, int | None, tuple[str, int]]]:
    """Text, chapter and position of the outline's paragraphs that belong to a chapter."""
    rows: list[tuple[str, int | None, tuple[str, int]]] = []
    for row in store.documents(kinds=("outline",)):
        document = store.document(row.path)
        if document is None:
            continue
        lines = [part for part in document.paragraphs if part.chapter is not None and part.role == "body"]
        rows += [(document.text[part.start : part.end], part.chapter, (row.path, part.index)) for part in lines]
    return rows


def _paragraphs(store: Store) -> list[tuple[str, int | None, tuple[str, int]]]:
    """Text, chapter and position of one paragraph from the middle of each chapter."""
    rows: list[tuple[str, int | None, tuple[str, int]]] = []
    for document in _chapter_documents(store):
        by_chapter: dict[int | None, list[Paragraph]] = {}
        for part in document.paragraphs:
            if part.role == "body":
                by_chapter.setdefault(chapter_at(document, part), []).append(part)
        for chapter, body in by_chapter.items():
            if chapter is not None and len(body) > 2 * _BESIDE + 1:
                part = body[len(body) // 2]
                rows.append((document.text[part.start : part.end], chapter, (document.path, part.index)))
    return rows


def _chapter_documents(store: Store) -> list[Document]:
    return store.documents_of([row.path for row in store.documents(kinds=STORY_KINDS)])


def _chapters(
    pairs: Iterable[tuple[Owner, float]],
    chapters: Mapping[tuple[str, int], int],
    aside: tuple[str, int] | None,
) -> Iterable[int]:
    for owner, _ in pairs:
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
    scores = [unit_rows(group) @ unit_rows(sample).T for group in probes]
    return max(float(np.mean(group) + deviations * np.std(group)) for group in scores)
