"""What a search by meaning answers, and what recall says about itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from armarius.embedders.protocol import Fingerprint
from armarius.semantic.queue import Progress
from armarius.semantic.vector_index import IndexStatus

if TYPE_CHECKING:
    from armarius.store.protocol import Passage

__all__ = ["SemanticStatus", "SimilarEntity", "SimilarPassage"]


@dataclass(frozen=True, slots=True)
class SimilarPassage:
    """A paragraph and the cosine similarity of its vector to the query's, in [-1, 1]."""

    passage: "Passage"
    similarity: float

    def __str__(self) -> str:
        return f"{self.similarity:.3f} {self.passage.path}#{self.passage.paragraph} {self.passage.text[:60]!r}"


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
    progress: Progress
    index: IndexStatus
