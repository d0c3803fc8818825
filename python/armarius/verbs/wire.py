"""What the engine answers, as plain JSON: camelCase names, positions in the unit that the request asks for."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

from armarius.errors import ContextWarning
from armarius.positions import PositionEncoding, units
from armarius.requests import wire_name
from armarius.types import Hit

if TYPE_CHECKING:
    from armarius.documents.document import Document
    from armarius.engine import ContextEngine
    from armarius.text.matcher import Match, Mention

__all__ = ["CODE_POINTS", "Positions", "match_wire", "mention_wire", "positions_of", "wire"]

_PLACED: Final = frozenset({"path", "span"})  # a dataclass with both says where in which document


class Positions:
    """Offsets in code points to those of a host's strings.

    Args:
        encoding: The host's unit.
        text_of: A document's text by path; None for what is no document.
    """

    def __init__(self, encoding: PositionEncoding, text_of: Callable[[str], str | None]) -> None:
        units("", 0, encoding)  # refuses an unknown one
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
    held = dict(live or {})
    known: dict[str, Document] = {}

    def text_of(path: str) -> str | None:
        if path in held:
            return held[path]
        if not known:
            known.update((document.path, document) for document in engine.documents())
        return known[path].text if path in known else None

    return Positions(encoding, text_of)


def wire(value: Any, at: Positions = CODE_POINTS) -> dict[str, Any]:  # noqa: ANN401 - any dataclass of the engine
    """A dataclass as plain JSON with camelCase keys; nested ones too; a hit in its own form.

    Keys of the user's own, such as those of attributes, stay as they are.
    """
    if isinstance(value, Hit):
        return _hit(value, at)
    plain = {wire_name(one.name): _plain(getattr(value, one.name), at) for one in fields(value)}
    if plain.keys() >= _PLACED:
        plain["span"] = at.span(value.path, value.span)
    return plain


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
        return {**plain, "evidence": [wire(one, at) for one in hit.evidence]}
    start, end = at.span(hit.path, hit.span) or (hit.start, hit.end)
    highlights = [[at.within(hit.text, end) for end in span] for span in hit.highlights]
    return {**plain, "start": start, "end": end, "highlights": highlights}


def _plain(value: Any, at: Positions) -> Any:  # noqa: ANN401 - JSON out
    if isinstance(value, ContextWarning):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return wire(value, at)
    if isinstance(value, Mapping):
        return {key: _plain(item, at) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [_plain(item, at) for item in value]
    return value
