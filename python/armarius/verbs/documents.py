"""The documents of a project over a wire: listed, read, searched, retrieved from, and where quoted words stand."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, StrictBool, StrictInt

from armarius.arguments import OPEN, Bounds
from armarius.documents.document import Document
from armarius.positions import PositionEncoding, read_text
from armarius.prompt.report.items import Place
from armarius.requests import ChapterIn, ChaptersIn, KindsIn, MessagesIn, WordingsIn
from armarius.verbs.method import Method, Params
from armarius.verbs.results import DocumentSummary, DocumentText, Found, Listed, Passage
from armarius.verbs.wire import Positions, positions_of, wire

if TYPE_CHECKING:
    from armarius.engine import ContextEngine

__all__ = ["METHODS", "summary"]

_MOST = 1_000  # results of one answer; a list of documents goes on with `offset`


class Listing(Params):
    """Which documents, and from the how manieth on."""

    chapters: ChaptersIn = OPEN
    kinds: KindsIn = ()
    limit: Annotated[StrictInt, Field(ge=1, le=_MOST)] = _MOST
    offset: Annotated[StrictInt, Field(ge=0)] = 0


class Reading(Params):
    """One document; with its paragraphs if they are asked for."""

    document: str
    paragraphs: StrictBool = False
    position_encoding: PositionEncoding = "code-point"


class _Bounded(Params):
    query: str
    chapters: ChaptersIn = OPEN
    kinds: KindsIn = ()
    as_of: ChapterIn = None
    also: WordingsIn = ()
    position_encoding: PositionEncoding = "code-point"

    @property
    def bounds(self) -> dict[str, Any]:
        """As keywords."""
        return {"chapters": self.chapters, "kinds": self.kinds, "as_of": self.as_of, "also": self.also}


class Searching(_Bounded):
    """Words as written."""

    limit: Annotated[StrictInt, Field(ge=1, le=_MOST)] = 10


class Retrieving(_Bounded):
    """A question."""

    limit: Annotated[StrictInt, Field(ge=0, le=_MOST)] = 5
    document: str = ""
    messages: MessagesIn = ()
    excerpts: StrictBool = False


class Locating(Params):
    """Quoted words, and the document that is open, with its text where that is not as saved."""

    quote: str
    document: str = ""
    text: Annotated[str | None, BeforeValidator(read_text)] = None
    position_encoding: PositionEncoding = "code-point"


def summary(document: Document) -> dict[str, Any]:
    """A document without its text."""
    return {
        "path": document.path,
        "kind": document.kind,
        "title": document.title,
        "chapter": document.chapter,
        "paragraphs": document.paragraph_count,
        "encoding": document.encoding,
        "contentHash": document.content_hash,
    }


def _list(engine: "ContextEngine", asked: Listing) -> dict[str, Any]:
    bounds = Bounds(asked.chapters, asked.kinds)
    found = [one for one in engine.documents() if bounds.holds(one.kind, one.chapter)]
    part = found[asked.offset : asked.offset + asked.limit]
    return {"items": [summary(one) for one in part], "total": len(found)}


def _get(engine: "ContextEngine", asked: Reading) -> dict[str, Any]:
    document = engine.document(asked.document)
    found = {**summary(document), "text": document.text}
    if not asked.paragraphs:
        return found
    at = Positions(asked.position_encoding, lambda _: document.text)
    parts = [
        {
            "index": one.index,
            "span": at.span(document.path, (one.start, one.end)),
            "headingPath": list(one.heading_path),
            "role": one.role,
            "chapter": one.chapter,
        }
        for one in document.paragraphs
    ]
    return {**found, "paragraphs": parts}


def _search(engine: "ContextEngine", asked: Searching) -> dict[str, Any]:
    found = engine.search(asked.query, limit=asked.limit, **asked.bounds)
    at = positions_of(engine, asked.position_encoding)
    return {"items": [wire(hit, at) for hit in found]}


def _retrieve(engine: "ContextEngine", asked: Retrieving) -> dict[str, Any]:
    answer = engine.retrieve(
        asked.query, limit=asked.limit, document=asked.document, messages=asked.messages, **asked.bounds
    )
    at = positions_of(engine, asked.position_encoding)
    items = [wire(hit, at) for hit in answer]
    if asked.excerpts:
        texts = [engine.excerpt(hit, chapters=asked.chapters, as_of=asked.as_of) for hit in answer]
        items = [{**item, "text": text} for item, text in zip(items, texts, strict=True)]
    warnings = [str(warning) for warning in answer.warnings]
    found: dict[str, Any] = {"items": items, "outcome": answer.outcome, "warnings": warnings}
    if Bounds(asked.chapters, asked.kinds, asked.as_of):
        found["omitted"] = [wire(gone) for gone in answer.omitted]
    if asked.messages:
        found["carried"] = list(answer.carried)
    return found


def _locate(engine: "ContextEngine", asked: Locating) -> dict[str, Any]:
    live = {} if asked.text is None else {asked.document: asked.text}
    at = positions_of(engine, asked.position_encoding, live)
    found = engine.locate(asked.quote, document=asked.document, text=asked.text)
    return {"items": [wire(place, at) for place in found]}


METHODS: tuple[Method[Any], ...] = (
    Method("documents:list", Listing, {"items": list[DocumentSummary], "total": int}, _list),
    Method("documents:get", Reading, DocumentText, _get),
    Method("documents:search", Searching, {"items": list[Passage]}, _search),
    Method("documents:retrieve", Retrieving, Listed[Found], _retrieve),
    Method("documents:locate", Locating, {"items": list[Place]}, _locate),
)
