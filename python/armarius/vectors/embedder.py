"""The protocol `Embedder`, and a host's own model as one: an object with `embed`, or a callable."""

import hashlib
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from armarius.errors import ArmariusError, ContractError, DimensionMismatch, EmbeddingError
from armarius.store.vectors_protocol import Fingerprint, Vectors, unit_rows
from armarius.validation import shown


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Queries and documents have separate methods: many models encode them differently.

    Implementations must be thread-safe.
    """

    @property
    def fingerprint(self) -> Fingerprint:
        """Identifies the model and the settings that determine document vectors; cheap after the first call."""
        ...

    def embed_queries(self, texts: Sequence[str], /) -> Vectors:
        """One vector per query, in the order of `texts`, comparable with document vectors.

        Returns:
            float32, shape (len(texts), dimension), C-contiguous. A row of zeros means that the text cannot be embedded
            (it is empty, or no token is known).
        """
        ...

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """One vector per paragraph or card, in the order of `texts`.

        Returns:
            As `embed_queries`; normalised if the fingerprint says so.
        """
        ...


@runtime_checkable
class OneKindEmbedder(Protocol):
    """An embedder with one method for queries and documents."""

    def embed(self, texts: Sequence[str], /) -> ArrayLike:
        """One vector per text: numbers of shape (len(texts), dimension)."""
        ...


AnyEmbedder = Embedder | OneKindEmbedder | Callable[[Sequence[str]], ArrayLike]
"""What a host may pass; `as_embedder` wraps it."""

PROBE = "The lighthouse keeper wrote a letter. 守灯塔的人写了一封信。"
"""The text with which a model is identified: its vector replaces the hash of files."""
_STRONGEST = 4


def as_embedder(given: AnyEmbedder) -> Embedder:
    """Return `given` if it is an `Embedder`, else a wrapper around it.

    A model without `fingerprint` is identified by its name, its dimension and the vector of a fixed text.

    Args:
        given: An object with `embed_queries` and `embed_documents`, an object with `embed`, or a callable that takes
            texts.

    Raises:
        ContractError: None of these; names the missing methods.
    """
    queries = getattr(given, "embed_queries", None)
    documents = getattr(given, "embed_documents", None)
    if callable(queries) and callable(documents) and not isinstance(given, type):
        if inspect.getattr_static(given, "fingerprint", None) is not None:  # not evaluated: that may load a model
            whole: Embedder = given  # type: ignore[assignment]
            return whole
        return _Adapted(given, queries, documents)
    one = getattr(given, "embed", None)
    if not callable(one):
        one = given if callable(given) else None
    if one is None or isinstance(given, type):
        name = getattr(given, "__name__", type(given).__name__)
        raise ContractError(
            f"embedder: {name} is no Embedder: it has neither embed_queries and embed_documents nor embed"
        )
    return _Adapted(given, one, one)


def fingerprint_of(embedder: Embedder) -> Fingerprint:
    """The fingerprint of an embedder, which may come from the host. Cost: may load and run the model.

    Raises:
        EmbeddingError: The embedder raised an exception of any kind, or returned no `Fingerprint`.
    """
    try:
        said = embedder.fingerprint
    except ArmariusError:
        raise
    except Exception as error:
        raise model_failed(error) from error
    if not isinstance(said, Fingerprint):
        raise EmbeddingError(f"embedder: the fingerprint of {type(embedder).__name__} is no Fingerprint: {shown(said)}")
    return said


def model_failed(error: Exception) -> EmbeddingError:
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


class _Adapted:
    """An `Embedder` over a host's functions."""

    def __init__(
        self,
        given: Any,  # noqa: ANN401
        queries: Callable[[Sequence[str]], ArrayLike],
        documents: Callable[[Sequence[str]], ArrayLike],
    ) -> None:
        self._given, self._queries, self._documents = given, queries, documents
        kind = given if hasattr(given, "__qualname__") else type(given)
        self._name = f"{kind.__module__}.{kind.__qualname__}"
        self._made: Fingerprint | None = None
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> Fingerprint:
        said = getattr(self._given, "fingerprint", None)
        if isinstance(said, Fingerprint):
            return said
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
