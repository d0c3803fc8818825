"""Where everybody appears: mentions counted by document, worked out once for each state of the index."""

import threading
from collections import Counter
from dataclasses import dataclass

from armarius.engine.engine import ContextEngine
from armarius.index.mentions import KIND, unpack_mentions

__all__ = ["Appearance", "Appearances"]


@dataclass(frozen=True, slots=True)
class Appearance:
    """How often somebody is mentioned in a chapter: its path, number and title."""

    path: str
    chapter: int | None
    title: str
    count: int


class Appearances:
    """Counts for all entities, read again when the index has changed. Threads may share it."""

    def __init__(self, engine: ContextEngine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._generation = -1
        self._counts: dict[str, Counter[str]] = {}

    def of(self, entity: str) -> list[Appearance]:
        """Every chapter in the order of the story, with how often `entity` is mentioned there, 0 included."""
        counts = self._read().get(entity, Counter())
        chapters = [one for one in self._engine.documents() if one.kind == "chapter"]
        chapters.sort(key=lambda one: (one.chapter is None, one.chapter or 0, one.path))
        return [Appearance(one.path, one.chapter, one.title, counts[one.path]) for one in chapters]

    def totals(self) -> Counter[str]:
        """How often each entity is mentioned in the whole project."""
        return Counter({entity: counts.total() for entity, counts in self._read().items()})

    def in_document(self, path: str) -> Counter[str]:
        """Who is mentioned in a document, and how often."""
        return Counter({entity: counts[path] for entity, counts in self._read().items() if counts[path]})

    def _read(self) -> dict[str, Counter[str]]:
        index = self._engine.index
        generation = index.status().generation
        with self._lock:
            if generation != self._generation:
                counts: dict[str, Counter[str]] = {}
                for row in index.ask(lambda store: store.learnt(KIND)).values():
                    for mention in unpack_mentions(row):
                        counts.setdefault(mention.entity, Counter())[row.path] += 1
                self._counts, self._generation = counts, generation
            return self._counts
