"""Fakes: a fetcher with preset candidates, a counter of characters or words, a graph in memory that can fail."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from armarius.codex.model import Entity, Relation
from armarius.errors import ContextWarning, UnknownId
from armarius.graph import Graph, walk
from armarius.graph.protocol import checked_entity, checked_relation, relation_key
from armarius.types import (
    Candidate,
    Fetched,
    FetchRequest,
    LayerName,
    Omission,
)
from armarius.validation import whole

__all__ = ["FakeFetcher", "FakeGraph", "FixedCounter"]


@dataclass(slots=True)
class FakeFetcher:
    """A fetcher that returns preset candidates or raises a preset error, and records its requests.

    Args:
        candidates: Returned unchanged; each goes into its own layer.
        layer: The layer of the fetcher.
        error: Raised instead of an answer.
        delay: Seconds to sleep before answering.
    """

    candidates: Sequence[Candidate] = ()
    layer: LayerName = "retrieved"
    name: str = "fake"
    omitted: Sequence[Omission] = ()
    warnings: Sequence[ContextWarning] = ()
    error: Exception | None = None
    delay: float = 0.0
    requests: list[FetchRequest] = field(default_factory=list)

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Return the preset candidates, or raise the preset error."""
        self.requests.append(request)
        if self.delay:
            time.sleep(self.delay)
        if self.error is not None:
            raise self.error
        return Fetched(self.candidates, self.omitted, self.warnings)


@dataclass(slots=True)
class FixedCounter:
    """A counter with one token per character or per word, so that counts can be checked by hand.

    Args:
        per: `character` is additive over any join; `word` is additive over joins by white space.
        error: Raised instead of a count.
        texts: List that receives every counted text, in order.
    """

    per: Literal["character", "word"] = "character"
    name: str = "fixed"
    exact: bool = True
    error: Exception | None = None
    texts: list[str] = field(default_factory=list)

    def count(self, text: str, /) -> int:
        """Tokens of one text."""
        self.texts.append(text)
        if self.error is not None:
            raise self.error
        return len(text) if self.per == "character" else len(text.split())

    def count_batch(self, texts: Sequence[str], /) -> list[int]:
        """Tokens of each text."""
        return [self.count(text) for text in texts]


class FakeGraph:
    """A `GraphStore` in memory with a preset error or delay, which records its calls.

    Args:
        error: Raised by every method.
        delay: Seconds to sleep before every answer.

    Attributes:
        asked: Method and first argument of every call, in order; `stamp` is not among them.
    """

    def __init__(self, *, error: Exception | None = None, delay: float = 0.0) -> None:
        self.error = error
        self.delay = delay
        self.asked: list[tuple[str, object]] = []
        self._lock = threading.RLock()
        self._changes = 0
        self._entities: dict[str, Entity] = {}
        self._relations: dict[tuple[str, str, str], Relation] = {}

    def neighbors(self, entity_id: str, /, *, limit: int = 1000) -> Sequence[Relation]:
        """See `GraphStore`."""
        limit = whole("limit", limit, least=1)
        self._called("neighbors", entity_id)
        with self._lock:
            found = {relation_key(relation): relation for relation in self._touching([entity_id])}
        return tuple(found[key] for key in sorted(found))[:limit]

    def subgraph(self, entity_ids: Sequence[str], /, *, depth: int = 1, limit: int = 1000) -> Graph:
        """See `GraphStore`."""
        self._called("subgraph", list(entity_ids))
        with self._lock:
            return walk(
                entity_ids,
                depth=depth,
                limit=limit,
                entities=lambda ids: [self._entities[id_] for id_ in ids if id_ in self._entities],
                touching=self._touching,
            )

    def upsert_entity(self, entity: Entity, /) -> None:
        """See `GraphStore`."""
        self._called("upsert_entity", entity)
        entity = checked_entity(entity)
        with self._lock:
            self._entities[entity.id] = entity
            self._changes += 1

    def upsert_relation(self, relation: Relation, /) -> None:
        """See `GraphStore`."""
        self._called("upsert_relation", relation)
        relation = checked_relation(relation)
        with self._lock:
            for end in (relation.source, relation.target):
                if end not in self._entities:
                    raise UnknownId(f"no entity has the id {end!r}")
            self._relations[relation_key(relation)] = relation
            self._changes += 1

    def delete_entity(self, entity_id: str, /) -> None:
        """See `GraphStore`."""
        self._called("delete_entity", entity_id)
        with self._lock:
            for relation in self._touching([entity_id]):
                self._relations.pop(relation_key(relation), None)
            self._entities.pop(entity_id, None)
            self._changes += 1

    def snapshot(self) -> Graph:
        """See `GraphStore`."""
        self._called("snapshot", None)
        with self._lock:
            return Graph.of(self._entities.values(), self._relations.values())

    def stamp(self) -> int:
        """See `GraphStore`."""
        return self._changes

    def _touching(self, ids: Sequence[str]) -> list[Relation]:
        return [one for one in self._relations.values() if one.source in ids or one.target in ids]

    def _called(self, method: str, argument: object) -> None:
        self.asked.append((method, argument))
        if self.delay:
            time.sleep(self.delay)
        if self.error is not None:
            raise self.error
