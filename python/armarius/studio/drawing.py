"""A column chart of mentions, and texts with marked names; no style or script."""

import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.engine.engine import ContextEngine
from armarius.index.derived import mentions_by_document


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
        chapters = [chapter for chapter in self._engine.documents() if chapter.kind in STORY_KINDS]
        chapters.sort(key=lambda chapter: (chapter.chapter is None, chapter.chapter or 0, chapter.path))
        return [Appearance(chapter.path, chapter.chapter, chapter.title, counts[chapter.path]) for chapter in chapters]

    def totals(self) -> Counter[str]:
        """Mentions by entity in the whole project."""
        return Counter({entity: counts.total() for entity, counts in self._read().items()})

    def _read(self) -> dict[str, Counter[str]]:
        index = self._engine.index
        generation = index.moment()[1]
        with self._lock:
            if generation != self._generation:
                counts: dict[str, Counter[str]] = {}
                for path, mentions in index.ask(mentions_by_document).items():
                    for entity, count in mentions.items():
                        counts.setdefault(entity, Counter())[path] = count
                self._counts, self._generation = counts, generation
            return self._counts


_MOST_COLUMNS = 150


def plot(appearances: Sequence[Appearance]) -> Markup:
    """A strip with a column of mentions for each chapter, or each few of a long book; each leads to its chapter."""
    together = -(-len(appearances) // _MOST_COLUMNS)
    runs = [appearances[at : at + together] for at in range(0, len(appearances), together or 1)]
    counts = [sum(item.count for item in run) for run in runs]
    most, columns = max(1, *counts, 1), []
    for index, (run, count) in enumerate(zip(runs, counts, strict=True)):
        there = max(run, key=lambda item: item.count)
        name = there.title if there.chapter is None else f"{there.chapter} {there.title}"
        columns.append(
            Markup(
                '<a href="/chapter/{}" tabindex="-1"><rect class="ground" x="{}" y="0" width="1" height="30"/>'
                '<rect class="column" x="{}" y="{:.1f}" width=".8" height="{:.1f}"/><title>{}: {}</title></a>'
            ).format(quote(there.path), index, index, 30 - 30 * count / most, 30 * count / most, name, count)
        )
    strip = Markup('<svg class="plot" viewBox="0 0 {} 30" preserveAspectRatio="none">{}</svg>')
    return strip.format(len(runs), Markup("").join(columns)) if runs else Markup("")


class Piece(NamedTuple):
    """A piece of a text: the entity it names ("" for none) and how it looks, one of "", "b", "i", "mark" (hidden)."""

    text: str
    entity: str
    look: str


class Block(NamedTuple):
    """A paragraph as it is drawn, with the white space behind it; the pieces of all blocks joined are the text."""

    number: int
    role: str
    level: int
    pieces: tuple[Piece, ...]


_MARKUP = re.compile(
    r"(?<!\w)(?P<two>\*\*|__)(?=\S)(?P<b>[^\n]{1,500}?)(?<=\S)(?P=two)(?!\w)"
    r"|(?<!\w)(?P<one>[*_])(?=\S)(?P<i>[^*_\n]+?)(?<=\S)(?P=one)(?!\w)"
    r"|\[\[(?:[^\[\]|\n]*\|)?(?P<link>[^\[\]|\n]+)\]\]|!?\[(?P<said>[^\[\]\n]+)\]\([^)\n]{0,500}\)"
    r"|\A(?P<head>#{1,6}[ \t]+)|(?m:^)(?P<quote>[ \t]*>[ \t]?)|\s+\Z"
)


def blocks(document: Document, start: int, end: int, names: Iterable[tuple[int, int, str]]) -> list[Block]:
    """`document.text[start:end]` paragraph by paragraph, with names marked and the signs of Markdown hidden.

    Args:
        document: What is drawn.
        start: Code point, where a paragraph begins, or 0.
        end: The same, or the end of the document.
        names: Start, end and id of each mention.
    """
    inside = [paragraph for paragraph in document.paragraphs if start <= paragraph.start < end]
    cuts = [start, *(paragraph.start for paragraph in inside[1:]), *([end] if inside else [])]
    marked, result, at = sorted(names), [], 0
    for paragraph, (first, last) in zip(inside, pairwise(cuts), strict=True):
        mine = []
        while at < len(marked) and marked[at][0] < last:
            if marked[at][1] <= last:
                mine.append(marked[at])
            at += 1
        text = document.text[first:last]
        level = min(3, max(1, len(paragraph.heading_path))) if paragraph.role == "heading" else 0
        cut = _pieces(text, [(a - first, b - first, id_) for a, b, id_ in mine], paragraph.role != "front_matter")
        result.append(Block(paragraph.index, paragraph.role, level, tuple(cut)))
    return result


def plain_quote(text: str) -> str:
    """A quotation without the signs of Markdown."""
    return "".join(piece.text for piece in _pieces(text, (), True) if piece.look != "mark")


def _pieces(text: str, names: Sequence[tuple[int, int, str]], markup: bool) -> Iterator[Piece]:
    looks: list[tuple[int, int, str]] = []
    for match in _MARKUP.finditer(text) if markup else ():
        kind = match.lastgroup if match.lastgroup not in (None, "head", "quote") else ""
        first, last = match.span(kind) if kind else (match.end(), match.end())
        looks += [(match.start(), first, "mark"), (first, last, kind if kind in ("b", "i") else "")]
        looks.append((last, match.end(), "mark"))
    cuts = sorted({0, len(text), *(at for span in (*looks, *names) for at in span[:2])})
    look, name = iter(looks), iter(names)
    now, who = next(look, None), next(name, None)
    for first, last in pairwise(cuts):
        while now is not None and now[1] <= first:
            now = next(look, None)
        while who is not None and who[1] <= first:
            who = next(name, None)
        yield Piece(
            text[first:last],
            who[2] if who is not None and who[0] <= first else "",
            now[2] if now is not None and now[0] <= first else "",
        )
