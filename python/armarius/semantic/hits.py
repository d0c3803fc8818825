"""What a search by meaning answers, and what recall says about itself."""

from dataclasses import dataclass

from armarius.semantic.queue import EmbeddingProgress
from armarius.store.fingerprint import Fingerprint
from armarius.store.vectors_protocol import VectorIndexStatus

__all__ = ["SemanticStatus", "SimilarEntity"]


@dataclass(frozen=True, slots=True)
class SimilarEntity:
    """An entity and the cosine similarity of its card to the query, in [-1, 1]."""

    entity: str
    similarity: float


@dataclass(frozen=True, slots=True)
class SemanticStatus:
    """For `armarius doctor`: which model answers, how far embedding is, what the index is like."""

    serving: Fingerprint | None
    building: Fingerprint | None
    progress: EmbeddingProgress
    index: VectorIndexStatus
