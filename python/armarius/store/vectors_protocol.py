"""The vectors of a store: what can be asked and told, whatever engine keeps them.

An owner is a paragraph, as (path, paragraph), or an entity, as its id. Which paragraphs have a vector, and of exactly
which text, says `embedded_texts`; a store brings its owners up to date inside the transaction that writes a document,
so that no vector outlives its text, and calls what has no vector yet *pending*. Vectors of different models never mix:
one set of them *serves*, a second may be *building*, and takes over when it is complete.

How the nearest are found is the store's own affair, as long as they are the nearest.
`armarius.testing.VectorStoreConformance` is the executable form of this page.

Vectors are float32, C-contiguous, any scale; similarities are cosines in [-1, 1]. Every method may raise what those of
`Store` raise.
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
    """The set was dropped, because another took over; look up the sets again."""


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The vectors of one model."""

    id: int
    state: SetState
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class VectorCounts:
    """How far a set is. `embedded` have a vector, `pending` wait, `empty` have nothing to embed."""

    embedded: int
    pending: int
    empty: int


@dataclass(frozen=True, slots=True)
class PendingText:
    """A text that awaits its vector; `digest` tells the store whether it is still the owner's when the vector comes."""

    owner: Owner
    text: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class VectorFilter:
    """Whose vectors may answer; the default admits all paragraphs and no entities.

    Attributes:
        kinds: Document kinds; empty is all.
        chapters: Inclusive bounds; with a bound, paragraphs without a chapter are left out.
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
    """What answers. `approximate` False compares with every vector; `recall` None is not sampled yet, or not known."""

    approximate: bool
    vectors: int
    recall: RecallSample | None = None
    bytes_on_disk: int = 0


@runtime_checkable
class VectorStore(Protocol):
    """The vectors of one project. Safe to call from several threads; each call is one transaction."""

    def sets(self) -> Mapping[SetState, VectorSet]:
        """The set that serves and the one being built, where there are such."""
        ...

    def counts(self, set_id: int) -> VectorCounts:
        """How many owners have, await or lack a vector."""
        ...

    def adopt(self, fingerprint: Fingerprint) -> VectorSet:
        """The set that serves, made now (everything pending) when there is none.

        Raises:
            DimensionMismatch: It holds vectors of another model.
        """
        ...

    def build(self, fingerprint: Fingerprint) -> VectorSet:
        """The set being built beside the one that serves; one of another model is dropped, one of this resumed."""
        ...

    def switch(self) -> None:
        """The set being built serves from now on, the old one is dropped, in one transaction.

        Raises:
            EmbeddingError: It is not complete.
        """
        ...

    def abandon(self) -> None:
        """Drop the set being built."""
        ...

    def set_cards(self, cards: Mapping[str, str]) -> None:
        """The card of every entity, by id; changed ones become pending, those left out lose their vector.

        Cards of entities that the store does not have are ignored, and an entity that goes takes its vector along.
        """
        ...

    def pending(self, set_id: int, *, limit: int, first: Sequence[str] = ()) -> list[PendingText]:
        """The next texts to embed: entity cards, then the documents in `first`, then the others in path order."""
        ...

    def put(
        self, vector_set: VectorSet, fingerprint: Fingerprint, texts: Sequence[PendingText], vectors: Vectors
    ) -> int:
        """Keep vectors of texts that have not changed meanwhile; the number kept, 0 when the set is gone.

        Args:
            vector_set: Where to.
            fingerprint: Of the model that made them.
            texts: Length n.
            vectors: float32, shape (n, dimension); a row of zeros marks its owner as having no vector.

        Raises:
            DimensionMismatch: Another model's, or of another length.
            EmbeddingError: NaN or infinity.
        """
        ...

    def nearest(
        self, vector_set: VectorSet, vector: Vectors, limit: int, which: VectorFilter | None = None
    ) -> list[tuple[Owner, float]]:
        """The nearest owners and their similarity, best first; at most `limit`, all that exist if fewer.

        Args:
            vector_set: Where to look.
            vector: float32, shape (dimension,), not zero.
            limit: At most so many; below 1 finds nothing.
            which: Whose; None is everybody's.

        Raises:
            SetGone: Another set has taken over meanwhile.
        """
        ...

    def spans(self, keys: Sequence[PassageKey]) -> dict[PassageKey, tuple[int, int]]:
        """Start and end of these paragraphs in their documents, code points; unknown ones are left out."""
        ...

    def sample(self, vector_set: VectorSet, size: int) -> Vectors:
        """At most `size` vectors, spread evenly over the set: float32, shape (m, dimension).

        Raises:
            SetGone: As `nearest`.
        """
        ...

    def refresh(self, *, resample: bool = False, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Bring whatever makes search fast up to date. Slow: called in the background, when nothing is pending.

        Args:
            resample: Compare its answers with exact search also where that was done before.
            cancelled: Asked now and then; when it says so, the work ends and the next call does it.
        """
        ...

    def index_status(self) -> VectorIndexStatus:
        """What answers now."""
        ...


@runtime_checkable
class Leasing(Protocol):
    """A `VectorStore` that several processes fill, one of them at a time."""

    def lease(self, seconds: float) -> bool:
        """Be the one that embeds for so long, or longer when it is already; False while another is.

        Whoever is killed is the one until its time is over.
        """
        ...

    def release(self) -> None:
        """Let another be the one; nothing when this is not."""
        ...


def owner_order(owner: Owner) -> tuple[str, int, str]:
    """The order of owners of equal similarity: entities by id, then paragraphs by place."""
    return ("", -1, owner) if isinstance(owner, str) else (*owner, "")
