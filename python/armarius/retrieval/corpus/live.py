"""The tables of a project with one document as an editor holds it: what it says and where is what the buffer says.

Ranked as if it had been saved: its paragraphs compete with those of the whole project, by the rarities of the whole
project with them in it. The project's own tables are not touched.
"""

from typing import Final

from armarius.documents.document import Document
from armarius.retrieval.corpus.tables import CorpusTables, File

__all__ = ["LiveTables", "with_live"]

_KEPT: Final = 4
_KEY: Final = ("live", "", None)
_SHAPING: Final = ("setting", "outline")  # kinds on which more than their own paragraphs depends


def with_live(tables: CorpusTables, document: Document) -> CorpusTables:
    """`tables` with `document` in the place of what is saved at its path, if anything is.

    Cost: the paragraphs of the document, about 1 ms for 20 kB; a look at the last four when it has not changed since.
    """
    known: list[tuple[Document, LiveTables]] = tables.memo.setdefault(_KEY, [])
    for document_, found in known:
        if document_ is document:
            return found
    made = LiveTables(tables, document)
    known.append((document, made))
    del known[:-_KEPT]
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
