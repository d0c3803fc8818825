"""`VectorStore`: the protocol of the vectors of a store, independent of the engine.

An owner of a vector is a paragraph, (path, paragraph), or an entity id. `embedded_texts` defines which paragraphs have
a vector and of which text. A store updates owners in the transaction that writes a document, so that no vector
outlives its text; an owner without a vector is *pending*. Vectors of different models are kept in separate sets: one
set is *serving*, a second may be *building* and replaces it when complete.

The search method is up to the engine; results must be the nearest vectors.
`armarius.testing.VectorStoreConformance` tests an implementation.

Vectors are float32, C-contiguous, any scale; similarities are cosines in [-1, 1]. Every method may raise the errors of
`Store`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from armarius.store.fingerprint import Fingerprint
from armarius.store.rows import PassageKey

__all__ = [
    "Leasing",
    "Owner",
    "PendingText",
    "RecallSample",
    "SetGone",
    "SetState",
    "VectorCounts",
    "VectorFilter",
    "VectorIndexStatus",
    "VectorSet",
    "VectorStore",
    "Vectors",
    "owner_order",
]

Vectors = NDArray[np.float32]
Owner = PassageKey | str
SetState = Literal["serving", "building"]


class SetGone(LookupError):
    """The set was replaced by another; read `sets` again."""


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The vectors of one model."""

    id: int
    state: SetState
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class VectorCounts:
    """Progress of a set: owners with a vector (`embedded`), waiting (`pending`), with nothing to embed (`empty`)."""

    embedded: int
    pending: int
    empty: int


@dataclass(frozen=True, slots=True)
class PendingText:
    """A text to embed; `digest` lets the store detect that the owner's text changed meanwhile."""

    owner: Owner
    text: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class VectorFilter:
    """Filter of owners; the default is all paragraphs and no entities.

    Attributes:
        kinds: Document kinds; empty is all.
        chapters: Inclusive bounds; with a bound, paragraphs without a chapter are excluded.
        entities: Entity cards instead of paragraphs.
    """

    kinds: tuple[str, ...] = ()
    chapters: tuple[int | None, int | None] = (None, None)
    entities: bool = False


@dataclass(frozen=True, slots=True)
class RecallSample:
    """recall@10 of the approximate index against exact search over `queries` sampled queries, at `expansion`."""

    recall: float
    queries: int
    expansion: int


@dataclass(frozen=True, slots=True)
class VectorIndexStatus:
    """The search method. `approximate` False is exact search; `recall` None is not sampled."""

    approximate: bool
    vectors: int
    recall: RecallSample | None = None
    bytes_on_disk: int = 0


@runtime_checkable
class VectorStore(Protocol):
    """The vectors of one project. Thread-safe; each call is one transaction."""

    def sets(self) -> Mapping[SetState, VectorSet]:
        """The existing sets by state."""
        ...

    def counts(self, set_id: int) -> VectorCounts:
        """Number of owners in each state."""
        ...

    def adopt(self, fingerprint: Fingerprint) -> VectorSet:
        """The serving set; created with all owners pending if there is none.

        Raises:
            DimensionMismatch: The set has vectors of another model.
        """
        ...

    def build(self, fingerprint: Fingerprint) -> VectorSet:
        """The building set: resumed if it is of this model, else replaced by a new one."""
        ...

    def switch(self) -> None:
        """Make the building set the serving one and drop the old one, in one transaction.

        Raises:
            EmbeddingError: The building set is not complete.
        """
        ...

    def abandon(self) -> None:
        """Drop the building set."""
        ...

    def set_cards(self, cards: Mapping[str, str]) -> None:
        """Set the texts of all entity cards, by id. Changed cards become pending, missing ones lose their vector.

        Cards of unknown entities are ignored. The vector of an entity is deleted with the entity.
        """
        ...

    def pending(self, set_id: int, *, limit: int, first: Sequence[str] = ()) -> list[PendingText]:
        """The next texts to embed: entity cards, then the documents in `first`, then the others in path order."""
        ...

    def put(
        self, vector_set: VectorSet, fingerprint: Fingerprint, texts: Sequence[PendingText], vectors: Vectors
    ) -> int:
        """Store vectors of texts that have not changed meanwhile. Returns their number, 0 if the set was dropped.

        Args:
            vector_set: The set to write.
            fingerprint: Fingerprint of the model that computed them.
            texts: Length n.
            vectors: float32, shape (n, dimension); a row of zeros marks its owner as empty.

        Raises:
            DimensionMismatch: The vectors have another model or length.
            EmbeddingError: NaN or infinity.
        """
        ...

    def nearest(
        self, vector_set: VectorSet, vector: Vectors, limit: int, which: VectorFilter | None = None
    ) -> list[tuple[Owner, float]]:
        """The nearest owners with their similarity, best first.

        Args:
            vector_set: The set to search.
            vector: float32, shape (dimension,), not zero.
            limit: Maximum number; below 1 finds nothing.
            which: Filter of owners; None admits all.

        Raises:
            SetGone: The set was replaced.
        """
        ...

    def spans(self, keys: Sequence[PassageKey]) -> dict[PassageKey, tuple[int, int]]:
        """Start and end of these paragraphs in their documents, in code points; unknown ones are left out."""
        ...

    def sample(self, vector_set: VectorSet, size: int) -> Vectors:
        """At most `size` vectors, spread evenly over the set: float32, shape (m, dimension).

        Raises:
            SetGone: As `nearest`.
        """
        ...

    def refresh(self, *, resample: bool = False, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Update the approximate index. Slow: called in the background when nothing is pending.

        Args:
            resample: Measure recall again.
            cancelled: Polled; when True the work stops, and the next call continues it.
        """
        ...

    def index_status(self) -> VectorIndexStatus:
        """The present search method."""
        ...


@runtime_checkable
class Leasing(Protocol):
    """A `VectorStore` that several processes share; one of them embeds at a time."""

    def lease(self, seconds: float) -> bool:
        """Acquire or extend the lease to embed for `seconds`; False while another process holds it.

        The lease of a killed process expires after its time.
        """
        ...

    def release(self) -> None:
        """Release the lease; does nothing without it."""
        ...


def owner_order(owner: Owner) -> tuple[str, int, str]:
    """Sort key of owners with equal similarity: entities by id, then paragraphs by position."""
    return ("", -1, owner) if isinstance(owner, str) else (*owner, "")
