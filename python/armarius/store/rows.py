"""The rows and changes of a store, the same for every engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from armarius.arguments import Kind
from armarius.documents.document import Document
from armarius.documents.segments import Role
from armarius.types import Evidence, Hit

PassageKey = tuple[str, int]  # (document path, paragraph index)
Collection = Literal["memory", "constraint"]


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity: columns for queries, the other fields as JSON."""

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
class Record:
    """An authored memory or constraint as JSON, under its id."""

    id: str
    payload: str


@dataclass(frozen=True, slots=True)
class Put:
    """Insert or replace a document, and delete the derived rows of its earlier version."""

    document: Document
    stamp: str


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete a document and its derived rows; unknown paths are ignored."""

    path: str


@dataclass(frozen=True, slots=True)
class Restamp:
    """Set the stamp of a file with unchanged content. Unknown paths are ignored.

    With a `content_hash`, only a document with that hash is stamped: another process may have replaced it.
    """

    path: str
    stamp: str
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Set a key and value of the index."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class GraphRows:
    """Replace all entities and relations."""

    entities: tuple[EntityRow, ...]
    relations: tuple[RelationRow, ...]


@dataclass(frozen=True, slots=True)
class Records:
    """Replace all records of a collection."""

    collection: Collection
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """A value computed from one document, deleted when the document changes; unknown paths are ignored.

    Attributes:
        path: Path of the document.
        kind: Kind of value; a document has at most one row of a kind.
        about: Fingerprint of the inputs, such as a digest of the names; the row is outdated when they changed.
        data: The serialised value, opaque to the store.
    """

    path: str
    kind: str
    about: str
    data: bytes


Change = Put | Remove | Restamp | Note | GraphRows | Records | DerivedRow


@dataclass(frozen=True, slots=True)
class Changed:
    """The changes since a generation, from one snapshot.

    Attributes:
        generation: Generation of the snapshot; pass it as `since` the next time.
        documents: New or changed documents, in path order.
        removed: Removed paths, sorted.
        notes: Notes written since.
        whole: The store has no history back to `since`: `documents` and `notes` are complete, and the caller must
            drop everything else.
    """

    generation: int
    documents: tuple[Document, ...]
    removed: tuple[str, ...]
    notes: Mapping[str, str]
    whole: bool


@dataclass(frozen=True, slots=True)
class FileRow:
    """The stamp at which a file was read ("" forces the next comparison to read it), and its content hash."""

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
    """A paragraph with its text and position; spans are code points into the document's text."""

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

    def hit(self, score: float, evidence: tuple[Evidence, ...], snippet: str = "") -> Hit:
        """This paragraph as a search hit."""
        return Hit(
            path=self.path,
            span=(self.start, self.end),
            heading=self.heading_path,
            score=score,
            evidence=evidence,
            title=self.title,
            kind=self.kind,
            chapter=self.chapter,
            paragraph=self.paragraph,
            role=self.role,
            text=self.text,
            snippet=snippet,
        )


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A full-text query; terms are plain text, without query syntax.

    Attributes:
        terms: With `match="all"` the paragraph must contain every term as written (after folding). With "any", terms
            are split into grams (character pairs, words), the most frequent are dropped, and any may match.
        kinds: Only documents of these kinds; empty means all.
        chapters: Inclusive bounds on the paragraph's chapter; None is open. Paragraphs without a chapter match only
            if both are None.
        limit: Maximum number, best first; None returns all unranked: by (path, paragraph), with scores of 0.
        grams: With "any": maximum number of grams, rarest first.
    """

    terms: tuple[str, ...]
    match: Literal["all", "any"] = "all"
    kinds: tuple[Kind, ...] = ()
    chapters: tuple[int | None, int | None] = (None, None)
    limit: int | None = 10
    grams: int = 24


@dataclass(frozen=True, slots=True)
class TextHit:
    """A paragraph that a query found; a higher score is better, comparable within one query only."""

    path: str
    paragraph: int
    score: float


@dataclass(frozen=True, slots=True)
class StoreState:
    """Sizes; `bytes` on disk; `generation` grows with every committed change of any process."""

    documents: int
    paragraphs: int
    entities: int
    bytes: int
    generation: int
