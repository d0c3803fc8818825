"""The graph that a project asks for and does not get: every question is answered with why."""

from collections.abc import Sequence
from typing import NoReturn

from armarius.codex.model import Entity, Relation
from armarius.errors import GraphError
from armarius.graph.protocol import Graph

__all__ = ["WithheldGraph"]


class WithheldGraph:
    """A `GraphStore` that is not asked; in answers it is `KG_UNAVAILABLE`, as any graph that fails.

    Args:
        reason: Why, and what would allow it.

    Raises:
        GraphError: From every method; the message is the reason.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def neighbors(self, entity_id: str, /, *, limit: int = 1000) -> Sequence[Relation]:
        """See `GraphStore`."""
        self._refuse()

    def subgraph(self, entity_ids: Sequence[str], /, *, depth: int = 1, limit: int = 1000) -> Graph:
        """See `GraphStore`."""
        self._refuse()

    def upsert_entity(self, entity: Entity, /) -> None:
        """See `GraphStore`."""
        self._refuse()

    def upsert_relation(self, relation: Relation, /) -> None:
        """See `GraphStore`."""
        self._refuse()

    def delete_entity(self, entity_id: str, /) -> None:
        """See `GraphStore`."""
        self._refuse()

    def snapshot(self) -> Graph:
        """See `GraphStore`."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise GraphError(self.reason)
