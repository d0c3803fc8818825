"""Items and omissions of a pack, places of a quote in it, and explanations of why a thing is in or out."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from armarius.documents.segments import Paragraph
from armarius.errors import ContractError
from armarius.prompt.admit import QUERY_SOURCE
from armarius.prompt.allocate import cards_of, covering_card
from armarius.prompt.escape import escape, offsets_after, unmarked
from armarius.prompt.plan import FittedPrompt
from armarius.prompt.render import Form, PromptItem
from armarius.types import LAYERS, Candidate, Evidence, LayerName, OmitReason
from armarius.validation import shown

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
    places = offsets_after(raw, groups, range(len(raw) + 1))  # ascending
    return path, start + _before(places, at + first), start + _before(places, at + last)


def located(quote: str, regions: Iterable[Region], texts: Texts) -> tuple[PromptPlace, ...]:
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
        raise ContractError(f"quote: expected words to look for, got {shown(quote)}")
    return quote.strip()


def _found(
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
    """The first offset with its place at `wanted` or behind it."""
    return next((at for at, place in enumerate(places) if place >= wanted), len(places) - 1)


def score_of(candidate: Candidate) -> float | None:
    """The score that ranked a candidate; None for the query, which is in every prompt and competes with nothing."""
    return None if candidate.source == QUERY_SOURCE else candidate.score


@dataclass(frozen=True, slots=True)
class PackItem:
    """Something that is in the prompt.

    Attributes:
        score: Against others of its layer; None for the query, which is always in.
        tokens: What it costs, the line breaks after it included.
        form: `full`, `short`, or `truncated`.
        span: Where its text stands in the prompt, code points, half-open.
        part: Which code points of its content were kept when truncated.
        shows: Path and code points of the document or buffer that it shows word for word; None for what is no stretch
            of a document, such as a card.
    """

    id: str
    layer: LayerName
    source: str
    score: float | None
    tokens: int
    evidence: tuple[Evidence, ...]
    form: Form
    span: tuple[int, int]
    part: tuple[int, int] | None = None
    group: str = ""
    documents: tuple[str, ...] = ()
    shows: tuple[str, int, int] | None = None


@dataclass(frozen=True, slots=True)
class PackOmission:
    """Something that was considered and is not in the prompt, with one reason of the closed list.

    `tokens` is what it would have cost where that was known, else 0. `aspect` says in plain words which part of the
    source is meant when the rest of it may be in: one fact of a card.
    """

    id: str
    layer: LayerName
    source: str
    reason: OmitReason
    detail: str = ""
    tokens: int = 0
    score: float | None = 0.0
    evidence: tuple[Evidence, ...] = ()
    aspect: str = ""

    @property
    def label(self) -> str:
        """The source, and which part of it."""
        return f"{self.source} · {self.aspect}" if self.aspect else self.source


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why something is in the prompt or is not; `str()` is a sentence.

    `about` says how much of a document is in, or with what else a paragraph is; else it is "".
    """

    id: str
    included: bool
    items: tuple[PackItem, ...]
    omitted: tuple[PackOmission, ...]
    about: str = ""

    def __str__(self) -> str:
        lines = [self.about] if self.about else []
        for item in self.items:
            why = "; ".join(f"{e.kind}: {e.detail}" for e in item.evidence) or "offered without evidence"
            lines.append(f"{item.source} is in {item.layer} ({item.form}, {item.tokens} tokens): {why}")
        for gone in self.omitted:
            detail = f" ({gone.detail})" if gone.detail else ""
            what = f"the {gone.aspect} of {gone.source}" if gone.aspect else gone.source
            lines.append(f"{what} was left out of {gone.layer}: {gone.reason}{detail}")
        return "\n".join(lines)


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


def items_of(fitted: FittedPrompt, texts: Texts) -> tuple[PackItem, ...]:
    """The items of a fitted prompt, in prompt order. Cost: a look-up and a record for each."""
    rendered, plan = fitted.rendered, fitted.plan
    tokens = plan.measured.sections([item.text for item in rendered.placed])
    return tuple(
        PackItem(
            id=item.candidate.id,
            layer=item.candidate.layer,
            source=item.candidate.source,
            score=score_of(item.candidate),
            tokens=cost,
            evidence=item.candidate.evidence,
            form=item.form,
            span=span,
            part=item.part,
            group=item.candidate.group,
            documents=item.candidate.documents,
            shows=shown_span(item, texts, plan.admitted.groups),
        )
        for item, span, cost in zip(rendered.placed, rendered.spans, tokens, strict=True)
    )


PASSAGE = "rag:passage:"
"""What the source of a paragraph on offer begins with."""
ROWS = "rag:passages"
"""The one omission that stands for every paragraph on offer that did not enter."""


def omissions(fitted: FittedPrompt) -> tuple[PackOmission, ...]:
    """Everything left out, ordered by layer and source; paragraphs on offer that did not enter are one of them."""
    refused = [
        PackOmission(o.id, o.layer, o.source, o.reason, o.detail, aspect=o.aspect)
        for o in sorted(fitted.plan.admitted.omitted, key=lambda o: o.detail)
    ]
    no_room = [
        PackOmission(c.id, c.layer, c.source, "budget", f"{tokens} tokens did not fit", tokens, score_of(c), c.evidence)
        for c, tokens in fitted.omitted
    ]
    unused = sum(1 for offer in fitted.plan.admitted.offers for _ in offer.rows) - fitted.entered
    if unused > 0:
        why = f"are worth less than {fitted.line:.3f}" if fitted.line >= 0.001 else "say too little of the question"
        detail = f"{unused} more paragraphs {why}; explain() answers for each"
        no_room.append(PackOmission(ROWS, "retrieved", ROWS, "budget", detail))
    return tuple(sorted([*refused, *no_room], key=lambda o: (LAYERS.index(o.layer), o.source, o.id, o.reason)))


def unused(fitted: FittedPrompt, wanted: str) -> Iterator[PackOmission]:
    """A paragraph that was on offer and did not enter: its worth, the line it missed, why.

    Args:
        fitted: The prompt.
        wanted: `path#number`; nothing is said of one that is in, nor of one that was not on offer.
    """
    path, _, number = wanted.rpartition("#")
    placed = fitted.rendered.placed
    if not number.isdecimal() or any(item.candidate.source == PASSAGE + wanted for item in placed):
        return
    for offer in fitted.plan.admitted.offers:
        row = offer.row(path, int(number))
        if row is None:
            continue
        worth, line = row.score, fitted.line
        shown = any(row.text and row.text in item.text for item in placed)
        detail = f"worth {worth:.3f}, the last one in is worth {line:.3f}"
        withheld = offer.withheld(row)
        reason: OmitReason
        if withheld is not None:
            reason, detail = withheld
        elif shown:
            reason, detail = "duplicate", "stands in the prompt already"
        elif (card := covering_card(row, cards_of(placed))) is not None:
            reason, detail = "duplicate", f"said by its card, {card.candidate.source}"
        elif worth <= 0:
            reason, detail = "no match", "nothing speaks for it"
        elif all(one.source != row.source for one in offer.rows):
            reason, detail = "no match", f"worth {worth:.3f}: too little beside the best to be on offer"
        else:
            reason = "budget"
            if worth >= line:
                detail += "; it was too long for the room that was left"
        yield PackOmission(row.source, "retrieved", row.source, reason, detail, 0, worth, offer.explain(row))


_DOCUMENT = "rag:document:"


@dataclass(frozen=True, slots=True)
class KnownSources:
    """What names mean in the project that a prompt was made of.

    Attributes:
        named: The ids of cards and relations of what bears a name.
        paragraphs: Of a document or buffer, by path; none of what is no document.
        names: Of every entity, by its id.
    """

    named: Callable[[str], Collection[str]] = lambda _name: ()
    paragraphs: Callable[[str], Sequence[Paragraph]] = lambda _path: ()
    names: Callable[[], Mapping[str, str]] = dict


UNKNOWN: Final = KnownSources()
"""Of a prompt that was made of no project."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """A prompt as it is explained: its items and omissions, and what they were chosen from."""

    prompt: str
    items: tuple[PackItem, ...]
    omitted: tuple[PackOmission, ...]
    fitted: FittedPrompt
    texts: Texts
    known: KnownSources

    def shows(self, item: PackItem, path: str, paragraph: Paragraph) -> bool:
        """Whether the whole of a paragraph stands in an item."""
        if item.shows is None or item.shows[0] != path:
            return False
        if not item.shows[1] <= paragraph.start <= paragraph.end <= item.shows[2]:
            return False
        text = (self.texts(path) or "")[paragraph.start : paragraph.end].strip()
        there = unmarked(self.prompt[item.span[0] : item.span[1]])
        return bool(text) and escape(text, self.fitted.plan.admitted.groups) in there


def explained(wanted: str, pack: Prompted) -> Explanation | None:
    """Why `wanted` is in the prompt or is not; None where nothing is called so.

    Meant is what fits first: an id or a source, a paragraph (`path#n`), a document's path, an entity's id, name, alias.

    Cost: of a document one search in the items that show it for each paragraph.
    """
    named = _considered(wanted, pack, {wanted})
    return named or _paragraph(wanted, pack) or _document(wanted, pack) or _entity(wanted, pack)


def _considered(wanted: str, pack: Prompted, names: Collection[str]) -> Explanation | None:
    items = tuple(item for item in pack.items if item.id in names or item.source in names)
    omitted = tuple(gone for gone in pack.omitted if gone.id in names or gone.source in names)
    return Explanation(wanted, bool(items), items, omitted) if items or omitted else None


def _paragraph(wanted: str, pack: Prompted) -> Explanation | None:
    name = wanted.removeprefix(PASSAGE)
    path, _, number = name.rpartition("#")
    if not path or not number.isdecimal():
        return None
    own = _considered(wanted, pack, {PASSAGE + name})
    if own is not None and own.included:
        return own
    for paragraph in pack.known.paragraphs(path)[int(number) : int(number) + 1]:
        items = tuple(item for item in pack.items if pack.shows(item, path, paragraph))
        if items:
            how = "with the whole document" if items[0].source == _DOCUMENT + path else f"as part of {items[0].source}"
            return Explanation(wanted, True, items, (), f"{name} is in {how}")
    cut = any(item.source == _DOCUMENT + path and item.form == "truncated" for item in pack.items)
    omitted = tuple(
        replace(gone, reason="budget", detail="the document is in, cut before it")
        if cut and gone.reason == "duplicate"
        else gone
        for gone in unused(pack.fitted, name)
    )
    if not omitted and own is None and pack.known.paragraphs(path)[int(number) : int(number) + 1]:
        omitted = (_unasked(PASSAGE + name),)
    return Explanation(wanted, False, (), omitted) if omitted else own


def _document(path: str, pack: Prompted) -> Explanation | None:
    body = [one for one in pack.known.paragraphs(path) if one.role == "body"]
    if not body:
        return None
    items = tuple(item for item in pack.items if _is_of(path, item.source) or (item.shows and item.shows[0] == path))
    shown = [one.index for one in body if any(pack.shows(item, path, one) for item in items)]
    if shown:
        numbers = "" if len(shown) == len(body) else ": " + ", ".join(f"#{index}" for index in shown)
        about = f"{len(shown)} of {len(body)} paragraphs of {path} are in{numbers}"
        return Explanation(path, True, items, (), about)
    about = f"no paragraph of {path} is in whole, of {len(body)}"
    if items:
        return Explanation(path, True, items, (), about if any(item.shows for item in items) else "")
    omitted = tuple(gone for gone in pack.omitted if _is_of(path, gone.source)) or tuple(_best(path, body, pack))
    return Explanation(path, False, (), omitted, about)


def _is_of(path: str, source: str) -> bool:
    return source in (_DOCUMENT + path, f"style:{path}") or source.startswith(f"{PASSAGE}{path}#")


def _best(path: str, body: Sequence[Paragraph], pack: Prompted) -> Iterator[PackOmission]:
    """Why the paragraph that is worth most did not enter."""
    rows = [offer.row(path, one.index) for offer in pack.fitted.plan.admitted.offers for one in body]
    best = max((row for row in rows if row is not None), key=lambda row: row.score, default=None)
    if best is None:
        yield _unasked(_DOCUMENT + path)
    else:
        yield from unused(pack.fitted, f"{best.path}#{best.paragraph}")


def _unasked(source: str) -> PackOmission:
    return PackOmission(source, "retrieved", source, "no match", "no question asks for paragraphs")


def _entity(wanted: str, pack: Prompted) -> Explanation | None:
    names = pack.known.named(wanted)
    if not names:
        return None
    found = _considered(wanted, pack, names)
    if found is not None:
        return found
    cards = (name for name in names if name.startswith("entity:"))
    omitted = (PackOmission(one, "retrieved", one, "no match", "nothing of the request leads to it") for one in cards)
    return Explanation(wanted, False, (), tuple(omitted))
