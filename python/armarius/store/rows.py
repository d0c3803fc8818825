"""What goes into a store and comes out of it: plain rows, the same for every engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from armarius.documents.classify import Kind
from armarius.documents.document import Document
from armarius.documents.segments import Role
from armarius.types import Evidence, Hit

__all__ = [
    "Change",
    "Changed",
    "Collection",
    "DerivedRow",
    "DocumentRow",
    "EntityRow",
    "FileRow",
    "Graph",
    "Note",
    "Passage",
    "PassageKey",
    "Put",
    "Record",
    "Records",
    "RelationRow",
    "Remove",
    "Restamp",
    "StoreState",
    "TextHit",
    "TextQuery",
]

PassageKey = tuple[str, int]  # (document path, paragraph index)
Collection = Literal["memory", "constraint"]


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
class Record:
    """An authored memory or constraint as JSON, under its id."""

    id: str
    payload: str


@dataclass(frozen=True, slots=True)
class Put:
    """Insert or replace a document; what was learnt from an earlier one of its path is forgotten."""

    document: Document
    stamp: str


@dataclass(frozen=True, slots=True)
class Remove:
    """Forget a document and what was learnt from it; unknown paths are ignored."""

    path: str


@dataclass(frozen=True, slots=True)
class Restamp:
    """The file was touched and its content is the same: nothing reads otherwise. Unknown paths are ignored.

    With a `content_hash` only a document of that content is stamped: the index may hold another's by now.
    """

    path: str
    stamp: str
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Keep a small fact with the index."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Replace all entities and relations."""

    entities: tuple[EntityRow, ...]
    relations: tuple[RelationRow, ...]


@dataclass(frozen=True, slots=True)
class Records:
    """Replace a collection."""

    collection: Collection
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """Something worked out from one document, kept until the document changes; unknown paths are ignored.

    Attributes:
        path: Of the document.
        kind: What it is; one row of a kind for a document.
        about: With what it was worked out (a digest of the names looked for): out of date when that is another now.
        data: Whatever who wrote it reads; the store does not look inside.
    """

    path: str
    kind: str
    about: str
    data: bytes


Change = Put | Remove | Restamp | Note | Graph | Records | DerivedRow


@dataclass(frozen=True, slots=True)
class Changed:
    """What came after a generation, seen in one moment.

    Attributes:
        generation: Of that moment; ask from here the next time.
        documents: New or changed since, in path order.
        removed: Paths that were there and are not, sorted.
        notes: Written since.
        whole: The store cannot say what came since: `documents` and `notes` are all there are, whatever else the
            caller remembers is to be forgotten.
    """

    generation: int
    documents: tuple[Document, ...]
    removed: tuple[str, ...]
    notes: Mapping[str, str]
    whole: bool


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

    def hit(self, score: float, evidence: tuple[Evidence, ...], snippet: str = "") -> Hit:
        """This paragraph as the answer to something."""
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
    """A full-text question; the terms are plain text, never a query language.

    Attributes:
        terms: With `match="all"` every term must stand in the paragraph as written (after folding); with "any" the
            terms are taken apart into grams (character pairs, words), the commonest are dropped, and any may match.
        kinds: Only documents of these kinds; empty means all.
        chapters: Inclusive bounds on the paragraph's chapter; None is open. Paragraphs without a chapter pass only
            when both are None.
        limit: At most so many, best first; None is all of them, by (path, paragraph), with scores of 0: for whoever
            puts them in an order of their own.
        grams: With "any": at most so many grams, rarest first.
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
    """Sizes; `bytes` on disk; `generation` grows with every committed change, by whichever process."""

    documents: int
    paragraphs: int
    entities: int
    bytes: int
    generation: int
