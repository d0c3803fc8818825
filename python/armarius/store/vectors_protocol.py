"""`VectorStore`: the protocol of the vectors of a store, independent of the engine.

An owner of a vector is a paragraph, (path, paragraph), or an entity id. `embedded_texts` defines which paragraphs have
a vector and of which text. A store updates owners in the transaction that writes a document, so that no vector
outlives its text; an owner without a vector is *pending*. Vectors of different models are kept in separate sets: one
set is *serving*, a second may be *building* and replaces it when complete.

The search method is up to the engine; results must be the nearest vectors.
`armarius.testing.VectorStoreConformance` tests an implementation.

Vectors are float32, C-contiguous, any scale; similarities are cosines in [-1, 1]. Every method may raise the errors of
`Store`.

Below the protocol: `Fingerprint`, which keeps vectors of different models apart; checks and scaling of vectors;
`embedded_texts`, which says what is embedded for each paragraph.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from armarius.documents.document import Document
from armarius.documents.kinds import CARD_KINDS
from armarius.errors import DimensionMismatch, EmbeddingError
from armarius.types import PassageKey

_SHA256 = 64


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Everything that decides which vector a text gets; vectors mix only when fingerprints are equal.

    Attributes:
        name: The model folder's name or the built-in embedder's; for people, not compared.
        model: SHA-256 (hex) over weights and tokenizer files, or the built-in scheme with its version.
        dimension: Length of a vector.
        max_length: Tokens kept of each text, special tokens included; 0 is unlimited.
        pooling: mean, cls, max, or what the embedder does instead.
        normalise: Whether vectors are L2-normalised.
        dtype: Precision of the forward pass.
        document_prompt: Prefix of each text. Stored vectors do not depend on the prefix of queries.
    """

    name: str = field(compare=False)
    model: str
    dimension: int
    max_length: int = 0
    pooling: str = "mean"
    normalise: bool = False
    dtype: str = "float32"
    document_prompt: str = ""

    def to_json(self) -> str:
        """One line of JSON with sorted keys, as recorded in the index."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Fingerprint":
        """The fingerprint that `to_json` wrote.

        Raises:
            EmbeddingError: The text is not a fingerprint.
        """
        try:
            raw = json.loads(text)
            raw.setdefault("document_prompt", "")  # of before there were prompts
            return cls(**{item.name: raw[item.name] for item in fields(cls)})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise EmbeddingError(
                f"the index holds an unreadable fingerprint {text[:80]!r}; run `armarius embed`"
            ) from error

    def __str__(self) -> str:
        limit = f", {self.max_length} tokens" if self.max_length else ""
        scale = "normalised" if self.normalise else "not normalised"
        model = self.model[:12] if len(self.model) == _SHA256 else self.model
        prompt = f", before documents {self.document_prompt!r}" if self.document_prompt else ""
        return f"{self.name} ({self.dimension} dimensions, {self.pooling}{limit}, {scale}{prompt}, {model})"


def require_same(stored: Fingerprint, other: Fingerprint) -> None:
    """Refuse to mix vectors of two models.

    Raises:
        DimensionMismatch: Names both fingerprints, what differs, and the way out.
    """
    if stored == other:
        return
    differing = [
        item.name
        for item in fields(Fingerprint)
        if item.compare and getattr(stored, item.name) != getattr(other, item.name)
    ]
    raise DimensionMismatch(
        f"the index holds vectors of {stored}, the embedder is {other}; different: {', '.join(differing)}. "
        "engine.reembed() (or `armarius embed --reembed`) replaces them while the old ones keep answering"
    )


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

    def counts(self, set_id: int) -> VectorCounts:
        """Number of owners in each state."""

    def adopt(self, fingerprint: Fingerprint) -> VectorSet:
        """The serving set; created with all owners pending if there is none.

        Raises:
            DimensionMismatch: The set has vectors of another model.
        """

    def build(self, fingerprint: Fingerprint) -> VectorSet:
        """The building set: resumed if it is of this model, else replaced by a new one."""

    def switch(self) -> None:
        """Make the building set the serving one and drop the old one, in one transaction.

        Raises:
            EmbeddingError: The building set is not complete.
        """

    def abandon(self) -> None:
        """Drop the building set."""

    def set_cards(self, cards: Mapping[str, str]) -> None:
        """Set the texts of all entity cards, by id. Changed cards become pending, missing ones lose their vector.

        Cards of unknown entities are ignored. The vector of an entity is deleted with the entity.
        """

    def pending(self, set_id: int, *, limit: int, first: Sequence[str] = ()) -> list[PendingText]:
        """The next texts to embed: entity cards, then the documents in `first`, then the others in path order."""

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

    def sample(self, vector_set: VectorSet, size: int) -> Vectors:
        """At most `size` vectors, spread evenly over the set: float32, shape (m, dimension).

        Raises:
            SetGone: As `nearest`.
        """

    def refresh(self, *, resample: bool = False, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Update the approximate index. Slow: called in the background when nothing is pending.

        Args:
            resample: Measure recall again.
            cancelled: Polled; when True the work stops, and the next call continues it.
        """

    def index_status(self) -> VectorIndexStatus:
        """The present search method."""


@runtime_checkable
class Leasing(Protocol):
    """A `VectorStore` that several processes share; one of them embeds at a time."""

    def lease(self, seconds: float) -> bool:
        """Acquire or extend the lease to embed for `seconds`; False while another process holds it.

        The lease of a killed process expires after its time.
        """

    def release(self) -> None:
        """Release the lease; does nothing without it."""


def owner_order(owner: Owner) -> tuple[str, int, str]:
    """Sort key of owners with equal similarity: entities by id, then paragraphs by position."""
    return ("", -1, owner) if isinstance(owner, str) else (*owner, "")


def unit_rows(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; zero rows stay zero."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    scaled: Vectors = vectors / np.where(norms > 0, norms, np.ones_like(norms))
    return scaled


def usable_rows(vectors: Vectors) -> NDArray[np.bool_]:
    """Mask of the rows that are finite and not zero. Shape (n,)."""
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    usable: NDArray[np.bool_] = np.isfinite(squares) & (squares > 0.0)
    return usable


def check_batch(stored: Fingerprint, other: Fingerprint, texts: Sequence[PendingText], vectors: Vectors) -> None:
    """Check a batch before it is stored; the vector table itself accepts any values.

    Rows of zeros are valid: they mean that there is nothing to embed.

    Raises:
        DimensionMismatch: The vectors have another model or length.
        EmbeddingError: A row holds NaN or infinity; the message names its owner.
    """
    require_same(stored, other)
    if vectors.ndim != 2 or vectors.shape[1] != other.dimension:
        shape, most = "x".join(map(str, vectors.shape)), other.dimension
        raise DimensionMismatch(
            f"vectors of shape {shape} cannot go into an index of {most} dimensions; engine.reembed() rebuilds it"
        )
    for text, row in zip(texts, vectors, strict=True):
        if not np.isfinite(row).all():
            raise EmbeddingError(f"the vector of {text.owner!r} is not finite (NaN or infinity) and cannot be compared")


_LETTERS_AT_LEAST = 4
_NAMED_BY_HEADING = frozenset(CARD_KINDS)


def embedded_texts(document: Document) -> dict[int, str]:
    """The text to embed for each paragraph, by paragraph index.

    Only body paragraphs with at least four letters or digits: shorter ones ("好。") are similar to everything. In
    settings, outlines and notes the heading is prepended, because a line of a profile does not repeat the entity's
    name. Code is not embedded: the models are trained on prose, and symbol names find code better.
    """
    if document.kind == "code":
        return {}
    named = document.kind in _NAMED_BY_HEADING
    texts = {}
    for paragraph in document.paragraphs:
        text = document.text[paragraph.start : paragraph.end]
        if paragraph.role != "body" or not _is_embeddable(text):
            continue
        heading = paragraph.heading_path[-1] if named and paragraph.heading_path else ""
        texts[paragraph.index] = f"{heading}\n{text}" if heading else text
    return texts


def text_hash(text: str) -> bytes:
    """BLAKE2b-128 of an embedded text: equal hash, equal vector."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _is_embeddable(text: str) -> bool:
    letters = 0
    for char in text:
        letters += char.isalnum()
        if letters >= _LETTERS_AT_LEAST:
            return True
    return False
