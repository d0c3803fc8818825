"""Where what a prompt shows stands in its documents, and where words stand that somebody quotes from it."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from armarius.assembly.escape import carried, escape
from armarius.assembly.render import Placed
from armarius.errors import ContractError
from armarius.marks import unmarked
from armarius.strict import shown as what_came

__all__ = ["Place", "Region", "Texts", "located", "shown"]

Texts = Callable[[str], str | None]
"""A document, or the buffer, by path, as the prompt was made from it; None for what is no document."""

_WINDOW: Final = "editor:cursor-window"
_PASSAGE: Final = "rag:passage:"
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_QUOTES, _DASHES = "“”„‟«»「」『』〝〞", "—–―‐‑−－"
_APOSTROPHES = "‘’‚‛`´"
_ALIKE: Final = str.maketrans(
    _QUOTES + _APOSTROPHES + _DASHES + "‹›⟦",
    '"' * len(_QUOTES) + "'" * len(_APOSTROPHES) + "-" * len(_DASHES) + "<>[",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where quoted words stand.

    Attributes:
        path: Of the document; that of the request where the buffer is meant, "" for one without a name.
        span: Code points of the document or buffer, half-open.
        text: What stands there, which is the quote only when `exact`.
        source: What of the prompt shows it; "" for a document that a card of the prompt is made of.
        exact: Word for word; else but for width, case, white space, quotation marks and dashes.
    """

    path: str
    span: tuple[int, int]
    text: str
    source: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of a document to look into."""

    source: str
    path: str
    start: int
    end: int


def shown(item: Placed, texts: Texts, groups: tuple[str, ...]) -> tuple[str, int, int] | None:
    """Path and span of what an item shows word for word; None for what is no stretch of a document, such as a card.

    Cost: of the window one search in it; where it had to be escaped, one escape.
    """
    one = item.candidate
    if one.source != _WINDOW and not one.source.startswith((_PASSAGE, "rag:document:")):
        return None
    found = next(((evidence.path, evidence.span) for evidence in one.evidence if evidence.span is not None), None)
    if found is None:
        return None
    path, (start, end) = found
    if one.source != _WINDOW:
        return path, start, end
    whole = texts(path)
    if whole is None:
        return None
    raw = whole[start:end]
    first, last = item.part or (0, len(one.content))
    if (at := raw.find(one.content)) >= 0:
        return path, start + at + first, start + at + last
    harmless = escape(raw, groups)
    at = max(harmless.find(one.content), 0)
    places = carried(raw, harmless, range(len(raw) + 1))  # ascending
    return path, start + _before(places, at + first), start + _before(places, at + last)


def located(quote: str, regions: Iterable[Region], texts: Texts) -> tuple[Place, ...]:
    """Every place where `quote` stands, in the order of the regions, then of the text.

    Word for word if it stands anywhere so; else as `Place.exact` says, without the marks of cursor and selection.

    Raises:
        ContractError: A quote of nothing.

    Cost: one search of the regions; where the words are not found exactly a pass over them, and a microsecond for each
    character of those that hold its letters.
    """
    quote = _words(quote)
    joined = list(_joined(regions, texts))
    found = _found(joined, texts, lambda text: _exactly(text, quote), exact=True)
    wanted = "".join(sign for sign, _ in _folded(unmarked(quote)))
    if found or not wanted:
        return found
    letters = _letters(unmarked(quote))
    return _found(joined, texts, lambda text: _loosely(text, wanted, letters), exact=False)


def _words(quote: object) -> str:
    if not isinstance(quote, str) or not quote.strip():
        raise ContractError(f"quote: expected words to look for, got {what_came(quote)}")
    return quote.strip()


def _found(
    regions: Sequence[Region], texts: Texts, find: Callable[[str], Iterator[tuple[int, int]]], *, exact: bool
) -> tuple[Place, ...]:
    places: dict[tuple[str, tuple[int, int]], Place] = {}
    for region in regions:
        text = (texts(region.path) or "")[region.start : region.end]
        for start, end in find(text):
            span = (region.start + start, region.start + end)
            places.setdefault((region.path, span), Place(region.path, span, text[start:end], region.source, exact))
    return tuple(places.values())


def _joined(regions: Iterable[Region], texts: Texts) -> Iterator[Region]:
    """Regions that follow each other with nothing but white space between, as one: a quote may run over both."""
    open_: Region | None = None
    for one in regions:
        between = None
        if open_ is not None and open_.path == one.path and open_.end <= one.start:
            between = (texts(one.path) or "")[open_.end : one.start]
        if open_ is not None and between is not None and not between.strip():
            open_ = Region(open_.source, one.path, open_.start, one.end)
            continue
        if open_ is not None:
            yield open_
        open_ = one
    if open_ is not None:
        yield open_


def _exactly(text: str, quote: str) -> Iterator[tuple[int, int]]:
    at = text.find(quote)
    while at >= 0:
        yield at, at + len(quote)
        at = text.find(quote, at + len(quote))


def _letters(text: str) -> str:
    return unicodedata.normalize("NFKC", _NO_LETTERS.sub("", text)).casefold()


def _loosely(text: str, wanted: str, letters: str) -> Iterator[tuple[int, int]]:
    # A pass of `re` before one of a microsecond a character: what folds alike has the same letters.
    if letters not in _letters(text):
        return
    signs = list(_folded(text))
    drawn = "".join(sign for sign, _ in signs)
    for start, end in _exactly(drawn, wanted):
        yield signs[start][1], signs[end - 1][1] + 1


def _folded(text: str) -> Iterator[tuple[str, int]]:
    """One sign of the folded text after the other, each with the offset of what it stands for."""
    before, gap = "", -1
    for at, char in enumerate(text):
        if char.isspace():
            gap = at if gap < 0 else gap
            continue
        signs = _sign(char)
        if gap >= 0 and before and signs and before.isascii() and signs.isascii():
            yield " ", gap
        gap = -1
        for sign in signs:
            yield sign, at
        before = signs or before


@lru_cache(maxsize=8192)
def _sign(char: str) -> str:
    return unicodedata.normalize("NFKC", char.translate(_ALIKE)).casefold().translate(_ALIKE)


def _before(places: Sequence[int], wanted: int) -> int:
    """The first offset whose place is `wanted` or behind it."""
    return next((at for at, place in enumerate(places) if place >= wanted), len(places) - 1)
