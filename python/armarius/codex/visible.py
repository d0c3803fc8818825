"""What of a document a bounded request may see: the rest is blanked, so that every place stays where it is.

Left out are paragraphs of other chapters than the bounds allow and, with `as_of`, what a settings file says of later
chapters (第7章起：…), and whatever an outline says behind its first line about a later one: an ending has no number.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from armarius.bounds import Bounds
from armarius.codex.timeline import blank, parse_span, without_later
from armarius.documents.document import Document
from armarius.documents.segments import Paragraph

__all__ = ["Visible", "chapter_at", "shown_of", "tidy", "told_until", "until", "visible"]


class Passage(Protocol):
    """A paragraph as an index keeps it."""

    @property
    def path(self) -> str:
        """Of its document."""
        ...

    @property
    def chapter(self) -> int | None:
        """That it stands in."""
        ...

    @property
    def start(self) -> int:
        """First code point in the document."""
        ...

    @property
    def text(self) -> str:
        """As in the document."""
        ...


class Visible(Mapping[str, Document]):
    """The documents of a project as a bounded request sees them; each is worked out when it is first asked for."""

    def __init__(self, documents: Mapping[str, Document], bounds: Bounds) -> None:
        self._documents = documents
        self._bounds = bounds
        self._seen: dict[str, Document] = {}

    def __getitem__(self, path: str) -> Document:
        if path not in self._seen:
            self._seen[path] = visible(self._documents[path], self._bounds)
        return self._seen[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)


def visible(document: Document, bounds: Bounds) -> Document:
    """`document` with what lies outside `bounds` as spaces; the same object when nothing does.

    Cost: one look at each paragraph; one pass over the lines of what is no chapter, with `as_of`.
    """
    if document.past:  # its chapters are others
        bounds = replace(bounds, as_of=None)
    hidden = [one for one in document.paragraphs if _is_hidden(document, one, bounds)]
    if bounds.as_of is not None and document.kind == "outline":
        first = _first_later(document, bounds.as_of)
        hidden += document.paragraphs[first:]
    text = _blanked(document.text, hidden)
    if bounds.as_of is not None and document.kind in ("setting", "note"):
        text = without_later(text, bounds.as_of)
    return document if text == document.text else replace(document, text=text)


def _blanked(text: str, paragraphs: Iterable[Paragraph]) -> str:
    parts, at = [], 0
    for start, end in sorted({(one.start, one.end) for one in paragraphs}):
        parts += [text[at:start], blank(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def until(document: Document, as_of: int) -> int:
    """The first code point of `document` that a request as of a chapter may not see; its length when it may see all."""
    shown = visible(document, Bounds(as_of=as_of)).text
    if shown == document.text:
        return len(shown)
    return next(at for at, (own, other) in enumerate(zip(document.text, shown, strict=True)) if own != other)


def chapter_at(document: Document, paragraph: Paragraph) -> int | None:
    """The chapter that a paragraph stands in or speaks of."""
    return document.chapter if paragraph.chapter is None else paragraph.chapter


def shown_of(documents: Mapping[str, Document], bounds: Bounds) -> Callable[[Passage], str]:
    """What of a paragraph may be seen, in its place, the rest as spaces; by its chapter alone if it is not there."""
    seen = Visible(documents, bounds)

    def shown(one: Passage) -> str:
        document = seen.get(one.path)
        end = one.start + len(one.text)
        if document is not None and documents[one.path].text[one.start : end] == one.text:
            return document.text[one.start : end]
        return one.text if bounds.has_chapter(one.chapter) else ""

    return shown


def tidy(text: str) -> str:
    """A stretch of a visible text, without the lines that were blanked."""
    return "\n".join(line for line in text.split("\n") if line.strip())


def told_until(text: str, paragraph: Paragraph, chapter: int) -> str:
    """What a paragraph of settings says that holds up to a chapter; the rest as spaces."""
    return blank(text) if _begins_later(paragraph, chapter) else without_later(text, chapter)


def _begins_later(paragraph: Paragraph, chapter: int) -> bool:
    spans = (parse_span(title) for title in paragraph.heading_path)
    return any(span is not None and (span[0] or 0) > chapter for span in spans)


def _is_hidden(document: Document, paragraph: Paragraph, bounds: Bounds) -> bool:
    if bounds.leaves_out(document.kind, chapter_at(document, paragraph)) is not None:
        return True
    if bounds.as_of is None:
        return False
    return document.kind != "chapter" and _begins_later(paragraph, bounds.as_of)


def _first_later(outline: Document, as_of: int) -> int:
    """Index of the first paragraph about a later chapter; how many there are when none is."""
    later = (one.index for one in outline.paragraphs if one.chapter is not None and one.chapter > as_of)
    return next(later, len(outline.paragraphs))
