"""Chosen items to text: four fenced layers, one order, joins across which token counts add up.

A prompt is the plain concatenation of its layers' contents. A layer with items reads

    <layer-retrieved>
    [知识图谱 — 引用检测]
    ## 角色：林小雨
    - 类型：character

    …

    </layer-retrieved>

Every piece ends in line breaks after a character that is no white space, and the next piece starts
with none: across such joins the encodings in use never merge, so counts of pieces are the count
of the whole (measured; the assembler still counts the final prompt).

From text back: what of a document an item shows, where quoted words stand, what changed between two prompts.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, Final, Literal

from armarius.errors import ContractError
from armarius.prompt.admit import closing, escape, offsets_after, opening, strip_marks
from armarius.types import DOCUMENT, LAYER_INDEX, LAYERS, PASSAGE, WINDOW, Candidate, LayerName
from armarius.validation import shown

SEPARATOR = "\n\n"
Form = Literal["full", "short", "truncated"]


@dataclass(frozen=True, slots=True)
class PromptItem:
    """A candidate that enters the prompt, in the form it enters; `part` is the piece of its content kept.

    `fills` marks a paragraph that nothing demanded: it fills room that was left.
    """

    candidate: Candidate
    text: str
    form: Form = "full"
    part: tuple[int, int] | None = None
    fills: bool = False


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt, its layers, and where each placed item's text stands in it (code points)."""

    prompt: str
    contents: dict[LayerName, str]
    placed: tuple[PromptItem, ...]
    spans: tuple[tuple[int, int], ...]


OPENING: Final = {layer: opening(layer) + "\n" for layer in LAYERS}
"""What a layer with items begins with."""
CLOSING: Final = {layer: closing(layer) + ("" if layer == LAYERS[-1] else SEPARATOR) for layer in LAYERS}
"""What a layer with items ends with; the last layer ends the prompt without line breaks."""


def arrange(placed: Sequence[PromptItem], before: Mapping[tuple[LayerName, str], int]) -> list[PromptItem]:
    """Bring items into prompt order.

    Rules and settings: by group, source and id, so that neither scores nor arrival move them.
    Retrieved: those of the previous prompt at their old places, then new ones by value. Immediate:
    what surrounds the cursor, which changes least, then the rest by value. Ungrouped items come first
    in their layer; a group's items stand together.

    Args:
        placed: In any order.
        before: Place of each (layer, id) in the previous prompt.
    """
    ranked: list[tuple[tuple[Any, ...], PromptItem]] = []
    for item in placed:
        candidate = item.candidate
        rank: tuple[Any, ...] = LAYER_INDEX[candidate.layer], candidate.group, candidate.source, candidate.id
        if candidate.layer not in ("rules", "settings"):
            first = (
                candidate.keep != "around"
                if candidate.layer == "immediate"
                else before.get((candidate.layer, candidate.id), len(before))
            )
            rank = LAYER_INDEX[candidate.layer], first, -candidate.score, candidate.source, candidate.id
        ranked.append((rank, item))
    groups: dict[tuple[LayerName, str], list[PromptItem]] = {}
    for _, item in sorted(ranked, key=itemgetter(0)):
        candidate = item.candidate
        if candidate.group:
            groups.setdefault((candidate.layer, ""), [])
        groups.setdefault((candidate.layer, candidate.group), []).append(item)
    return list(chain.from_iterable(groups.values()))


def layer_pieces(ordered: Sequence[PromptItem]) -> dict[LayerName, list[tuple[str, bool]]]:
    """The pieces that each layer is put together from, each with whether the separator follows it.

    With that, all but the last of a layer end with a line end.

    Args:
        ordered: Items as `arrange` returns them.
    """
    layers: dict[LayerName, list[tuple[str, bool]]] = dict(zip(LAYERS, ([], [], [], []), strict=True))
    group = ""
    for item in ordered:
        layer = item.candidate.layer
        pieces, opened = layers[layer], ""
        if not pieces:
            opened, group = OPENING[layer], ""
        if item.candidate.group != group:
            group = item.candidate.group
            opened += group + "\n"
        if opened:
            pieces.append((opened, False))
        pieces.append((item.text, True))
    for layer, pieces in layers.items():
        if pieces:
            pieces.append((CLOSING[layer], False))
    return layers


def render(ordered: Sequence[PromptItem]) -> Rendered:
    """Write the prompt.

    Args:
        ordered: Items as `arrange` returns them.

    Cost: one concatenation.
    """
    contents: dict[LayerName, str] = {}
    spans: list[tuple[int, int]] = []
    at = 0
    for layer, pieces in layer_pieces(ordered).items():
        texts = []
        for text, is_item in pieces:
            end = at + len(text)
            texts.append(text)
            if is_item:
                spans.append((at, end))
                texts.append(SEPARATOR)
                end += len(SEPARATOR)
            at = end
        contents[layer] = "".join(texts)
    return Rendered("".join(contents.values()), contents, tuple(ordered), tuple(spans))


Texts = Callable[[str], str | None]
"""A document, or the buffer, by path, as the prompt was made from it; None for what is no document."""
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_QUOTES, _DASHES = "“”„‟«»「」『』〝〞", "—–―‐‑−－"
_APOSTROPHES = "‘’‚‛`´"
_ALIKE: Final = str.maketrans(
    _QUOTES + _APOSTROPHES + _DASHES + "‹›⟦",
    '"' * len(_QUOTES) + "'" * len(_APOSTROPHES) + "-" * len(_DASHES) + "<>[",
)


@dataclass(frozen=True, slots=True)
class PromptPlace:
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


def shown_span(item: PromptItem, texts: Texts, groups: tuple[str, ...]) -> tuple[str, int, int] | None:
    """Path and span of what an item shows word for word; None for what is no stretch of a document, such as a card.

    Cost: of the window one search in it; where it had to be escaped, one escape.
    """
    candidate = item.candidate
    if candidate.source != WINDOW and not candidate.source.startswith((PASSAGE, DOCUMENT)):
        return None
    place = next(((evidence.path, evidence.span) for evidence in candidate.evidence if evidence.span is not None), None)
    if place is None:
        return None
    path, (start, end) = place
    if candidate.source != WINDOW:
        return path, start, end
    whole = texts(path)
    if whole is None:
        return None
    raw = whole[start:end]
    first, last = item.part or (0, len(candidate.content))
    if (at := raw.find(candidate.content)) >= 0:
        return path, start + at + first, start + at + last
    harmless = escape(raw, groups)
    at = max(harmless.find(candidate.content), 0)
    places = offsets_after(raw, groups, range(len(raw) + 1))  # ascending
    return path, start + _offset_before(places, at + first), start + _offset_before(places, at + last)


def locate_quote(quote: str, regions: Iterable[Region], texts: Texts) -> tuple[PromptPlace, ...]:
    """Every place where `quote` stands, in the order of the regions, then of the text.

    Word for word if it stands anywhere so; else as `Place.exact` says, without the marks of cursor and selection.

    Raises:
        ContractError: A quote of nothing.

    Cost: one search of the regions; where the words are not found exactly a pass over them, and a microsecond for each
    character of those that hold its letters.
    """
    quote = _words(quote)
    joined = list(_join_regions(regions, texts))
    places = _find_places(joined, texts, lambda text: _find_exact(text, quote), exact=True)
    wanted = "".join(sign for sign, _ in _fold_text(strip_marks(quote)))
    if places or not wanted:
        return places
    letters = _letters(strip_marks(quote))
    return _find_places(joined, texts, lambda text: _find_folded(text, wanted, letters), exact=False)


def _words(quote: object) -> str:
    if not isinstance(quote, str) or not quote.strip():
        raise ContractError(f"quote: expected words to look for, got {shown(quote)}")
    return quote.strip()


def _find_places(
    regions: Sequence[Region], texts: Texts, find: Callable[[str], Iterator[tuple[int, int]]], *, exact: bool
) -> tuple[PromptPlace, ...]:
    places: dict[tuple[str, tuple[int, int]], PromptPlace] = {}
    for region in regions:
        text = (texts(region.path) or "")[region.start : region.end]
        for start, end in find(text):
            span = (region.start + start, region.start + end)
            places.setdefault(
                (region.path, span), PromptPlace(region.path, span, text[start:end], region.source, exact)
            )
    return tuple(places.values())


def _join_regions(regions: Iterable[Region], texts: Texts) -> Iterator[Region]:
    """Regions that follow each other with nothing but white space between, as one: a quote may run over both."""
    open_: Region | None = None
    for region in regions:
        between = None
        if open_ is not None and open_.path == region.path and open_.end <= region.start:
            between = (texts(region.path) or "")[open_.end : region.start]
        if open_ is not None and between is not None and not between.strip():
            open_ = Region(open_.source, region.path, open_.start, region.end)
            continue
        if open_ is not None:
            yield open_
        open_ = region
    if open_ is not None:
        yield open_


def _find_exact(text: str, quote: str) -> Iterator[tuple[int, int]]:
    at = text.find(quote)
    while at >= 0:
        yield at, at + len(quote)
        at = text.find(quote, at + len(quote))


def _letters(text: str) -> str:
    return unicodedata.normalize("NFKC", _NO_LETTERS.sub("", text)).casefold()


def _find_folded(text: str, wanted: str, letters: str) -> Iterator[tuple[int, int]]:
    # A pass of `re` before one of a microsecond a character: what folds alike has the same letters.
    if letters not in _letters(text):
        return
    signs = list(_fold_text(text))
    drawn = "".join(sign for sign, _ in signs)
    for start, end in _find_exact(drawn, wanted):
        yield signs[start][1], signs[end - 1][1] + 1


def _fold_text(text: str) -> Iterator[tuple[str, int]]:
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


def _offset_before(places: Sequence[int], wanted: int) -> int:
    """The first offset with its place at `wanted` or behind it."""
    return next((at for at, place in enumerate(places) if place >= wanted), len(places) - 1)


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from another pack to this one; entries are sources, in prompt order.

    Attributes:
        added: Only in this one.
        removed: Only in the other.
        reshaped: In both, in another form: whole, short, or cut.
        changed: In both, and says something else: its source does, or another piece of it is shown.
        tokens: How many more this prompt has.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    reshaped: tuple[str, ...]
    changed: tuple[str, ...]
    tokens: int


def difference(now: Rendered, before: Rendered, tokens: int) -> Difference:
    """What changed from `before` to `now`, which has `tokens` more."""
    mine, theirs = _items_by_source(now), _items_by_source(before)
    both = [key for key in mine if key in theirs]
    return Difference(
        added=tuple(source for layer, source in mine if (layer, source) not in theirs),
        removed=tuple(source for layer, source in theirs if (layer, source) not in mine),
        reshaped=tuple(key[1] for key in both if _forms(mine[key]) != _forms(theirs[key])),
        changed=tuple(key[1] for key in both if _has_changed(mine[key], theirs[key])),
        tokens=tokens,
    )


def _items_by_source(rendered: Rendered) -> dict[tuple[LayerName, str], list[PromptItem]]:
    """What is in the prompt by layer and source; several items may come from one source."""
    by_source: dict[tuple[LayerName, str], list[PromptItem]] = {}
    for item in rendered.placed:
        by_source.setdefault((item.candidate.layer, item.candidate.source), []).append(item)
    return by_source


def _forms(items: Sequence[PromptItem]) -> list[str]:
    return [item.form for item in items]


def _has_changed(now: Sequence[PromptItem], before: Sequence[PromptItem]) -> bool:
    """Whether the source says something else, or the same form shows another piece of it."""
    if [item.candidate.content for item in now] != [item.candidate.content for item in before]:
        return True
    return _forms(now) == _forms(before) and [item.text for item in now] != [item.text for item in before]
