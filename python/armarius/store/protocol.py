"""The store protocol: what an index of one project can be asked and told, whatever engine keeps it.

A store is bound to one project; every key in it begins with the project id, which an engine that keeps many projects
must put first in its own keys. The store never ranks beyond the text score of one query, never reads a file, and
holds nothing that cannot be rebuilt from the project folder. `tests/store/conformance.py` is the executable form of
this page.

Every list is in the order its method documents; ties break on (path, paragraph). Every method may raise:

    StoreBusy     another process holds the index for longer than the timeout
    StoreCorrupt  damaged or replaced; delete and rebuild
    StoreFull     the disk is full or cannot be written
    StoreError    closed, or anything else that went wrong
"""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

from armarius.documents.classify import Kind
from armarius.documents.document import Document
from armarius.store.rows import (
    Change,
    Collection,
    DocumentRow,
    EntityRow,
    FileRow,
    MentionCount,
    MentionRow,
    Passage,
    PassageKey,
    Put,
    Record,
    RelationRow,
    Remove,
    Restamp,
    Step,
    StoreState,
    TextHit,
    TextQuery,
)

__all__ = [
    "Change",
    "Collection",
    "DocumentRow",
    "EntityRow",
    "FileRow",
    "MentionCount",
    "MentionRow",
    "Passage",
    "PassageKey",
    "Put",
    "Record",
    "RelationRow",
    "Remove",
    "Restamp",
    "Step",
    "Store",
    "StoreState",
    "TextHit",
    "TextQuery",
]


@runtime_checkable
class Store(Protocol):
    """An index of one project. Safe to call from several threads; readers never wait for a writer."""

    @property
    def project_id(self) -> str:
        """The project every key belongs to."""
        ...

    def close(self) -> None:
        """Release everything; closing twice is fine, any other call afterwards raises StoreError."""
        ...

    def state(self) -> StoreState:
        """Sizes and generation."""
        ...

    def note(self, key: str) -> str | None:
        """A small fact kept with the index, or None."""
        ...

    def set_note(self, key: str, value: str) -> None:
        """Keep a small fact with the index."""
        ...

    def apply(self, changes: Sequence[Change]) -> None:
        """Make all changes or none, in order; when it returns they survive a crash of the process."""
        ...

    def files(self) -> dict[str, FileRow]:
        """Every indexed file by path."""
        ...

    def documents(self, *, kinds: Sequence[Kind] = (), chapter: int | None = None) -> list[DocumentRow]:
        """Documents in path order, of these kinds (empty: all) and this chapter (None: any)."""
        ...

    def document(self, path: str) -> Document | None:
        """A whole document as it was indexed, or None."""
        ...

    def passages(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """Paragraphs in the order of `keys`; unknown keys are left out."""
        ...

    def search(self, query: TextQuery) -> list[TextHit]:
        """Paragraphs that match, best first; a query without indexable terms finds nothing."""
        ...

    def document_frequency(self, terms: Sequence[str]) -> list[int]:
        """In how many paragraphs each term stands, as `match="all"` would find it."""
        ...

    def mentions(self, path: str) -> list[MentionRow]:
        """Mentions of a document by (start, -end, entity)."""
        ...

    def mention_counts(
        self,
        entities: Sequence[str] | None = None,
        *,
        by: Literal["document", "paragraph"] = "document",
        paths: Sequence[str] | None = None,
    ) -> list[MentionCount]:
        """Counts by (path, paragraph, entity); None means every entity, every document."""
        ...

    def replace_mentions(self, mentions: Mapping[str, Sequence[MentionRow]]) -> None:
        """Replace the mentions of all documents in one transaction; documents not named lose theirs."""
        ...

    def replace_graph(self, entities: Sequence[EntityRow], relations: Sequence[RelationRow]) -> None:
        """Replace all entities and relations in one transaction; mentions of entities that go, go with them."""
        ...

    def entities(self, ids: Sequence[str] | None = None) -> list[EntityRow]:
        """Entities by id: all, or those with these ids; unknown ids are left out."""
        ...

    def relations(self, *, touching: Sequence[str] | None = None) -> list[RelationRow]:
        """Relations by (source, target, type): all, or those that begin or end at one of these entities."""
        ...

    def neighbours(self, entities: Sequence[str], *, depth: int = 1, limit: int = 1000) -> list[list[Step]]:
        """Breadth first: the edges that first reach each entity, level by level, by (entity, reached, type).

        Args:
            entities: Where the walk starts.
            depth: Levels, >= 1.
            limit: Reached entities in all; the walk stops there.
        """
        ...

    def replace_records(self, collection: Collection, records: Sequence[Record]) -> None:
        """Replace a collection in one transaction."""
        ...

    def records(self, collection: Collection) -> list[Record]:
        """A collection by id."""
        ...

    def verify(self) -> list[str]:
        """Everything that is wrong with the index, as sentences; [] when it is sound. Reads all of it."""
        ...
