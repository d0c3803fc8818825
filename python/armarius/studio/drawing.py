"""Drawings as SVG: a stacked bar of tokens, a plot of appearances, a web of relations. No style, no script in them."""

import math
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from armarius.codex.model import Relation
from armarius.engine.engine import ContextEngine
from armarius.index.mentions import KIND, unpack_mentions
from armarius.prompt.report.pack import Pack
from armarius.types import LAYERS

__all__ = ["Appearance", "Appearances", "Mark", "Paragraph", "Piece", "bar", "in_paragraphs", "pieces", "plot", "web"]


@dataclass(frozen=True, slots=True)
class Appearance:
    """How often somebody is mentioned in a chapter: its path, number and title."""

    path: str
    chapter: int | None
    title: str
    count: int


class Appearances:
    """Counts for all entities, read again when the index has changed. Threads may share it."""

    def __init__(self, engine: ContextEngine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._generation = -1
        self._counts: dict[str, Counter[str]] = {}

    def of(self, entity: str) -> list[Appearance]:
        """Every chapter in the order of the story, with how often `entity` is mentioned there, 0 included."""
        counts = self._read().get(entity, Counter())
        chapters = [one for one in self._engine.documents() if one.kind == "chapter"]
        chapters.sort(key=lambda one: (one.chapter is None, one.chapter or 0, one.path))
        return [Appearance(one.path, one.chapter, one.title, counts[one.path]) for one in chapters]

    def totals(self) -> Counter[str]:
        """How often each entity is mentioned in the whole project."""
        return Counter({entity: counts.total() for entity, counts in self._read().items()})

    def in_document(self, path: str) -> Counter[str]:
        """Who is mentioned in a document, and how often."""
        return Counter({entity: counts[path] for entity, counts in self._read().items() if counts[path]})

    def _read(self) -> dict[str, Counter[str]]:
        index = self._engine.index
        generation = index.status().generation
        with self._lock:
            if generation != self._generation:
                counts: dict[str, Counter[str]] = {}
                for row in index.ask(lambda store: store.learnt(KIND)).values():
                    for mention in unpack_mentions(row):
                        counts.setdefault(mention.entity, Counter())[row.path] += 1
                self._counts, self._generation = counts, generation
            return self._counts


_WIDTH = 1000
_RING = 14  # neighbours drawn at once


def bar(pack: Pack) -> Markup:
    """The layers of a prompt side by side, to the scale of its budget."""
    at, parts = 0.0, []
    room = max(1, pack.budget)
    for layer in LAYERS:
        tokens = getattr(pack.layers, layer).token_count
        wide = _WIDTH * tokens / room
        title = Markup("<title>{}: {:,}</title>").format(layer, tokens)
        parts.append(
            Markup('<rect class="{}" x="{:.2f}" y="0" width="{:.2f}" height="24">{}</rect>').format(
                layer, at, wide, title
            )
        )
        at += wide
    said = f"{pack.token_count:,} / {pack.budget:,}"
    return Markup(
        '<svg class="bar" viewBox="0 0 {} 24" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(_WIDTH, said, Markup("").join(parts))


def plot(appearances: Sequence[Appearance]) -> Markup:
    """A column for each chapter, as high as the mentions in it; each is a link."""
    if not appearances:
        return Markup("")
    most = max(1, *(one.count for one in appearances))
    wide = _WIDTH / len(appearances)
    columns = []
    for index, one in enumerate(appearances):
        high = 96 * one.count / most
        name = one.title if one.chapter is None else f"{one.chapter} {one.title}"
        columns.append(
            Markup(
                '<a href="/chapter/{}"><rect class="ground" x="{:.2f}" y="0" width="{:.2f}" height="100"/>'
                '<rect class="column" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"/><title>{}: {}</title></a>'
            ).format(
                quote(one.path),
                index * wide,
                wide,
                index * wide + wide * 0.1,
                100 - high,
                wide * 0.8,
                high,
                name,
                one.count,
            )
        )
    return Markup('<svg class="plot" viewBox="0 0 {} 100" preserveAspectRatio="none">{}</svg>').format(
        _WIDTH, Markup("").join(columns)
    )


def web(centre: str, relations: Sequence[Relation], names: dict[str, str]) -> Markup:
    """Somebody in the middle and those related to them around; each is a link, each line carries its word.

    Args:
        centre: Id of the entity.
        relations: Those that touch it.
        names: Id to name.
    """
    others = sorted({end for one in relations for end in (one.source, one.target)} - {centre})[:_RING]
    if not others:
        return Markup("")
    places = {
        other: (
            300 + 210 * math.cos(2 * math.pi * index / len(others) - math.pi / 2),
            180 + 140 * math.sin(2 * math.pi * index / len(others) - math.pi / 2),
        )
        for index, other in enumerate(others)
    }
    lines, nodes = [], [_node(centre, 300.0, 180.0, names, "centre")]
    for other, (x, y) in places.items():
        words = sorted({_said(one, centre) for one in relations if other in (one.source, one.target)})
        lines.append(
            Markup(
                '<line x1="300" y1="180" x2="{:.1f}" y2="{:.1f}"/><text class="word" x="{:.1f}" y="{:.1f}">{}</text>'
            ).format(x, y, (300 + x) / 2, (180 + y) / 2 - 3, "、".join(words))
        )
        nodes.append(_node(other, x, y, names, "other"))
    return Markup('<svg class="web" viewBox="0 0 600 360">{}{}</svg>').format(
        Markup("").join(lines), Markup("").join(nodes)
    )


def _node(entity: str, x: float, y: float, names: dict[str, str], kind: str) -> Markup:
    circle = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="26"/><text x="{:.1f}" y="{:.1f}">{}</text>').format(
        x, y, x, y + 4, names.get(entity, entity)[:12]
    )
    return Markup('<a href="/entity/{}" class="{}">{}</a>').format(quote(entity, safe=""), kind, circle)


def _said(one: Relation, centre: str) -> str:
    arrow = "→" if one.source == centre else "←"
    since = "" if one.since is None else f" {one.since}+"
    return f"{one.type}{arrow}{since}"


class Mark(NamedTuple):
    """A mention: code points, half-open, and who."""

    start: int
    end: int
    entity: str


class Piece(NamedTuple):
    """A piece of a text: what it says, who it names ("" nobody), whether a cache keeps it."""

    text: str
    entity: str
    kept: bool


class Paragraph(NamedTuple):
    """Pieces up to the end of a paragraph, and where that is, in code points; what follows the last one has none."""

    pieces: tuple[Piece, ...]
    end: int | None


def pieces(text: str, marks: Iterable[Mark] = (), *, kept: int = 0) -> list[Piece]:
    """`text` cut where a mark begins or ends and where what is kept ends; joined they are the text.

    Of overlapping marks the first, then the longest, is shown.
    """
    shown: list[Mark] = []
    for mark in sorted(marks, key=lambda one: (one.start, -one.end)):
        if 0 <= mark.start < mark.end <= len(text) and (not shown or mark.start >= shown[-1].end):
            shown.append(mark)
    cuts = sorted({0, min(kept, len(text)), len(text), *(at for one in shown for at in one[:2])})
    by_start = {one.start: one for one in shown}
    found, inside = [], None
    for start, end in pairwise(cuts):
        inside = by_start.get(start, inside)
        if inside is not None and start >= inside.end:
            inside = None
        found.append(Piece(text[start:end], "" if inside is None else inside.entity, end <= kept))
    return found


def in_paragraphs(cut: Sequence[Piece], ends: Sequence[int]) -> list[Paragraph]:
    """Pieces of a text put together by paragraph; a mark that goes on beyond an end stays in the earlier one.

    Args:
        cut: What `pieces` gave.
        ends: Where paragraphs end, ascending.
    """
    found: list[Paragraph] = []
    mine: list[Piece] = []
    at, number = 0, 0
    for piece in cut:
        text = piece.text
        while number < len(ends) and at + len(text) >= ends[number]:
            head = len(text) if piece.entity else max(0, ends[number] - at)
            if head:
                mine.append(piece._replace(text=text[:head]))
            found.append(Paragraph(tuple(mine), ends[number]))
            text, at, mine, number = text[head:], at + head, [], number + 1
        if text:
            mine.append(piece._replace(text=text))
            at += len(text)
    return [*found, Paragraph(tuple(mine), None)] if mine else found
