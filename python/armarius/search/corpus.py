"""The corpus: documents and codex of one moment, as retrieval asks them.

A corpus never changes. What it takes long to make, its tables, is handed from one moment to the next: asked, a corpus
brings them up to its own documents, and whoever asks another moment of the same project waits until it is done.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from armarius.arguments import Bounds
from armarius.codex import Codex
from armarius.codex.cards import Visible, without_later
from armarius.corpus.kept import KeptParts
from armarius.documents.document import Document
from armarius.search.tables import CorpusTables, File, Text
from armarius.text.matcher import EntityMatcher

__all__ = ["BoundedTables", "LiveTables", "ProjectCorpus", "bounded", "with_live"]


class ProjectCorpus:
    """What retrieval knows of one state of a project. Threads may share it; they take turns.

    Args:
        documents: By path; not to be changed afterwards.
        codex: Its entities are looked for.
        matcher: Finds them; one of the names alone when not given.
        ready: False while the project has not been read yet: then nothing is found because nobody could look.
        before: The corpus of an earlier moment of the project, whose tables are taken over.
        kept: Where a store keeps what has been worked out of the documents, for the names of `matcher`.

    Cost: none; the first question reads what is new, all texts when the names are others.
    """

    def __init__(
        self,
        documents: Mapping[str, Document],
        codex: Codex,
        matcher: EntityMatcher | None = None,
        *,
        ready: bool = True,
        before: "ProjectCorpus | None" = None,
        kept: KeptParts | None = None,
    ) -> None:
        self.documents = documents
        self.codex = codex
        self.matcher = matcher
        self.ready = ready
        self.kept = kept
        self._shared: _Shared = _Shared() if before is None else before._shared

    @contextmanager
    def tables(self) -> Iterator[CorpusTables]:
        """Texts, sections and their indexes, as they are at this moment until the block ends; others wait.

        Cost: one look at each document when another moment was asked before; those that differ are read again.
        """
        with self._shared.lock:
            yield self._shared.at(self)


class _Shared:
    """The tables of a project, brought to the corpus that is asked. Hold the lock for as long as they are used."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._tables: CorpusTables | None = None
        self._taken: Mapping[str, Document] = {}

    def at(self, corpus: ProjectCorpus) -> CorpusTables:
        tables, taken, wanted = self._tables, self._taken, corpus.documents
        if tables is not None and taken is wanted and _fits(tables, corpus):
            return tables
        self._tables = None  # before the long work: what fails half way is begun again
        if tables is None or not (_fits(tables, corpus) or _adopted(tables, corpus)):
            tables = CorpusTables.of(wanted.values(), corpus.codex, corpus.matcher, corpus.kept)
        elif taken is not wanted:
            for path in [path for path in taken if path not in wanted]:
                tables.remove(path)
            changed = [one for path, one in wanted.items() if taken.get(path) is not one and taken.get(path) != one]
            if changed:
                tables.update(changed)
        self._tables, self._taken = tables, wanted
        return tables


def _fits(tables: CorpusTables, corpus: ProjectCorpus) -> bool:
    return tables.codex is corpus.codex and corpus.matcher in (None, tables.matcher)


def _adopted(tables: CorpusTables, corpus: ProjectCorpus) -> bool:
    """Whether the tables could go over to another codex because its names are the same."""
    kept, matcher = corpus.kept, corpus.matcher
    if kept is None or matcher is None or tables.names != kept.names:
        return False
    tables.adopt(corpus.codex, matcher, kept)
    return True


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


_KEPT_LIVE: Final = 4
_LIVE_KEY: Final = ("live", "", None)
_SHAPING: Final = ("setting", "outline")  # kinds on which more than their own paragraphs depends


def with_live(tables: CorpusTables, document: Document) -> CorpusTables:
    """`tables` with `document` in the place of what is saved at its path, if anything is.

    Cost: the paragraphs of the document, about 1 ms for 20 kB; a look at the last four when it has not changed since.
    """
    known: list[tuple[Document, LiveTables]] = tables.memo.setdefault(_LIVE_KEY, [])
    for document_, found in known:
        if document_ is document:
            return found
    made = LiveTables(tables, document)
    known.append((document, made))
    del known[:-_KEPT_LIVE]
    return made


class LiveTables(CorpusTables):
    """See `with_live`. Shares with the saved ones whatever does not depend on the document."""

    def __init__(self, saved: CorpusTables, document: Document) -> None:
        super().__init__()
        saved.refresh_outline()
        self.codex, self.entities, self.matcher = saved.codex, saved.entities, saved.matcher
        self.texts, self.sections = dict(saved.texts), dict(saved.sections)
        self.outline, self.told = saved.outline, saved.told
        self.paragraphs = saved.paragraphs.fork()
        self._files, self._places = dict(saved._files), dict(saved._places)
        before = self._files.get(document.path)
        if before is not None:
            self._files[document.path] = File(before.document, before.names, list(before.keys))
        titles = _titles(saved, document.path)
        kinds = {document.kind} if before is None else {document.kind, before.document.kind}
        if not kinds.intersection(_SHAPING):
            self.sections_memo = saved.sections_memo
        self.update([document])
        # The lines of the outline hang on number and title of the chapters, and on nothing that is written in them.
        self._outline_stale = bool(kinds.intersection(_SHAPING)) or titles != _titles(self, document.path)


def _titles(tables: CorpusTables, path: str) -> list[tuple[int, str, int | None]]:
    return [(text.key, text.title, text.number) for text in tables.texts_of(path)]
