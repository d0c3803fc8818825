"""SVG drawings (plot of mentions, graph of relations) and texts with marked entities; no style or script."""

import math
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from armarius.codex.model import Relation
from armarius.documents.kinds import STORY_KINDS
from armarius.engine.engine import ContextEngine
from armarius.index.mentions import KIND, unpack_mentions
from armarius.text.unicode import joined


@dataclass(frozen=True, slots=True)
class Appearance:
    """Number of mentions of an entity in a chapter; the chapter's path, number and title."""

    path: str
    chapter: int | None
    title: str
    count: int


class Appearances:
    """Mention counts of all entities, read again after the index changed. Thread-safe."""

    def __init__(self, engine: ContextEngine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._generation = -1
        self._counts: dict[str, Counter[str]] = {}

    def of(self, entity: str) -> list[Appearance]:
        """Every chapter in story order with its number of mentions of `entity`, 0 included."""
        counts = self._read().get(entity, Counter())
        chapters = [one for one in self._engine.documents() if one.kind in STORY_KINDS]
        chapters.sort(key=lambda one: (one.chapter is None, one.chapter or 0, one.path))
        return [Appearance(one.path, one.chapter, one.title, counts[one.path]) for one in chapters]

    def totals(self) -> Counter[str]:
        """Mentions by entity in the whole project."""
        return Counter({entity: counts.total() for entity, counts in self._read().items()})

    def in_document(self, path: str) -> Counter[str]:
        """Mentions by entity in one document."""
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


_LABELS = 12  # chapter numbers below the columns, at most
_RING = 14  # maximum number of neighbours drawn


def plot(appearances: Sequence[Appearance]) -> Markup:
    """A column chart of mentions per chapter, with chapter numbers below; each column is a link."""
    if not appearances:
        return Markup("")
    most = max(1, *(one.count for one in appearances))
    wide, step = 100 / len(appearances), -(-len(appearances) // _LABELS)
    columns = []
    for index, one in enumerate(appearances):
        high = 96 * one.count / most
        label = "" if index % step or one.chapter is None else str(one.chapter)
        name = one.title if one.chapter is None else f"{one.chapter} {one.title}"
        columns.append(
            Markup(
                '<a href="/chapter/{}"><rect class="ground" x="{:.2f}%" y="0" width="{:.2f}%" height="100"/>'
                '<rect class="column" x="{:.2f}%" y="{:.2f}" width="{:.2f}%" height="{:.2f}"/>'
                '<text x="{:.2f}%" y="114">{}</text><title>{}: {}</title></a>'
            ).format(
                quote(one.path),
                index * wide,
                wide,
                index * wide + wide * 0.1,
                100 - high,
                wide * 0.8,
                high,
                index * wide + wide / 2,
                label,
                name,
                one.count,
            )
        )
    return Markup('<svg class="plot">{}</svg>').format(Markup("").join(columns))


def web(centre: str, relations: Sequence[Relation], names: dict[str, str]) -> Markup:
    """A graph of an entity and its neighbours; nodes are links, edges are labelled with the relation.

    Args:
        centre: Id of the entity.
        relations: Relations of the entity.
        names: Names by id.
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
            ).format(x, y, (300 + x) / 2, (180 + y) / 2 - 3, joined(words, "、"))
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
    """A mention: half-open span in code points, and the entity's id."""

    start: int
    end: int
    entity: str


class Piece(NamedTuple):
    """A piece of a text: the entity it names ("" for none), whether it is in the cached prefix, its item (-1: none)."""

    text: str
    entity: str
    kept: bool
    item: int = -1


class DrawnParagraph(NamedTuple):
    """The pieces of a paragraph, and its end in code points; None for text after the last paragraph."""

    pieces: tuple[Piece, ...]
    end: int | None


def pieces(
    text: str, marks: Iterable[Mark] = (), *, kept: int = 0, items: Sequence[tuple[int, int]] = ()
) -> list[Piece]:
    """Split `text` at the ends of marks, of items, and of the cached prefix (`kept` code points).

    Of overlapping marks the first is used, of those the longest. Joined, the pieces are the text.
    """
    shown: list[Mark] = []
    for mark in sorted(marks, key=lambda one: (one.start, -one.end)):
        if 0 <= mark.start < mark.end <= len(text) and (not shown or mark.start >= shown[-1].end):
            shown.append(mark)
    cuts = sorted({0, min(kept, len(text)), len(text), *(at for one in shown for at in one[:2]), *chain(*items)})
    by_start = {one.start: one for one in shown}
    begins = {start: (number, end) for number, (start, end) in enumerate(items)}
    found, inside, item = [], None, (-1, 0)
    for start, end in pairwise(cuts):
        inside = by_start.get(start, inside)
        if inside is not None and start >= inside.end:
            inside = None
        item = begins.get(start, item if start < item[1] else (-1, 0))
        found.append(Piece(text[start:end], "" if inside is None else inside.entity, end <= kept, item[0]))
    return found


def in_paragraphs(cut: Sequence[Piece], ends: Sequence[int]) -> list[DrawnParagraph]:
    """Group pieces by paragraph. A mark across a boundary belongs to the earlier paragraph.

    Args:
        cut: Result of `pieces`.
        ends: Ends of paragraphs in code points, ascending.
    """
    found: list[DrawnParagraph] = []
    mine: list[Piece] = []
    at, number = 0, 0
    for piece in cut:
        text = piece.text
        while number < len(ends) and at + len(text) >= ends[number]:
            head = len(text) if piece.entity else max(0, ends[number] - at)
            if head:
                mine.append(piece._replace(text=text[:head]))
            found.append(DrawnParagraph(tuple(mine), ends[number]))
            text, at, mine, number = text[head:], at + head, [], number + 1
        if text:
            mine.append(piece._replace(text=text))
            at += len(text)
    return [*found, DrawnParagraph(tuple(mine), None)] if mine else found
