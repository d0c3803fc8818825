"""Ranked paragraphs of a question as a stream for the prompt, with reasons on request."""

import math
import threading
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress, islice
from operator import attrgetter, not_
from typing import TYPE_CHECKING, Final

from armarius.arguments import EVERYTHING, Bounds
from armarius.codex.cards import chapter_at, drop_blanks, settings_until
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.project_map import MappedFile, ProjectMap
from armarius.documents.segments import Paragraph
from armarius.headings import DEFAULT_LANGUAGE, HEADINGS, Language, Reason
from armarius.search.corpus import NOTHING_OUTSIDE, Outside
from armarius.search.explain import MatchHighlights, shared_words
from armarius.search.query.query import Understanding
from armarius.search.rank import STOP_SHARE, Ranked
from armarius.search.scope import why_outside
from armarius.types import Evidence, OmitReason, PassageRow, Shares

if TYPE_CHECKING:
    from armarius.search.reading import Reading

_TEXT: Final = attrgetter("text")
_PLAIN, _ASKED, _AROUND = Reason("words.plain"), Reason("chapter.asked"), Reason("words.around")
_start: Final = attrgetter("start")
_LAST = 1 << 30  # after every chapter
_FIRST = 96  # paragraphs asked of the core at first
_AHEAD = 16  # rows made at once
_SCENES = 8  # of what is found for an outline
FoundStretch = tuple[str, int, int, float]
"""Of plain search: path, first paragraph, one past the last, share of the rarity of all words of the question."""
CLEAR: Final = 0.45
"""Of the rarity of all words of the question: a stretch of plain search that holds as much is clear."""


class RankedPassages:
    """The ranked paragraphs of one question; see `armarius.types.PassageStream`.

    Args:
        ranked: The scores.
        documents: The texts, by path, as the request may see them.
        asked: The question.
        chapter: The current chapter: later ones are withheld unless the question names them.
        current: Path and text of the open document: of it only what stands there now may be shown.
        bounds: What the request may see.
        language: Of the prompt.
        reading: Of a question that reads chapters or a scene: rows are of those, of a check also of the chapters before
            them, and of nothing else.
        outside: What is no candidate.
        project_map: Of the documents.
        highlights: What of the question stands in a text; None says nothing of it.
        plain: What plain search finds in all texts, best first.
        plan: One of the other wordings: the outline of what is to be written, of which the best scenes are enough.
    """

    def __init__(
        self,
        ranked: Ranked,
        documents: Mapping[str, Document],
        asked: Understanding,
        chapter: int | None = None,
        current: tuple[str, str] = ("", ""),
        bounds: Bounds = EVERYTHING,
        language: Language = DEFAULT_LANGUAGE,
        reading: "Reading | None" = None,
        *,
        outside: Outside = NOTHING_OUTSIDE,
        project_map: ProjectMap | None = None,
        highlights: MatchHighlights | None = None,
        plan: str = "",
        plain: Sequence[FoundStretch] = (),
    ) -> None:
        self.outside = outside.paths
        self._barred_paths = outside.barred
        self._stretches: dict[FoundStretch, Sequence[PassageRow]] = {}
        self._named = outside.asked if reading is None else frozenset[str]()
        self.map = ProjectMap() if project_map is None else project_map
        self._counted = outside.counted
        here = None if outside.counted else self.map.get(current[0])
        self._volume = None if here is None else here.volume  # where numbers begin again, chapter 2 is one of it
        chapter = chapter if outside.counted else None
        self.ranked, self.documents, self.asked, self.chapter = ranked, documents, asked, chapter
        self.current, self.bounds = current, bounds
        self._bounded = bool(bounds)
        self._hidden: dict[str, frozenset[tuple[str, ...]]] = {}  # headings, by document
        self._wanted = frozenset(asked.chapters)
        # What settings say of later chapters (第7章起：…) is withheld from their text as from a card.
        self._until = None if chapter is None or bounds.as_of is not None else max(chapter, *asked.chapters, 0)
        self.language, self.highlights, self._plan, self.reading = language, highlights, plan, reading
        self._best: list[tuple[str, int, float]] = []
        self._asked_best = 0
        self._next = 0
        # A question about chapters and nothing else is answered by them.
        alone = bool(asked.chapters) and not ranked.read.words and not asked.entities and not ranked.also
        self._plain = () if alone or reading is not None or ranked.outcome == "nothing found" else plain
        clear = [share >= CLEAR for *_, share in self._plain]
        self._plain = [*compress(self._plain, clear), *compress(self._plain, map(not_, clear))]
        self._floor = math.inf if alone else ranked.scores.best * STOP_SHARE
        # A little lower for the core, which counts in 32 bits; where there is no floor the best is asked all the same.
        self._above = 0.0 if alone else self._floor * 0.999
        scene = reading is not None and reading.scene is not None
        self._made = [] if ranked.outcome == "nothing found" and not scene else self.requested()
        self._asked = {(row.path, row.paragraph) for row in self._made}
        if not self._made:
            self.reading = None
        self._most = len(self._made) + _SCENES if plan else None
        self._earlier = self._earlier_rows() if self.reading is not None and self.reading.compares else iter(())
        self._lock = threading.Lock()  # of what makes one row after another

    @property
    def rows(self) -> Iterator[PassageRow]:
        """Best first; ends where worth falls below a share of the best. A prompt takes some dozens of thousands."""
        return chain.from_iterable(self._batches())

    def _batches(self) -> Iterator[list[PassageRow]]:
        at = 0
        while part := self._first(at + _AHEAD)[at : self._most]:  # a copy: other threads may have more made meanwhile
            yield part
            at += len(part)

    def best(self, number: int) -> list[tuple[str, int, float]]:
        """At least so many of the best paragraphs, as far as there are. Asks the core in growing numbers."""
        while len(self._best) < number and self._asked_best <= len(self._best):
            self._asked_best = max(4 * self._asked_best, _FIRST)
            self._best = self.ranked.scores.paragraphs(self._asked_best, self._above)
        return self._best

    def requested(self) -> list[PassageRow]:
        """The paragraphs of files that the question names, then those of the chapters that it names.

        Of chapters from the end that it is about, else best first.
        """
        if self.reading is not None and self.reading.scene is not None:
            (start, end), open_one = self.reading.scene, self.documents[self.current[0]]
            inside = [one for one in open_one.paragraphs if one.role == "body" and start <= one.start < end]
            rows = [row._replace(asked=True) for row in self._rows([(open_one, inside, 0.0)], standing=False)]
            return [row for row in rows if row.text and self.withheld(row) is None]
        named = [
            row
            for path in sorted(self._named - self.outside)
            if (document := self.documents.get(path)) is not None
            for row in self._rows([(document, [block for block in document.paragraphs if block.role == "body"], None)])
        ]
        return [*named, *self._rows_of_chapters(set(self.asked.chapters))]

    def _rows_of_chapters(self, wanted: Collection[int]) -> list[PassageRow]:
        rows = [
            row
            for document in (self.documents.values() if wanted else ())
            if document.kind in STORY_KINDS and (document.chapter is None or document.chapter in wanted)
            if document.path not in self.outside | self._named and self._is_of_volume(document.path)
            for row in self._rows([(document, _body(document, wanted), None)])
        ]
        if self.asked.part:
            return sorted(rows, key=lambda row: row.place, reverse=self.asked.part == "tail")
        if self.reading is not None:
            return self.reading.in_order(rows)
        return sorted(rows, key=lambda row: (-row.score, row.source))

    @property
    def stretches(self) -> Iterator[Sequence[PassageRow]]:
        """What plain search finds and the request may see: clear ones, then others, best first; each is made once."""
        for stretch in self._plain:
            if stretch not in self._stretches:
                self._stretches[stretch] = self._stretch(stretch)
            if rows := self._stretches[stretch]:
                yield rows

    def _stretch(self, stretch: FoundStretch) -> Sequence[PassageRow]:
        path, first, end, share = stretch
        document = self.documents.get(path)
        if document is None or path in self._barred_paths:
            return ()
        blocks = document.paragraphs[first:end]
        inside: list[_Run] = [(document, [block for block in blocks if block.role != "heading"], None)]
        file, clear = self.map.files.get(path), share >= CLEAR
        if file is None or file.edition == "main":
            return self._rows(inside, plain=True, clear=clear)
        rows = [self._row_in_main(row, file) for row in self._rows(inside, standing=False) if row.text]
        return [row._replace(plain=True, clear=clear) for row in rows if row and row.text and self._barred(row) is None]

    def _row_in_main(self, row: PassageRow, file: MappedFile) -> PassageRow | None:
        """The paragraph of the main edition that says what one of another edition says; what no other says itself.

        None for a translation of a chapter of it.
        """
        story = self.map.story()
        if file.edition == "translation" and file.number in {self.map.files[path].number for path in story}:
            return None
        for document in (doc for path in story if (doc := self.documents.get(path)) is not None):
            if (at := document.text.find(row.text)) >= 0:
                last = bisect_right(document.paragraphs, at, key=_start)
                return self._rows([(document, [document.paragraphs[last - 1]], None)], standing=False)[0]
        return row

    @property
    def shares(self) -> Shares | None:
        """Those of a reading."""
        return None if self.reading is None else self.reading.shares

    @property
    def group(self) -> str:
        """The heading, which says when the answer is weak."""
        return HEADINGS[self.language]["weak" if self.ranked.is_faint else "passages"]

    def row(self, path: str, paragraph: int, /) -> PassageRow | None:
        """Any paragraph of the project as it reads today, with its worth."""
        document = self.documents.get(path)
        if document is None or not 0 <= paragraph < len(document.paragraphs):
            return None
        return self._rows([(document, [document.paragraphs[paragraph]], None)], standing=False)[0]

    def neighbour(self, row: PassageRow, step: int, /) -> PassageRow | None:
        """See `PassageStream`. A scene ends at a heading and at a line without letters."""
        at, paragraphs = row.paragraph + step, self.documents[row.path].paragraphs
        if row.line or not 0 <= at < len(paragraphs):
            return None
        here, there = paragraphs[row.paragraph], paragraphs[at]
        if there.role != "body" or there.heading_path != here.heading_path:
            return None
        result = self.row(row.path, at)
        if result is None or not any(map(str.isalnum, result.text)) or self.withheld(result) is not None:
            return None
        return result

    def evidence(self, row: PassageRow, /) -> Evidence:
        """What it is worth and where it stands; with other wordings, in how many was asked."""
        span = self.documents[row.path].paragraphs[row.paragraph]
        if row.plain:
            return Evidence("fulltext", _PLAIN, row.path, (span.start, span.end))
        if self.reading is not None:
            return Evidence("chapter", self.reading.why(row), row.path, (span.start, span.end))
        if row.asked:
            return Evidence("chapter", _ASKED, row.path, (span.start, span.end))
        return Evidence("fulltext", _AROUND, row.path, (span.start, span.end))

    def explain(self, row: PassageRow, /) -> tuple[Evidence, ...]:
        """What of the question, and of each other wording, stands in it; without any, why it is near the question."""
        plain = self.evidence(row)
        if self.reading is not None or row.path in self.outside:
            return (plain,)
        result = [plain] if row.asked or row.plain else []
        if self.highlights is not None and (words := self.highlights.in_text(row.text)):
            result.append(replace(plain, kind="fulltext", detail=Reason("words", words=words)))
        for wording, _ in self.ranked.also:
            if words := shared_words(row.text, wording):
                is_plan = wording == self._plan
                detail = Reason("words.plan" if is_plan else "words.wording", words=words, wording=wording)
                result.append(replace(plain, kind="fulltext", detail=detail))
        return tuple(result) or (plain,)

    def withheld(self, row: PassageRow, /) -> tuple[OmitReason, str] | None:
        """Why it may not stand in the prompt at any score; None when it may."""
        if row.path in self.outside:
            return "excluded", why_outside(self.map, row.path)
        return self._barred(row)

    def _barred(self, row: PassageRow) -> tuple[OmitReason, str] | None:
        """Why it may not stand in the prompt, whatever the files are taken for."""
        if self._bounded:
            document = self.documents[row.path]
            chapter = chapter_at(document, document.paragraphs[row.paragraph])
            if (outside := self.bounds.leaves_out(document.kind, chapter)) is not None:
                return outside
        if not row.text and (moment := self.bounds.as_of if self._until is None else self._until) is not None:
            return "timeline", Reason("out.later_all", moment=moment)
        if row.line and not any(map(str.isalpha, row.text)):
            return "excluded", Reason("out.letters")
        path, text = self.current
        if row.path == path and row.text not in text:
            return "excluded", Reason("out.unsaved")
        here = row.place[0] if self._counted else self._number(row)
        if here in self.asked.excluded:
            return "excluded", Reason("out.unwanted", chapter=here)
        if self.bounds.as_of is None and self.chapter is not None and here != _LAST and here > self.chapter:
            if self.reading is not None and self.asked.chapters and here < max(self.asked.chapters):
                return None
            return None if row.asked else ("timeline", Reason("out.later", chapter=here, moment=self.chapter))
        return None

    def _first(self, number: int) -> list[PassageRow]:
        """The first rows, at least so many as far as there are."""
        if self.ranked.outcome == "nothing found" and self.reading is None:
            return []
        made, left_out = self._made, self.outside | {self.current[0]} if self._plan else self.outside
        with self._lock:
            if self.reading is not None:
                made += islice(self._earlier, max(0, number - len(made)))
            begin = -1
            while self.reading is None and len(made) < number and begin != self._next:
                begin, runs = self._next, list[_Run]()
                for path, index, score in self.best(begin + 1)[begin : begin + number - len(made)]:
                    if score <= self._floor:
                        break
                    self._next += 1
                    document = self.documents.get(path)
                    if document is not None and path not in left_out and (path, index) not in self._asked:
                        runs.append((document, document.paragraphs[index : index + 1], score))
                made += self._rows(runs)
        return made

    def _earlier_rows(self) -> Iterator[PassageRow]:
        """Paragraphs of earlier chapters: those about the same people by score, then the others in order.

        Every other row is of the nearest chapter that has one left, every fourth of the one before that, and so on.
        """
        last = max(row.place[0] for row in self._made)
        chapters: dict[int, list[tuple[Document, int]]] = {}
        for document in self.documents.values():
            if document.kind in STORY_KINDS and document.path not in self.outside:
                within = (
                    {chapter_at(document, block) for block in document.paragraphs} if document.chapter is None else ()
                )
                for number in {document.chapter, *within}:
                    if number is None or (number in self._wanted and self._is_of_volume(document.path)):
                        continue
                    if (place := self._place(document, number)) < last:
                        chapters.setdefault(place, []).append((document, number))
        nearest = sorted(chapters, reverse=True)
        for telling in (True, False):
            yield from _take_in_turns([self._chapter_rows(chapters[place], telling) for place in nearest])

    def _is_of_volume(self, path: str) -> bool:
        file = None if self._volume is None else self.map.get(path)
        return file is None or file.volume == self._volume

    def _place(self, document: Document, chapter: int | None) -> int:
        """Where a chapter stands: by its number, or by the order of the story where numbers begin again."""
        file = None if self._counted else self.map.get(document.path)
        if file is not None and file.order is not None:
            return file.order
        return _LAST if chapter is None else chapter

    def _number(self, row: PassageRow) -> int:
        document = self.documents[row.path]
        number = chapter_at(document, document.paragraphs[row.paragraph]) if document.kind in STORY_KINDS else None
        return _LAST if number is None else number

    def _chapter_rows(self, chapter: Sequence[tuple[Document, int]], telling: bool) -> Iterator[PassageRow]:
        """The rows of one chapter that tell of the people of a check, best first, or those that do not."""
        result: list[PassageRow] = []
        for document, number in chapter:
            rows = self._rows([(document, _body(document, (number,)), None)])
            result += [row for row in rows if (row.score > 0) == telling]
        yield from sorted(result, key=lambda row: (-row.score, row.place))

    def _rows(
        self, runs: Iterable["_Run"], *, standing: bool = True, plain: bool = False, clear: bool = False
    ) -> list[PassageRow]:
        """The paragraphs of some runs, each with its worth, or the score of its run.

        Those `standing`: with a text, and allowed to stand in the prompt, whatever the files are taken for.
        """
        rows: list[PassageRow] = []
        for document, paragraphs, score in runs:
            path, kind, is_story = document.path, document.kind, document.kind in STORY_KINDS
            texts: Sequence[str] = ()
            if self._until is not None and kind in ("setting", "state", "note") and not document.past:
                texts = settings_until(document, paragraphs := list(paragraphs), self._until)
            if self._bounded and path not in self._hidden:
                headings = [
                    (one.heading_path, one.start, one.end) for one in document.paragraphs if one.role == "heading"
                ]
                blank = [above for above, start, end in headings if not document.text[start:end].strip()]
                self._hidden[path] = frozenset(blank)  # from a request that sees the document without them
            under: tuple[str, ...] | None = None
            within: int | None = -1  # the number that the last one says of its chapter
            place, title, wish, is_later = _LAST, document.title, path in self._named, False
            is_titled = kind == "chapter" and document.chapter is not None  # of others the heading is the title
            doubt = self._bounded or kind == "code" or path == self.current[0] or (is_story and self.asked.excluded)
            for at, block in enumerate(paragraphs):
                start, index = block.start, block.index
                text = texts[at] if texts else document.text[start : block.end]
                if block.heading_path != under:
                    under = block.heading_path
                    if not is_titled:
                        title = under[-1] if under and kind != "code" else title_of(document, block)
                if is_story and block.chapter != within:
                    within = block.chapter
                    chapter = document.chapter if within is None else within
                    place = (_LAST if chapter is None else chapter) if self._counted else self._place(document, chapter)
                    wish = path in self._named or (chapter in self._wanted and self._is_of_volume(path))
                    is_later = self.chapter is not None and place > self.chapter
                if self._bounded:
                    text = drop_blanks(text)
                    title = document.title if under in self._hidden[path] else title
                worth = score
                if worth is None:
                    reading = self.reading
                    worth = reading.worth(path, index) if reading else self.ranked.scores.score_of(path, index) or 0.0
                where, line = (place, path, start), document.line_at(start) if kind == "code" else 0
                row = PassageRow(path, index, worth, where, title, text.strip(), wish, line, plain, clear)
                if not standing or (row.text and not ((doubt or is_later) and self._barred(row))):
                    rows.append(row)
        return rows


_Run = tuple[Document, Iterable[Paragraph], float | None]
"""Paragraphs of a document, and their worth where that is at hand."""


def _body(document: Document, chapters: Collection[int]) -> Iterator[Paragraph]:
    return (block for block in document.paragraphs if block.role == "body" and chapter_at(document, block) in chapters)


def _take_in_turns(nearest: list[Iterator[PassageRow]]) -> Iterator[PassageRow]:
    """Rows in turn, each chapter to its end: half of them of the first, a quarter of the second, and so on."""
    turn = 0
    while nearest:
        turn += 1
        at = min((turn & -turn).bit_length(), len(nearest)) - 1
        row = next(nearest[at], None)
        if row is None:
            del nearest[at]
        else:
            yield row


def title_of(document: Document, paragraph: Paragraph) -> str:
    """What a paragraph stands under: its chapter, its section, or the definition that it belongs to."""
    if document.kind == "chapter" and document.chapter is not None:
        return document.title
    if document.kind == "code":
        return ".".join(paragraph.heading_path) or document.title
    return paragraph.heading_path[-1] if paragraph.heading_path else document.title
