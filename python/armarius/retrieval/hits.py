"""The answer of retrieval: documents and sections with every reason for them, and what was understood and withheld."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, overload

from armarius.errors import ContextWarning
from armarius.hits import Hit, Hits
from armarius.records import Omission
from armarius.retrieval.understand.query import Understanding

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Outcome", "Retrieval"]

Outcome = Literal["found", "weak", "nothing found", "index not ready", "source failed"]


@dataclass(frozen=True, slots=True, repr=False)
class Retrieval(Sequence[Hit]):
    """Hits, best first, as a sequence; ties go to texts before sections, then to the earlier path.

    Attributes:
        hits: The same as the sequence itself.
        understanding: What was read out of the question.
        outcome: `found`; `nothing found` (looked everywhere); `index not ready` (nothing has been read yet);
            `source failed` (nothing found, and not every source could look).
        omitted: What would have been a hit, with the reason; `timeline`: it lies after the current chapter, or
            after `as_of`; `excluded`: the question names a chapter that the request leaves out.
        warnings: Sources that could not look; chapters that are named and that there are not (`CHAPTER_UNKNOWN`).
        also: The other wordings that were asked with.
        carried: What the question left to earlier turns of a conversation, each with its turn.
        stages: Stage to milliseconds; not part of equality.
    """

    hits: tuple[Hit, ...]
    understanding: Understanding
    outcome: Outcome
    omitted: tuple[Omission, ...] = ()
    warnings: tuple[ContextWarning, ...] = ()
    also: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
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

    def __repr__(self) -> str:
        left_out = f", {len(self.omitted)} omitted" if self.omitted else ""
        warned = f", {len(self.warnings)} warning{'s' * (len(self.warnings) != 1)}" if self.warnings else ""
        return f"Retrieval({self.outcome}: {Hits(self.hits)!r}{left_out}{warned})"

    def __rich__(self) -> "Table":
        """The hits as a table, as a terminal with rich shows them."""
        return Hits(self.hits).__rich__()

    def _repr_html_(self) -> str:
        """The hits as a table, as a notebook shows them."""
        return Hits(self.hits)._repr_html_()
