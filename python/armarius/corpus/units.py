"""What is found: chapters and other texts, sections of settings, lines of the outline; how files are cut."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from armarius.documents.document import Document
from armarius.documents.segments import Paragraph

__all__ = ["OutlineLine", "Section", "chapters_of", "entries_of", "lines_by_text"]


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of a settings file: `document[start:end]`; `entities` are those it describes."""

    key: int
    path: str
    section: str
    start: int
    end: int
    text: str
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """What the outline says about a chapter."""

    path: str
    start: int
    end: int
    text: str


def chapters_of(document: Document) -> Iterator[tuple[int | None, str, list[Paragraph]]]:
    """The chapters of a file: (number, heading when the file holds several, body paragraphs)."""
    if document.chapter is not None or document.kind != "chapter":
        yield document.chapter, "", [p for p in document.paragraphs if p.role == "body"]
        return
    groups: dict[tuple[int | None, str], list[Paragraph]] = {}
    heading = ""
    for paragraph in document.paragraphs:
        if paragraph.role == "heading":
            heading = paragraph.heading_path[-1]
        elif paragraph.role == "body":
            groups.setdefault((paragraph.chapter, heading if paragraph.chapter is not None else ""), []).append(
                paragraph
            )
    by_number: dict[int | None, tuple[str, list[Paragraph]]] = {}
    for (number, title), paragraphs in groups.items():
        by_number.setdefault(number, (title, []))[1].extend(paragraphs)
    for number, (title, paragraphs) in by_number.items():
        yield number, title, paragraphs


def entries_of(document: Document, owners: dict[str, list[str]]) -> Iterator[tuple[str, list[Paragraph]]]:
    """The entries of a settings file: under the heading of an entity, else under the innermost heading."""
    groups: dict[str, list[Paragraph]] = {}
    for paragraph in document.paragraphs:
        if paragraph.role == "front_matter":
            continue
        owned = [title for title in paragraph.heading_path if title in owners]
        name = owned[-1] if owned else "" if "" in owners else next(iter(paragraph.heading_path[1:][-1:]), "")
        groups.setdefault(name, []).append(paragraph)
    for name, paragraphs in groups.items():
        if any(paragraph.role == "body" for paragraph in paragraphs):
            yield name, paragraphs


def lines_by_text(
    outlines: Iterable[Document], by_chapter: Mapping[int, Sequence[int]]
) -> dict[int, list[OutlineLine]]:
    """Key of a text to the outline's lines about its chapter."""
    found: dict[int, list[OutlineLine]] = {}
    for outline in outlines:
        for paragraph in outline.paragraphs:
            if paragraph.role != "front_matter" and paragraph.chapter is not None:
                text = outline.text[paragraph.start : paragraph.end]
                line = OutlineLine(outline.path, paragraph.start, paragraph.end, text)
                for key in by_chapter.get(paragraph.chapter, ()):
                    found.setdefault(key, []).append(line)
    return found
