"""Where the project says two things of somebody: both sides beside each other, no verdict."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from armarius.engine.engine import ContextEngine
from armarius.retrieval.contradictions.statements import Statement

__all__ = ["Conflict", "Disputed", "conflicts_of", "disputed"]


class Conflict(NamedTuple):
    """One side, and those that say otherwise, of one attribute or several."""

    one: Statement
    others: tuple[Statement, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """What about."""
        return self.one.attributes


class Disputed(NamedTuple):
    """Somebody who was looked at, and what is said otherwise of them; often nothing."""

    entity: str
    name: str
    conflicts: tuple[Conflict, ...]


def conflicts_of(statements: Sequence[Statement]) -> tuple[Conflict, ...]:
    """Statements that compete, paired; each pair once, under the side that comes first."""
    found = []
    for number, one in enumerate(statements):
        others = tuple(other for other in statements[number + 1 :] if _compete(one, other))
        if others:
            found.append(Conflict(one, others))
    return tuple(found)


def _compete(one: Statement, other: Statement) -> bool:
    named = other.reference in one.competes_with and one.reference in other.competes_with
    return named and not set(one.attributes).isdisjoint(other.attributes)


def disputed(engine: ContextEngine) -> Iterator[Disputed]:
    """Everybody of the project, one after another.

    Cost: five searches for each, the first time; what is found is kept until a document changes.
    """
    for entity in engine.entities():
        yield Disputed(entity.id, entity.name, conflicts_of(engine.evidence(entity.id)))
