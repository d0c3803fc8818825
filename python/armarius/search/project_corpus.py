"""`ProjectCorpus`: the documents and the codex of one moment, searched by one thread at a time."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from armarius.arguments import EVERYTHING, Bounds
from armarius.codex import Codex
from armarius.corpus.part import StoredParts
from armarius.documents.document import Document
from armarius.documents.project_map import ProjectMap
from armarius.search.corpus import NOTHING_OUTSIDE, Corpus, Outside
from armarius.text.matcher import EntityMatcher


class ProjectCorpus:
    """The documents and the codex of one moment, to be searched. Threads may share it; they take turns.

    Args:
        documents: By path; not to be changed afterwards.
        codex: Its entities are looked for.
        matcher: Finds them; one of the names alone when not given.
        ready: False while the project has not been read yet: then nothing is found because nobody could look.
        before: The corpus of an earlier moment of the project, to take indexes over from.
        kept: Where a store keeps what has been worked out of the documents, for the names of `matcher`.
        project_map: Of the documents: their order.

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
        kept: StoredParts | None = None,
        project_map: ProjectMap | None = None,
    ) -> None:
        self.documents = documents
        self.codex = codex
        self.matcher = matcher
        self.ready = ready
        self.kept = kept
        self.map = ProjectMap() if project_map is None else project_map
        self._shared: _Shared = _Shared() if before is None else before._shared

    @contextmanager
    def acquire(
        self, scope: Bounds = EVERYTHING, live: Document | None = None, outside: Outside = NOTHING_OUTSIDE
    ) -> Iterator[Corpus]:
        """The corpus of this moment until the block ends; other threads wait.

        Args:
            scope: What of it may be seen.
            live: A document as an editor holds it, in the place of what is saved.
            outside: The documents that are no candidates, as `armarius.search.scope` decides.

        Cost: one look at each document when another moment was asked before; those that differ are read again.
        """
        with self._shared.lock:
            whole = self._shared.at(self)

            def seen(outside: Outside) -> Corpus:
                corpus = whole.without(outside.paths)
                corpus = (corpus if live is None else corpus.with_live(live)).within(scope)
                corpus.outside, corpus.wider = outside, None
                return corpus

            corpus = seen(outside)
            if outside.paths != outside.always:
                corpus.wider = partial(seen, replace(outside, paths=outside.always))
            yield corpus


class _Shared:
    """The corpus of a project, brought to the moment that is asked. Hold the lock for as long as it is used."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._corpus: Corpus | None = None
        self._taken: Mapping[str, Document] = {}

    def at(self, moment: ProjectCorpus) -> Corpus:
        corpus, taken, wanted = self._corpus, self._taken, moment.documents
        codex, matcher, kept = moment.codex, moment.matcher, moment.kept
        self._corpus = None  # until the work is done: what fails half way is begun again
        same = corpus is not None and corpus.codex is codex and matcher in (None, corpus.matcher)
        if corpus is None or not (same or corpus.adopt(codex, matcher, kept)):
            corpus = Corpus(codex, matcher, kept)
            corpus.update(list(wanted.values()))
        elif taken is not wanted:
            for path in [path for path in taken if path not in wanted]:
                corpus.remove(path)
            changed = [one for path, one in wanted.items() if taken.get(path) is not one and taken.get(path) != one]
            if changed:
                corpus.update(changed)
        if corpus.map is not moment.map:
            corpus.adopt_map(moment.map)
        self._corpus, self._taken = corpus, wanted
        return corpus
