"""The paragraphs of a project as the core ranks them: one part per document, changed by document.

Attributes of a paragraph that the core needs are its span, its role, the unit it stands in (a chapter, a section of
settings, a line of the outline, a note) and who is mentioned in it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from armarius._core import Corpus, CorpusPart
from armarius.documents.document import Document
from armarius.retrieval.corpus.units import chapters_of
from armarius.text.matcher import Mention

__all__ = ["Paragraphs", "part_of"]


class Paragraphs:
    """The parts of a project, and the corpus of them; not thread safe while it changes."""

    def __init__(self) -> None:
        self._corpus = Corpus([])
        self._changed: dict[str, CorpusPart] = {}
        self._removed: set[str] = set()

    def update(self, document: Document, mentions: Sequence[Sequence[Mention]]) -> None:
        """Take in a new or changed document with the mentions of each paragraph. Cost: one pass over its text."""
        self._changed[document.path] = part_of(document, mentions)
        self._removed.discard(document.path)

    def remove(self, path: str) -> None:
        """Forget a document; unknown paths are no error."""
        self._changed.pop(path, None)
        self._removed.add(path)

    @property
    def corpus(self) -> Corpus:
        """The corpus of this moment. Cost: a few milliseconds after a change."""
        if self._changed or self._removed:
            removed = sorted(self._removed & set(self._corpus.paths))
            self._corpus = self._corpus.with_parts(list(self._changed.values()), removed)
            self._changed, self._removed = {}, set()
        return self._corpus


def part_of(document: Document, mentions: Sequence[Sequence[Mention]]) -> CorpusPart:
    """A document as a part of the corpus; `mentions` are those of each of its paragraphs."""
    spans: list[tuple[int, int, str]] = [(one.start, one.end, one.role) for one in document.paragraphs]
    part = CorpusPart(document.path, document.kind, document.text, spans, list(_units(document)))
    rows = [
        (index, entity, count)
        for index, found in enumerate(mentions)
        for entity, count in sorted(Counter(one.entity_id for one in found).items())
    ]
    return part.with_entities(rows) if rows else part


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
