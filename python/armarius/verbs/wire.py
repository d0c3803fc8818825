"""What the engine answers, as plain JSON: camelCase names, positions in the unit that the request asks for.

Errors leave the process without paths, and text of the project as nothing but data. Our own errors are written for
readers and keep their text, with paths cut down to the project; everything else becomes a generic sentence, and the
original goes to the log. Tools and retrievers put what they find next to prompts, and a model has learnt to trust the
headings of those, so it is escaped as in a prompt. The channel answers programs, a resource is a file asked for by
name, and the engine's own methods are Python: what those say is exact.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from armarius.errors import ArmariusError, ContextWarning
from armarius.io import without_paths
from armarius.prompt.admit import escape
from armarius.prompt.report.items import PackItem, PackOmission
from armarius.requests import wire_name
from armarius.types import LAYERS, Hit
from armarius.validation import PositionEncoding, units

if TYPE_CHECKING:
    from armarius.codex.model import Entity
    from armarius.documents.document import Document
    from armarius.engine import ContextEngine
    from armarius.prompt.report.pack import Pack
    from armarius.text.matcher import Match, Mention

_PLACED: Final = frozenset({"path", "span"})  # a dataclass with both says where in which document


class Positions:
    """Offsets in code points to those of a host's strings.

    Args:
        encoding: The host's unit.
        text_of: A document's text by path; None for what is no document.
    """

    def __init__(self, encoding: PositionEncoding, text_of: Callable[[str], str | None]) -> None:
        self.encoding: PositionEncoding = encoding
        self._text_of = text_of
        self._texts: dict[str, str | None] = {}

    def within(self, text: str, offset: int) -> int:
        """An offset into `text`."""
        return offset if self.encoding == "code-point" or text.isascii() else units(text, offset, self.encoding)

    def span(self, path: str, span: tuple[int, int] | None) -> list[int] | None:
        """A span of a document; None where its text is not known, since it cannot be converted then.

        Cost: an encode of the document up to the end of the span, unless it is ASCII.
        """
        if span is None or self.encoding == "code-point":
            return None if span is None else list(span)
        if path not in self._texts:
            self._texts[path] = self._text_of(path)
        text = self._texts[path]
        return None if text is None else [self.within(text, end) for end in span]


CODE_POINTS: Final = Positions("code-point", lambda _: None)


def positions_of(
    engine: "ContextEngine", encoding: PositionEncoding, live: Mapping[str, str] | None = None
) -> Positions:
    """Positions in the documents of an engine; `live` are texts that an editor holds, by path."""
    texts = dict(live or {})
    documents: dict[str, Document] = {}

    def text_of(path: str) -> str | None:
        if path in texts:
            return texts[path]
        if not documents:
            documents.update((document.path, document) for document in engine.documents())
        return documents[path].text if path in documents else None

    return Positions(encoding, text_of)


def wire(value: Any, at: Positions = CODE_POINTS) -> dict[str, Any]:  # noqa: ANN401 - any dataclass of the engine
    """A dataclass as plain JSON with camelCase keys; nested ones too; a hit in its own form.

    Keys of the user's own, such as those of attributes, stay as they are.
    """
    if isinstance(value, Hit):
        return _hit(value, at)
    plain = {wire_name(field.name): _plain_json(getattr(value, field.name), at) for field in fields(value)}
    if plain.keys() >= _PLACED:
        plain["span"] = at.span(value.path, value.span)
    return plain


def row_wire(item: PackItem | PackOmission, prompt: str, encoding: PositionEncoding) -> dict[str, Any]:
    """An item or an omission of a pack as `AccountRow`; what is null is absent."""
    names = ("id", "layer", "source", "title", "code", "reason", "tokens")
    row: dict[str, Any] = {name: getattr(item, name) for name in names}
    if isinstance(item, PackItem):
        row |= {"form": item.form, "span": [units(prompt, at, encoding) for at in item.span]}
    row |= {"path": item.path} if item.path else {}
    return row if item.paragraph is None else {**row, "paragraph": item.paragraph}


def account_wire(pack: "Pack", encoding: PositionEncoding = "code-point") -> dict[str, Any]:
    """What is in a pack and what is not, as `Account`: without the prompt."""
    at = pack.prompt, encoding
    return {
        "tokenCount": pack.token_count,
        "budget": pack.budget,
        "counter": pack.counter,
        "counterExact": pack.counter_exact,
        "capacityPercent": pack.result.capacity_percent,
        **({} if pack.confidence is None else {"confidence": pack.confidence}),
        "stablePrefixHash": pack.stable_prefix_hash,
        "layers": {
            layer: {"tokenCount": pack.layers[layer].token_count, "granted": pack.granted.get(layer, 0)}
            for layer in LAYERS
        },
        "warnings": list(pack.warnings),
        "items": [row_wire(item, *at) for item in pack.items],
        "omitted": [row_wire(item, *at) for item in pack.omitted],
    }


def why_wire(pack: "Pack", thing: str, encoding: PositionEncoding = "code-point") -> dict[str, Any]:
    """Why something is in a pack or is not, as `Why`."""
    answer, at = pack.why(thing), (pack.prompt, encoding)
    values = {name: getattr(answer, name) for name in ("id", "title", "included", "reason", "change")}
    rows = {"items": [row_wire(item, *at) for item in answer.items]}
    return {**values, "text": str(answer), **rows, "omitted": [row_wire(item, *at) for item in answer.omitted]}


def match_wire(match: "Match", at: Positions = CODE_POINTS, text: str = "") -> dict[str, Any]:
    """The match of an entity in `text`."""
    return {
        "entityId": match.entity_id,
        "matchedTerm": match.matched_term,
        "position": at.within(text, match.position),
    }


def mention_wire(mention: "Mention", at: Positions, text: str) -> dict[str, Any]:
    """One mention of an entity in `text`, its span half-open."""
    span = [at.within(text, mention.start), at.within(text, mention.end)]
    return {"entityId": mention.entity_id, "term": mention.term, "span": span}


def _hit(hit: Hit, at: Positions) -> dict[str, Any]:
    plain = hit.to_wire()
    if at.encoding == "code-point":
        return plain
    if hit.paragraph is None:
        return {**plain, "evidence": [wire(item, at) for item in hit.evidence]}
    start, end = at.span(hit.path, hit.span) or (hit.start, hit.end)
    highlights = [[at.within(hit.text, end) for end in span] for span in hit.highlights]
    return {**plain, "start": start, "end": end, "highlights": highlights}


def _plain_json(value: Any, at: Positions) -> Any:  # noqa: ANN401 - JSON out
    if isinstance(value, ContextWarning):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return wire(value, at)
    if isinstance(value, Mapping):
        return {key: _plain_json(item, at) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [_plain_json(item, at) for item in value]
    return value


def summary(document: "Document") -> dict[str, Any]:
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


def document_wire(document: "Document", encoding: PositionEncoding, *, paragraphs: bool) -> dict[str, Any]:
    """A document with its text, and its paragraphs if they are asked for."""
    result = {**summary(document), "text": document.text}
    if not paragraphs:
        return result
    at = Positions(encoding, lambda _: document.text)
    parts = [
        {
            "index": part.index,
            "span": at.span(document.path, (part.start, part.end)),
            "headingPath": list(part.heading_path),
            "role": part.role,
            "chapter": part.chapter,
        }
        for part in document.paragraphs
    ]
    return {**result, "paragraphs": parts}


def listed_entity(entity: "Entity", mentions: int) -> dict[str, Any]:
    """An entity without its texts."""
    places = [{"path": origin.path, "line": origin.line} for origin in entity.origins]
    named = {"id": entity.id, "name": entity.name, "aliases": list(entity.aliases)}
    return {**named, "type": entity.type, "level": entity.level, "from": places, "mentions": mentions}


logger = logging.getLogger("armarius")

_PATHS = frozenset({"path", "file"})


@dataclass(frozen=True, slots=True)
class Failure:
    """What may be said about an exception."""

    code: str
    message: str


def describe(error: BaseException, *, root: Path | None = None) -> Failure:
    """The failure to report for `error`.

    Args:
        error: Of any call.
        root: The project folder; paths inside it are shown relative to it, others by name only.

    Returns:
        A stable code and a message of at most 600 characters, free of absolute paths.
    """
    if isinstance(error, ArmariusError):
        return Failure(error.code, without_paths(error.message, root=root))
    if isinstance(error, UnicodeError):
        return Failure("INVALID_TEXT", "the text holds a character that is not valid Unicode (a lone surrogate)")
    logger.error("unexpected %s", type(error).__name__, exc_info=error)
    return Failure("INTERNAL", "the request failed inside armarius; the log has the details")


def escaped(value: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """Plain JSON with every text in it escaped; a path stays exact as long as it is one line.

    Cost: one pass over the text.
    """
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, list | tuple):
        return [escaped(item) for item in value]
    if isinstance(value, dict):
        return {key: item if key in _PATHS and _is_line(item) else escaped(item) for key, item in value.items()}
    return value


def escaped_excerpt(engine: "ContextEngine", hit: Hit, options: Mapping[str, Any]) -> str:
    """The text behind a hit, as far as the `options` that it was asked with let it be seen."""
    bounds = {name: options[name] for name in ("chapters", "as_of") if name in options}
    return str(escaped(engine.excerpt(hit, **bounds)))


def _is_line(value: object) -> bool:
    return isinstance(value, str) and len(value.splitlines()) <= 1
