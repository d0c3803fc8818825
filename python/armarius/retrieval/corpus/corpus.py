"""The corpus: documents and codex of one moment, as retrieval asks them.

A corpus never changes. What it takes long to make, its tables, is handed from one moment to the next: asked, a corpus
brings them up to its own documents, and whoever asks another moment of the same project waits until it is done.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from armarius.codex import Codex
from armarius.corpus.kept import KeptParts
from armarius.documents.document import Document
from armarius.retrieval.corpus.tables import CorpusTables
from armarius.text.matcher import EntityMatcher

__all__ = ["Corpus"]


class Corpus:
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
        before: "Corpus | None" = None,
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

    def at(self, corpus: Corpus) -> CorpusTables:
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


def _fits(tables: CorpusTables, corpus: Corpus) -> bool:
    return tables.codex is corpus.codex and corpus.matcher in (None, tables.matcher)


def _adopted(tables: CorpusTables, corpus: Corpus) -> bool:
    """Whether the tables could go over to another codex because its names are the same."""
    kept, matcher = corpus.kept, corpus.matcher
    if kept is None or matcher is None or tables.names != kept.names:
        return False
    tables.adopt(corpus.codex, matcher, kept)
    return True
