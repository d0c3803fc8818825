"""One document as retrieval takes it: a part of the corpus, and its texts with the names in them.

Worked out from the document and a matcher alone, so that a store can keep it (`corpus.kept`) until one of the two
changes.
"""

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armarius._core import CorpusPart
from armarius.corpus.symbols import names_of
from armarius.corpus.units import chapters_of
from armarius.documents.document import Document
from armarius.documents.segments import Paragraph

if TYPE_CHECKING:
    from armarius.text.matcher import EntityMatcher

__all__ = ["DocumentPart", "Named", "TextPart", "part_of", "parts_of"]

_TEXTS = ("chapter", "note", "code")
_ROW = struct.Struct("<IIII")  # text, index of the entity, start, end
_Met = tuple[str, str, int]
"""Entity, the name as written, where it begins in its paragraph."""


@dataclass(frozen=True, slots=True)
class Named:
    """A name as it is written in a text.

    Attributes:
        entity: Its id.
        term: The alias as written.
        count: How often.
        start: First code point of the first of them, in the document.
    """

    entity: str
    term: str
    count: int
    start: int


@dataclass(frozen=True, slots=True)
class TextPart:
    """A chapter of a document, or the whole of one that has none.

    Attributes:
        number: Chapter number, None for a note.
        section: The heading that names it in a file of several chapters, else "".
        start: First code point in the document.
        end: One past the last.
        names: By where each first stands, then by length and entity.
    """

    number: int | None
    section: str
    start: int
    end: int
    names: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A document as retrieval takes it.

    Attributes:
        part: For the corpus.
        texts: Of a chapter, a note, a source file; none of settings and outlines.
    """

    part: CorpusPart
    texts: tuple[TextPart, ...]


def part_of(document: Document, matcher: "EntityMatcher") -> DocumentPart:
    """One document. Cost: one pass over its text, and one search for names."""
    return parts_of([document], matcher)[0]


def parts_of(documents: Sequence[Document], matcher: "EntityMatcher") -> list[DocumentPart]:
    """Several documents, in one search for names, on all cores."""
    texts = [document.text[one.start : one.end] for document in documents for one in document.paragraphs]
    met: list[list[_Met]] = [[] for _ in texts]
    ids = matcher.entity_ids
    for at, entity, start, end in _ROW.iter_unpack(matcher.find_packed(texts)):
        met[at].append((ids[entity], texts[at][start:end], start))
    found = iter(met)
    return [_part(document, [next(found) for _ in document.paragraphs]) for document in documents]


def _part(document: Document, mentions: Sequence[Sequence[_Met]]) -> DocumentPart:
    spans: list[tuple[int, int, str]] = [(one.start, one.end, one.role) for one in document.paragraphs]
    part = CorpusPart(
        document.path, document.kind, document.text, spans, list(_units(document)), list(names_of(document))
    )
    rows: list[tuple[int, str, int]] = []
    for index, found in enumerate(mentions):
        times: dict[str, int] = {}
        for entity, _, _ in found:
            times[entity] = times.get(entity, 0) + 1
        rows += [(index, entity, count) for entity, count in sorted(times.items())]
    if rows:
        part = part.with_entities(rows)
    texts: list[TextPart] = []
    if document.kind in _TEXTS:
        for number, section, paragraphs in chapters_of(document):
            span = (paragraphs[0].start, paragraphs[-1].end) if paragraphs else (0, 0)
            texts.append(TextPart(number, section, *span, _names(paragraphs, mentions)))
    return DocumentPart(part, tuple(texts))


def _names(paragraphs: Sequence[Paragraph], mentions: Sequence[Sequence[_Met]]) -> tuple[Named, ...]:
    names: dict[tuple[str, str], list[int]] = {}  # how often, and where first
    for paragraph in paragraphs:
        for entity, term, start in mentions[paragraph.index]:
            known = names.get((entity, term))
            if known is None:
                names[entity, term] = [1, paragraph.start + start]
            else:
                known[0] += 1
    return tuple(Named(entity, term, count, first) for (entity, term), (count, first) in names.items())


def _units(document: Document) -> Iterator[tuple[str, int | None, int]]:
    """(label, chapter, first paragraph) of the stretches that are ranked as one."""
    paragraphs = document.paragraphs
    if not paragraphs:
        return
    if document.kind == "outline":
        yield from ((str(one.index), one.chapter, one.index) for one in paragraphs)
        return
    starts: dict[int, tuple[str, int | None]] = {0: ("", document.chapter)}
    if document.kind == "setting":
        before = None
        for one in paragraphs:
            title = one.heading_path[-1] if one.heading_path else ""
            if title != before:
                starts[one.index] = (title, document.chapter)
                before = title
    else:
        for number, section, inside in chapters_of(document):
            if inside:
                starts[inside[0].index] = (section, number)
    first = min(starts.keys() - {0}, default=None)
    # A title above the first chapter of its file belongs to it.
    if first is not None and document.kind != "setting" and all(one.role != "body" for one in paragraphs[:first]):
        starts[0] = starts.pop(first)
    seen: Counter[str] = Counter()
    for index, (label, chapter) in sorted(starts.items()):
        seen[label] += 1
        yield (label if seen[label] == 1 else f"{label} ({seen[label]})", chapter, index)
