"""The answer of retrieval: documents and sections with every reason for them, and what was understood and withheld."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, overload

from armarius.errors import ContextWarning
from armarius.records import Evidence, Omission
from armarius.retrieval.understand.query import Understanding

__all__ = ["Hit", "Outcome", "Retrieval"]

Outcome = Literal["found", "nothing found", "index not ready", "source failed"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A document, or one section of it.

    Attributes:
        path: Project-relative.
        section: Heading of the section, "" for the whole document.
        score: Higher is better; comparable within one answer only.
        evidence: Every reason, the strongest first, each with where it stands.
    """

    path: str
    section: str
    score: float
    evidence: tuple[Evidence, ...]

    @property
    def reference(self) -> str:
        """`path`, or `path#section`."""
        return f"{self.path}#{self.section}" if self.section else self.path


@dataclass(frozen=True, slots=True)
class Retrieval(Sequence[Hit]):
    """Hits, best first, as a sequence; ties go to texts before sections, then to the earlier path.

    Attributes:
        hits: The same as the sequence itself.
        understanding: What was read out of the question.
        outcome: `found`; `nothing found` (looked everywhere); `index not ready` (nothing has been read yet);
            `source failed` (nothing found, and not every source could look).
        omitted: What would have been a hit, with the reason; `timeline`: it lies after the current chapter.
        warnings: Sources that could not look.
        stages: Stage to milliseconds; not part of equality.
    """

    hits: tuple[Hit, ...]
    understanding: Understanding
    outcome: Outcome
    omitted: tuple[Omission, ...] = ()
    warnings: tuple[ContextWarning, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict, compare=False)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        """The hit at `index`."""
        return self.hits[index]

    def __len__(self) -> int:
        """Number of hits."""
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        """The hits, best first."""
        return iter(self.hits)
