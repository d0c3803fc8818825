"""Shapes of answers that are no dataclass of the engine, for the JSON Schemas; every answer is tested against its own.

Spans are half-open, in units of the request's `positionEncoding`.
"""

from typing import Generic, Literal, TypeVar

from pydantic import Field

from armarius.documents.document import Skipped
from armarius.index.status import Progress
from armarius.requests import Wire
from armarius.search.hits import Outcome
from armarius.types import Evidence, Omission

__all__ = [
    "CodeAround",
    "DocumentSummary",
    "DocumentText",
    "Found",
    "Listed",
    "Matched",
    "Mentioned",
    "Passage",
    "Proposed",
    "Status",
    "Waited",
]

Item = TypeVar("Item")


class Listed(Wire, Generic[Item]):
    """What retrieval found; with bounds what they left out, with messages what of them was looked up too."""

    items: list[Item]
    outcome: Outcome
    warnings: list[str]
    omitted: list[Omission] | None = None
    carried: list[str] | None = None


class Found(Wire):
    """A document or a section of one, with every reason; `text` when `excerpts` are asked for."""

    path: str
    section: str
    score: float
    evidence: list[Evidence]
    text: str | None = None
    level: str | None = None


class Passage(Wire):
    """A paragraph that holds the words: `start` and `end` in its document, `highlights` in its text."""

    path: str
    kind: str
    title: str
    chapter: int | None
    heading_path: list[str]
    paragraph: int
    role: str
    start: int
    end: int
    text: str
    highlights: list[tuple[int, int]]
    snippet: str
    score: float
    level: str | None = None


class DocumentSummary(Wire):
    """A document without its text; `contentHash` changes with its file."""

    path: str
    kind: Literal["chapter", "setting", "outline", "note", "code"]
    title: str
    chapter: int | None
    paragraphs: int
    encoding: str
    content_hash: str


class Part(Wire):
    """A paragraph of a document."""

    index: int
    span: tuple[int, int]
    heading_path: list[str]
    role: str
    chapter: int | None


class DocumentText(DocumentSummary):
    """A document; `paragraphs` is their number, or the list of them when the request asks for it."""

    paragraphs: int | list[Part]  # type: ignore[assignment]
    text: str


class Matched(Wire):
    """An entity that a text names, and where first."""

    entity_id: str
    matched_term: str
    position: int


class Mentioned(Wire):
    """One mention of an entity in a text."""

    entity_id: str
    term: str
    span: tuple[int, int]


class Proposed(Wire):
    """A name that the chapters use and no profile describes."""

    name: str
    aliases: list[str]
    kind: str
    count: int
    document: str
    position: int
    reason: str
    known: bool


class Node(Wire):
    """A symbol."""

    id: str
    name: str
    type: str


class Edge(Wire):
    """What one symbol does with another, by names of nodes."""

    origin: str = Field(alias="from")
    to: str
    type: str


class Line(Wire):
    """A line that has the name in it."""

    file: str
    line: int
    match: str
    text: str


class CodeAround(Wire):
    """A subgraph, or lines of a text search when there is no graph; then `degraded` and `reason` are there."""

    nodes: list[Node] | None = None
    edges: list[Edge] | None = None
    results: list[Line] | None = None
    degraded: bool | None = None
    reason: str | None = None
    truncated: bool | None = None
    warnings: list[str] | None = None
    tree: str | None = None


class Status(Wire):
    """What the index is doing and what it holds."""

    state: Literal["ready", "building", "cancelled", "stale"]
    progress: Progress
    watching: bool
    documents: int
    paragraphs: int
    mentions: int
    entities: int
    bytes: int
    generation: int
    skipped: list[Skipped]
    warnings: list[str]


class Waited(Wire):
    """Whether the build has ended."""

    done: bool
