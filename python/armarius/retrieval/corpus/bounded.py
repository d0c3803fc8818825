"""The tables of a corpus as a bounded request sees them: what lies outside is not there.

Endings, neighbours, who is present and what is disputed are worked out from what is left, as the core scores nothing
else: a bound is no filter behind an answer from the whole book. Profiles stay for understanding a question, whatever
the bounds; of those, as of a chapter, nothing that holds from a later one.
"""

from dataclasses import replace

from armarius.bounds import Bounds
from armarius.codex.timeline import without_later
from armarius.codex.visible import Visible
from armarius.documents.document import Document
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.retrieval.corpus.text import Text

__all__ = ["BoundedTables", "bounded"]

_KEPT = 8
_KEY = ("bounded", "", None)


def bounded(tables: CorpusTables, bounds: Bounds) -> CorpusTables:
    """`tables` within `bounds`: they themselves when nothing is left out.

    Cost: linear in the texts of the project, once for each of eight bounds until something changes.
    """
    if not bounds:
        return tables
    known: dict[Bounds, BoundedTables] = tables.memo.setdefault(_KEY, {})
    if bounds not in known:
        if len(known) >= _KEPT:
            known.clear()
        known[bounds] = BoundedTables(tables, bounds)
    return known[bounds]


class BoundedTables(CorpusTables):
    """See `bounded`. Never changed: a corpus that changes has others."""

    def __init__(self, whole: CorpusTables, bounds: Bounds) -> None:
        whole.refresh_outline()
        self._whole = whole
        self.bounds = bounds
        self.codex, self.entities, self.matcher = whole.codex, whole.entities, whole.matcher
        self.paragraphs = whole.paragraphs
        self.texts = {key: one for key, one in whole.texts.items() if bounds.holds(whole.kind_of(key), one.number)}
        self.sections = whole.sections
        if bounds.as_of is not None:
            self.sections = {
                key: one if _is_past(whole, one.path) else replace(one, text=without_later(one.text, bounds.as_of))
                for key, one in whole.sections.items()
            }
        self.outline = {key: lines for key, lines in whole.outline.items() if key in self.texts}
        self.told = {key: told for key, told in whole.told.items() if key in self.texts}
        self.memo = {}
        self.sections_memo = {}
        self.documents = Visible({path: _document(whole, path) for path in whole.paths}, bounds)
        self._by_chapter = self._described = self._numbered = None

    @property
    def whole(self) -> CorpusTables:
        """The tables without bounds."""
        return self._whole

    @property
    def paths(self) -> tuple[str, ...]:
        """Of documents that hold anything to be seen."""
        return tuple(path for path in self.documents if self.documents[path].text.strip())

    @property
    def chapter_numbers(self) -> tuple[int, ...]:
        """The chapters that may be known, whichever kinds are looked into."""
        return tuple(number for number in self.whole.chapter_numbers if self.bounds.has_chapter(number))

    def document(self, path: str) -> Document | None:
        """The document at `path`, blanked where it is not to be seen."""
        return self.documents.get(path)

    def kind_of(self, key: int) -> str:
        """As in the whole."""
        return self.whole.kind_of(key)

    def texts_of(self, path: str) -> list[Text]:
        """The texts of a document that are to be seen."""
        return [text for text in self.whole.texts_of(path) if text.key in self.texts]

    def place(self, key: int) -> tuple[int, str, int]:
        """As in the whole."""
        return self.whole.place(key)

    def refresh_outline(self) -> None:
        """Nothing to do: it is the outline of this moment."""


def _is_past(tables: CorpusTables, path: str) -> bool:
    document = tables.document(path)
    return document is not None and document.past


def _document(tables: CorpusTables, path: str) -> Document:
    document = tables.document(path)
    if document is None:
        raise KeyError(path)
    return document
