"""The story in its order: the chapters of one edition, each a file or a part of a file that holds several; its plans.

A plan is what an outline says of a chapter, written or not: a section, a list item or a file. A heading names one
chapter (`## 第12章 …`, in plans of chapters also `# 0012.…`) or a range (`## 第301-350章 概要`), which is about all of
its chapters. Where a document names the chapter alone too, its range is not given.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import attrgetter

from armarius.codex.cards import chapter_at, drop_blanks
from armarius.corpus.part import chapters_of
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.project_map import ProjectMap
from armarius.documents.segments import Paragraph, folder_of, parts_of
from armarius.documents.units import (
    CHAPTERS,
    NUMERAL,
    SCENE,
    bare_number,
    chapter_number,
    chapter_range,
    names,
    volume_number,
)

_OF_CHAPTERS = re.compile(
    rf"{names('han', 'round')}|章|分{names('han', *CHAPTERS)}|{names('latin', 'chapter', 'episode')}", re.IGNORECASE
)
_ROLE = attrgetter("role")
_END = re.compile(
    rf"\W*+(?:(?:本|全)?{names('han', *CHAPTERS)}?|第\s*+{NUMERAL}\s*+{names('han', *CHAPTERS)})?\s*+"
    r"(?:[完终終]|完结|完結|结束|未完待续|待续|待續|つづく|続く|끝|계속|fin|the\s++end|end|to\s++be\s++continued|[aà]\s++suivre"
    rf"|end\s++of\s++(?:the\s++)?{names('latin', 'chapter', 'episode', 'part', 'act')}(?:\s++\w{{1,9}})?)\W*+",
    re.IGNORECASE,
)
_NOTED = re.compile(r"\s*(?:[-*+•·]\s|\d+[.)、]|\||[✅❌☐☑✔])")
_PADDED = re.compile(r"0\d{1,3}(?!\d)")


@dataclass(frozen=True, slots=True)
class Plan:
    """What one document says of a chapter.

    Attributes:
        path: The document.
        title: The heading that names the chapter, "" for a list item.
        paragraphs: In order.
        ranged: It is about several chapters.
    """

    path: str
    title: str
    paragraphs: tuple[Paragraph, ...]
    ranged: bool = False

    def text(self, document: Document) -> str:
        """The words, without blank lines; of `document` as a request may see it."""
        parts = (drop_blanks(document.text[block.start : block.end]).strip() for block in self.paragraphs)
        return "\n".join(part for part in parts if any(map(str.isalnum, part)))


def plans_of(
    documents: Mapping[str, Document], project_map: ProjectMap, numbers: Iterable[int], volume: int | None = None
) -> Mapping[int, Sequence[Plan]]:
    """What each outline says of these chapters, by path; only of `volume` where a file or heading names another.

    Cost: one pass over the paragraphs of the outlines; what headings name is remembered.
    """
    by_number: dict[int, list[Plan]] = {number: [] for number in numbers}
    hidden, scenes = project_map.hidden, project_map.of_scenes
    for path, document in documents.items() if by_number else ():
        if document.kind != "outline" or path in hidden:
            continue
        file = project_map.get(path)
        if volume is not None and file is not None and file.volume not in (None, volume):
            continue
        outline = _Outline(document, volume, scenes=scenes)
        for number, plans in by_number.items():
            plan = outline.plan(number)
            if plan is None and file is not None and file.number == number:  # a file for each chapter
                plan = Plan(path, document.title, tuple(block for block in document.paragraphs if block.role == "body"))
            if plan is not None and plan.paragraphs:
                plans.append(plan)
    return by_number


class _Outline:
    """The paragraphs of a document by the chapters that they are about. Cost: one pass over them."""

    def __init__(self, document: Document, volume: int | None, *, scenes: bool) -> None:
        self._path, self._counted = document.path, _counts_chapters(document.path)
        self._scenes = scenes
        self._own = defaultdict[int, list[Paragraph]](list)  # by number
        self._ranged = defaultdict[tuple[int, int], list[Paragraph]](list)  # by the first and last number
        for block in document.paragraphs:
            if block.role == "front_matter":
                continue
            if volume is not None and any(_volume(title) not in (None, volume) for title in block.heading_path):
                continue
            at, span = _heading_span(block.heading_path, counted=self._counted, scenes=self._scenes)
            if block.role == "heading" and at == len(block.heading_path) - 1 and span != (0, -1):
                continue  # the chapter's own heading, which is the title
            item = chapter_at(document, block) if block.role == "body" else None
            for number in {span[0] if span[0] == span[1] else None, item}:
                if number is not None:
                    self._own[number].append(block)
            if span[0] < span[1]:
                self._ranged[span].append(block)

    def plan(self, number: int) -> Plan | None:
        """What the document says of a chapter; None when it does not name it."""
        blocks = self._own.get(number, [])
        if ranged := not blocks:
            spans = (own for (first, last), own in self._ranged.items() if first <= number <= last)
            blocks = sorted(chain(*spans), key=attrgetter("index"))
        if not any(block.role == "body" for block in blocks):
            return None
        at, span = _heading_span(blocks[0].heading_path, counted=self._counted, scenes=self._scenes)
        title = blocks[0].heading_path[at] if span[0] <= number <= span[1] else ""
        return Plan(self._path, title, tuple(blocks), ranged=ranged)


def volume_plan(document: Document, volume: int | None) -> Sequence[Paragraph]:
    """What an outline says of a volume: below its heading, or before the first chapter of a file about it.

    Cost: one pass over its paragraphs.
    """
    counted = _counts_chapters(document.path)
    blocks: list[Paragraph] = []
    for block in document.paragraphs:
        if block.role == "front_matter":
            continue
        if _heading_span(block.heading_path, counted=counted)[1] != (0, -1) or chapter_at(document, block) is not None:
            if blocks:
                break
        elif block.role == "body" and volume is not None and volume in map(_volume, block.heading_path):
            blocks.append(block)
    return blocks


def _counts_chapters(path: str) -> bool:
    """Whether bare numbers of headings are chapters: by the name of the file or of its folder."""
    *_, folder, stem = "", *parts_of(path).folders, parts_of(path).stem
    return bool(_OF_CHAPTERS.search(f"{folder} {stem}")) or chapter_range(f"第{stem}章") is not None


def _heading_span(headings: Sequence[str], *, counted: bool, scenes: bool = False) -> tuple[int, tuple[int, int]]:
    """Which heading, from the innermost, names chapters, and the first and last of them; (0, -1) for none.

    Of bare numbers the outermost does: below `# 0012.…`, `## 1. …` is a part of the plan.
    """
    named = -1, (0, -1)
    for at in range(len(headings) - 1, -1, -1):
        if (span := _span(headings[at], counted=counted, scenes=scenes)) is not None:
            named = at, span
            if bare_number(headings[at]) is None:
                break
    return named


@lru_cache(maxsize=4096)
def _span(heading: str, *, counted: bool, scenes: bool) -> tuple[int, int] | None:
    if (several := chapter_range(heading)) is not None:
        return several
    number = chapter_number(heading)
    if number is None and (counted or _PADDED.match(heading)):
        number = bare_number(heading)
    if number is None and scenes and (scene := SCENE.match(heading.lstrip(" *[【"))):
        number = int(scene[1])
    return None if number is None else (number, number)


_volume = lru_cache(maxsize=4096)(volume_number)


@dataclass(frozen=True, slots=True)
class StoryPart:
    """A chapter: `document[start:end]`; `title` is its heading where its file holds several, else ""."""

    path: str
    number: int | None
    title: str
    start: int
    end: int


def of_edition(project_map: ProjectMap, path: str) -> str | None:
    """A document of the story to which `path` belongs: itself, or for a file that is not saved yet one of its folder.

    Cost: one look-up; linear in the files where `path` is unknown.
    """
    file = project_map.get(path)
    if file is not None:
        return path if file.kind in STORY_KINDS else None
    files = project_map.files.items()
    paths = (key for key, file in files if file.kind in STORY_KINDS and folder_of(key) == folder_of(path))
    return next(paths, None)


def chapters_before(
    documents: Mapping[str, Document], project_map: ProjectMap, path: str, chapter: int | None
) -> Iterator[StoryPart]:
    """The chapters before a place of the story, the nearest first; of its edition, or without a path all of the main.

    Args:
        documents: By path.
        project_map: Of them.
        path: The open document, or "".
        chapter: The chapter in it where the text goes on; None where it has no number.

    Cost: linear in the chapters that are taken; in their paragraphs for a file of several.
    """
    edition = of_edition(project_map, path) if path else None
    if path and edition is None:
        return
    order = [key for key in project_map.story(edition) if key in documents]
    if path in order:
        inside = [part for part in story_parts(documents[path]) if part.number is not None]
        here = next((at for at, part in enumerate(inside) if part.number == chapter), 0)
        yield from reversed(inside[:here])
        order = order[: order.index(path)]
    elif path:  # not saved yet
        while order and chapter is not None and (documents[order[-1]].chapter or 0) >= chapter:
            order.pop()
    for key in reversed(order):
        yield from reversed(list(story_parts(documents[key])))


def chapters_until(
    documents: Mapping[str, Document], project_map: ProjectMap, path: str, number: int, volume: int | None = None
) -> tuple[StoryPart | None, Iterator[StoryPart]]:
    """Chapter `number` of the edition of `path`, None if it is not written, and the chapters before it, nearest first.

    Args:
        documents: By path.
        project_map: Of them.
        path: The open document, or "" for the main edition. Where numbers begin again, those of its volume are meant.
        number: As labelled.
        volume: That the request names; without one, the volume of `path`, else of the last chapter.

    Cost: linear in the chapters.
    """
    parts = [
        (key, part)
        for key in project_map.story(path or None)
        if key in documents
        for part in story_parts(documents[key])
    ]
    if volume is None:
        volume = _volume_at(project_map, path)
    if volume is None and parts:
        volume = _volume_at(project_map, parts[-1][0])
    mine = [at for at, (key, _) in enumerate(parts) if volume is None or _volume_at(project_map, key) in (None, volume)]
    here = next((at for at in mine if parts[at][1].number == number), None)
    if here is None and not path and (alone := [at for at, (_, part) in enumerate(parts) if part.number == number]):
        here = alone[0] if len(alone) == 1 else None
    if here is not None:
        return parts[here][1], (part for _, part in reversed(parts[:here]))
    later = [at for at in mine if (parts[at][1].number or 0) > number]
    return None, (part for _, part in reversed(parts[: later[0]] if later else parts))


def is_written(documents: Mapping[str, Document], project_map: ProjectMap, number: int) -> bool:
    """Whether the story, in its main edition, holds a chapter. Cost: at worst, its paragraphs."""
    story = [document for path in project_map.story() if (document := documents.get(path)) is not None]
    return any(document.chapter == number for document in story) or any(
        block.chapter == number for document in story if document.chapter is None for block in document.paragraphs
    )


def _volume_at(project_map: ProjectMap, path: str) -> int | None:
    file = project_map.get(path)
    return None if file is None else file.volume


def story_parts(document: Document) -> Iterator[StoryPart]:
    """The chapters of a document of the story, in its order. Cost: linear in its paragraphs."""
    if document.chapter is not None:
        if "body" in map(_ROLE, document.paragraphs):
            yield StoryPart(document.path, document.chapter, "", 0, len(document.text))
        return
    for number, title, paragraphs in chapters_of(document):
        if paragraphs:
            yield StoryPart(document.path, number, title, paragraphs[0].start, paragraphs[-1].end)


def story_end(document: Document, start: int = 0, end: int | None = None) -> int:
    """Where the story in a chapter ends: before a mark of its end, or before sections of lists and notes behind it.

    Cost: linear in the paragraphs; in the lines of a text with headings below the first of its paragraphs.
    """
    end = len(document.text) if end is None else end
    inside = [block for block in document.paragraphs if start <= block.start < end and block.role != "front_matter"]
    first = next((at for at, block in enumerate(inside) if block.role == "body"), len(inside))
    behind = [*enumerate(inside)][first + 1 :]
    headings = [at for at, block in behind if block.role == "heading"]
    marks = [at for at, block in behind if block.role == "body" and _END.fullmatch(_paragraph_text(document, block))]
    if not (marks or headings):
        return end
    plain, lengths = [0], [0]  # code points up to each paragraph
    for block in inside:
        lines = _paragraph_text(document, block).splitlines() if block.role == "body" else []
        plain.append(plain[-1] + sum(len(line) for line in lines if not _NOTED.match(line)))
        lengths.append(lengths[-1] + sum(map(len, lines)))
    for at in sorted({*marks, *headings}):
        rest, prose = lengths[-1] - lengths[at], plain[-1] - plain[at]
        if 2 * plain[at] >= lengths[at] and (3 * rest <= plain[at] if at in marks else 5 * prose <= 2 * rest):
            return inside[at - 1].end
    return end


def _paragraph_text(document: Document, paragraph: Paragraph) -> str:
    return document.text[paragraph.start : paragraph.end]
