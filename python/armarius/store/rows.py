"""What goes into a store and comes out of it: plain rows, the same for every engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from armarius.documents.classify import Kind
from armarius.documents.document import Document
from armarius.documents.segments import Role
from armarius.hits import Hit
from armarius.records import Evidence

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
