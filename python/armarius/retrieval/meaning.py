"""Similarity of meaning as a signal of paragraphs and of the outline's lines, beside words.

    value = (similarity - that of the last one looked at) / (the greatest - that of the last one)

of the nearest 400, so that every model has one scale. Similarities are rounded to 1/1024 before: vectors that are kept
as float16 then give the same prompt on every machine. What the values count depends on how well the model knows the
project (`armarius.semantic.trust`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from armarius.retrieval.weights import MEANING
from armarius.semantic.outliers import Nearby

__all__ = ["Meaning"]

_GRAIN = 1024
Placed = tuple[str, int, float]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a search by meaning says of a question; without any, nothing.

    Attributes:
        paragraphs: Path, position and value in (0, 1], best first.
        lines: The same of the outline.
        trust: Factor on the weights, 0 to 1.
        stands_out: Whether anything is nearer than chance would have it.
    """

    paragraphs: tuple[Placed, ...] = ()
    lines: tuple[Placed, ...] = ()
    trust: float = 0.0
    stands_out: tuple[Placed, ...] = ()

    @classmethod
    def of(cls, nearby: Nearby, stands_out: Sequence[Placed]) -> "Meaning":
        """The signal of one answer; `stands_out` as placed in the documents of the request."""
        return cls(_valued(nearby.paragraphs), _valued(nearby.lines), nearby.trust, tuple(stands_out))

    def __bool__(self) -> bool:
        """Whether it counts."""
        return self.trust > 0 and bool(self.paragraphs)

    @property
    def paragraph_signal(self) -> tuple[str, float, float, list[Placed]]:
        """As the core takes it: name, weight, weight of the neighbours, values."""
        weight, near = MEANING["paragraph"] * self.trust, MEANING["near"] * self.trust
        return ("meaning", weight, near, list(self.paragraphs))

    @property
    def line_signal(self) -> tuple[str, float, list[Placed]]:
        """As the core takes it: name, weight, values."""
        return ("meaning", MEANING["line"] * self.trust, list(self.lines))


def _valued(found: Sequence[Placed]) -> tuple[Placed, ...]:
    rounded = [(path, index, round(similarity * _GRAIN)) for path, index, similarity in found]
    if not rounded:
        return ()
    most, least = max(one[2] for one in rounded), min(one[2] for one in rounded)
    if most == least:
        return tuple((path, index, 1.0) for path, index, _ in rounded)
    return tuple((path, index, (one - least) / (most - least)) for path, index, one in rounded if one > least)
