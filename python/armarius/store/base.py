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
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from armarius.project.documents import Document
from armarius.project.kinds import Kind
from armarius.project.segments import Role

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

PassageKey = tuple[str, int]  # (document path, paragraph index)
Collection = Literal["memory", "constraint"]


@dataclass(frozen=True, slots=True)
class MentionRow:
    """One occurrence of an entity: `document.text[start:end]`, inside paragraph `paragraph` (-1: between two)."""

    entity: str
    paragraph: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Put:
    """Insert or replace a document with everything derived from it."""

    document: Document
    stamp: str
    mentions: tuple[MentionRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Remove:
    """Forget a document; unknown paths are ignored."""

    path: str


@dataclass(frozen=True, slots=True)
class Restamp:
    """The file was touched and its content is the same; unknown paths are ignored."""

    path: str
    stamp: str


Change = Put | Remove | Restamp


@dataclass(frozen=True, slots=True)
class FileRow:
    """What the index knows of a file: the stamp it was read at ("" when the next look must read it) and its hash."""

    stamp: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document without its text; `length` in code points."""

    path: str
    kind: Kind
    title: str
    chapter: int | None
    length: int
    paragraphs: int
    encoding: str
    content_hash: str
    front_matter: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph with its text and where it stands; spans are code points into the document's text."""

    path: str
    paragraph: int
    kind: Kind
    title: str
    chapter: int | None
    heading_path: tuple[str, ...]
    role: Role
    start: int
    end: int
    text: str

    @property
    def key(self) -> PassageKey:
        """(path, paragraph)."""
        return (self.path, self.paragraph)


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A full-text question; the terms are plain text, never a query language.

    Attributes:
        terms: With `match="all"` every term must stand in the paragraph as written (after folding); with "any" the
            terms are taken apart into grams (character pairs, words), the commonest are dropped, and any may match.
        kinds: Only documents of these kinds; empty means all.
        chapters: Inclusive bounds on the paragraph's chapter; None is open. Paragraphs without a chapter pass only
            when both are None.
        limit: At most so many, best first.
        grams: With "any": at most so many grams, rarest first.
    """

    terms: tuple[str, ...]
    match: Literal["all", "any"] = "all"
    kinds: tuple[Kind, ...] = ()
    chapters: tuple[int | None, int | None] = (None, None)
    limit: int = 10
    grams: int = 24


@dataclass(frozen=True, slots=True)
class TextHit:
    """A paragraph that a query found; a higher score is better, comparable within one query only."""

    path: str
    paragraph: int
    score: float


@dataclass(frozen=True, slots=True)
class MentionCount:
    """How often an entity is mentioned in a paragraph, or (paragraph None) in a document."""

    path: str
    paragraph: int | None
    entity: str
    count: int


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity as the index keeps it: what queries need, and the rest as JSON."""

    id: str
    name: str
    type: str
    level: str
    payload: str = "{}"


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A typed edge from `source` to `target`, valid from chapter `since` until before `until`."""

    source: str
    target: str
    type: str
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """An edge that a walk took, seen from the entity it came from; `forward` when it follows source to target."""

    entity: str
    reached: str
    type: str
    forward: bool


@dataclass(frozen=True, slots=True)
class Record:
    """An authored memory or constraint as JSON, under its id."""

    id: str
    payload: str


@dataclass(frozen=True, slots=True)
class StoreState:
    """Sizes; `bytes` on disk; `generation` grows with every committed change, by whichever process."""

    documents: int
    paragraphs: int
    mentions: int
    entities: int
    bytes: int
    generation: int


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

    def entities(self) -> list[EntityRow]:
        """Entities by id."""
        ...

    def relations(self) -> list[RelationRow]:
        """Relations by (source, target, type)."""
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
