"""A question to the documents and sections that answer it, each with its reasons.

    understand -> people -> ranked lists -> timeline -> fusion -> mix -> evidence

Deterministic: the same project and question give the same answer in every process.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from armarius.codex import Codex
from armarius.documents.document import Document
from armarius.graph.additions import Known
from armarius.graph.timeout import GraphGuard
from armarius.records import Evidence, Omission
from armarius.retrieval.corpus.corpus import Library
from armarius.retrieval.fusion import Mixed, fuse, mix, rare_first
from armarius.retrieval.grep_fallback import unread
from armarius.retrieval.hits import Hit, Outcome, Retrieval
from armarius.retrieval.signals.bm25_query import SHORT, short_groups
from armarius.retrieval.signals.explain import reasons
from armarius.retrieval.signals.phrases import is_content, occurs
from armarius.retrieval.signals.rankings import Ranking, grounded, rankings
from armarius.retrieval.signals.vectors import VectorSearch, nearby
from armarius.retrieval.timings import Clock
from armarius.retrieval.trace import Found
from armarius.retrieval.understand.query import Understanding, understand
from armarius.retrieval.understand.relations import Ties
from armarius.retrieval.understand.subjects import People, people_of
from armarius.retrieval.understand.timeline import Timeline
from armarius.text.matcher import EntityMatcher

__all__ = ["Retriever"]

_FILES_ALONE = Known()
_WITHHELD = 10
_SECTIONS = 5


class Retriever:
    """Answers questions about one project. Threads may share it; they take turns, but not at asking the graph.

    Args:
        root: The project folder, for phrases that no document read so far holds; None never looks at files.
        vectors: Documents near in meaning, when there is a model.
        graph: For `ask_graph`: where relation words lead, beside the files.
    """

    def __init__(
        self, root: Path | None = None, *, vectors: VectorSearch | None = None, graph: GraphGuard | None = None
    ) -> None:
        self._root = root
        self._graph = graph
        self._vectors = vectors
        self._lock = threading.RLock()
        self._library: Library | None = None
        self._taken: dict[str, Document] = {}
        self._latest: Mapping[str, Document] | None = None
        self._ties: dict[int | None, Ties] = {}

    @property
    def library(self) -> Library | None:
        """What is known of the project; None before the first `sync`."""
        return self._library

    def sync(self, documents: Mapping[str, Document], codex: Codex, matcher: EntityMatcher | None = None) -> None:
        """Bring what is known up to these documents and this codex; neither may be changed afterwards.

        Args:
            documents: By path.
            codex: Its entities are looked for.
            matcher: Finds them; one of the names alone when not given.

        Cost: one look at each document; those that changed are read again, all of them when codex or matcher changed.
        """
        with self._lock:
            library = self._library
            if library is not None and (library.codex is not codex or matcher not in (None, library.matcher)):
                library = self._library = None
            if library is not None and self._latest is documents:
                return
            self._latest = documents
            if library is None:
                self._library = Library.of(documents.values(), codex, matcher)
                self._ties.clear()
            else:
                for path in [path for path in self._taken if path not in documents]:
                    library.remove(path)
                for path, document in documents.items():
                    known = self._taken.get(path)
                    if known is not document and (known is None or known != document):
                        library.update(document)
                        if document.kind == "setting":
                            self._ties.clear()
            self._taken = dict(documents)

    @contextmanager
    def at(
        self, documents: Mapping[str, Document], codex: Codex, matcher: EntityMatcher | None = None
    ) -> Iterator["Retriever"]:
        """This retriever, kept at these documents and this codex until the block ends; others wait."""
        with self._lock:
            self.sync(documents, codex, matcher)
            yield self

    def ask_graph(
        self,
        query: str,
        documents: Mapping[str, Document],
        codex: Codex,
        matcher: EntityMatcher | None = None,
        *,
        chapter: int | None = None,
    ) -> Known:
        """What the graph knows of a question about these documents; for `find`, before a block of `at` over the same.

        Cost: the understanding of the question, and the graph when it names somebody and a relation.
        """
        if self._graph is None:
            return _FILES_ALONE
        with self.at(documents, codex, matcher):
            steps = self._steps(query, chapter)
        return self._graph.around(*steps) if steps else _FILES_ALONE

    def retrieve(
        self, query: str, *, limit: int = 5, chapter: int | None = None, known: Known = _FILES_ALONE
    ) -> Retrieval:
        """The documents and sections that answer `query`, best first.

        Args:
            query: The user's words.
            limit: At most so many hits, >= 0.
            chapter: The chapter the user is in: later ones are withheld unless the question names them.
            known: From `ask_graph`; by default the files alone are asked.

        Raises:
            ValueError: `limit` is negative.

        Cost: about 1 ms on 120 chapters of a million characters in all; see benches/results.
        """
        return self.find(query, limit=limit, chapter=chapter, known=known).answer

    def find(
        self,
        query: str,
        *,
        limit: int = 5,
        chapter: int | None = None,
        known: Known = _FILES_ALONE,
        explained: int | None = None,
    ) -> Found:
        """`retrieve`, with what led to the answer.

        With `explained`, only the first so many texts carry their evidence: most of the cost of a long answer.
        """
        if limit < 0:
            raise ValueError(f"limit must be >= 0, got {limit}")
        with self._lock:
            return self._find(query, limit, chapter, known, explained)

    def _find(self, query: str, limit: int, chapter: int | None, known: Known, explained: int | None) -> Found:
        clock = Clock()
        library = self._library
        if library is None:
            asked = Understanding(query)
            answer = Retrieval((), asked, "index not ready", stages=clock.stages)
            return Found(answer, People((), {}, {}), [], [])
        asked = _understood(library, query, chapter)
        clock.lap("understand")
        ties = self._ties_at(chapter)
        people = people_of(library, ties.beside(known, chapter=chapter) if known.relations else ties, asked)
        clock.lap("people")
        lists = rankings(library, asked, people)
        clock.lap("search")
        warnings = list(known.warnings)
        if self._vectors is not None:
            lists += nearby(self._vectors, library, query, warnings)
        clock.lap("vectors")
        lists = list(_wanted(library, asked, lists))
        timeline = Timeline.of(asked, chapter)
        lists, later = timeline.split(library, lists)
        matching = _matching(library, asked)
        backup = [key for ranking in lists if ranking.kind == "vector" for key in ranking.keys]
        exact = [ranking for ranking in lists if ranking.kind != "vector"]
        mixed = mix(library, asked, people, rare_first(library, asked, exact, fuse(exact)), matching, backup)[:limit]
        clock.lap("fuse")
        texts = [one for one in mixed if not one.is_section]
        told = mixed if explained is None else texts[:explained]
        why = {(one.is_section, one.key): reasons(library, asked, people, lists, one) for one in told}
        hits = [_hit(library, one, why.get((one.is_section, one.key), ())) for one in mixed]
        if self._root is not None and len(hits) < limit:
            hits += unread(self._root, library, asked.phrases, hits, warnings)[: limit - len(hits)]
        clock.lap("explain")
        outcome: Outcome = "found" if hits else "source failed" if warnings else "nothing found"
        answer = Retrieval(
            hits=tuple(hits),
            understanding=asked,
            outcome=outcome,
            omitted=(*_withheld(library, later[:_WITHHELD], chapter), *_unasked(known)),
            warnings=tuple(warnings),
            stages=clock.stages,
        )
        return Found(answer, people, lists, mixed, known)

    def _steps(self, query: str, chapter: int | None) -> tuple[list[str], int, Codex] | None:
        """Around whom the graph is to be asked, as far as the words lead, beside which codex; None: not at all."""
        library = self._library
        if library is None:
            return None
        asked = _understood(library, query, chapter)
        if not asked.entities or not asked.relations:
            return None
        ties = self._ties_at(chapter)
        # A word of several steps may take the first of them in the files.
        starts = dict.fromkeys(asked.entities)
        for path in {word.path[:end] for word in asked.relations for end in range(1, len(word.path))}:
            starts |= dict.fromkeys(tie.other for id_ in asked.entities for tie, _ in ties.walk(id_, path))
        depth = max(1, *(len(word.path) for word in asked.relations))
        return sorted(starts), depth, library.codex

    def _ties_at(self, chapter: int | None) -> Ties:
        assert self._library is not None
        # Only relations that begin or end somewhere depend on the chapter.
        bounded = any(r.since is not None or r.until is not None for r in self._library.codex.relations)
        at = chapter if bounded else None
        if at not in self._ties:
            if len(self._ties) > 8:
                self._ties.clear()
            self._ties[at] = Ties(self._library, chapter=at)
        return self._ties[at]


def _understood(library: Library, query: str, chapter: int | None) -> Understanding:
    asked = understand(
        query,
        matcher=library.matcher,
        chapters=library.chapter_numbers,
        current=chapter,
        is_content=partial(is_content, library),
    )
    absent = [f"“{phrase}” occurs in no document" for phrase in asked.phrases if not occurs(library, phrase)]
    return replace(grounded(library, asked), remarks=(*asked.remarks, *absent))


def _wanted(library: Library, asked: Understanding, lists: Sequence[Ranking]) -> Iterator[Ranking]:
    """The lists without the chapters that the question excludes."""
    for ranking in lists:
        yield replace(ranking, keys=tuple(k for k in ranking.keys if library.texts[k].number not in asked.excluded))


def _matching(library: Library, asked: Understanding) -> list[tuple[int, float]]:
    """Sections by the words of the question."""
    found = library.section_index.search(short_groups(asked), limit=_SECTIONS, **SHORT)
    return [(key, score / found[0][1]) for key, score, _ in found]


def _hit(library: Library, one: Mixed, evidence: tuple[Evidence, ...]) -> Hit:
    score = round(one.score, 4)
    if one.is_section:
        section = library.sections[one.key]
        return Hit(section.path, section.section, score, evidence)
    text = library.texts[one.key]
    return Hit(text.path, text.section, score, evidence)


def _withheld(library: Library, keys: Sequence[int], chapter: int | None) -> Iterator[Omission]:
    for key in keys:
        text = library.texts[key]
        detail = f"chapter {text.number} is later than chapter {chapter}"
        yield Omission(f"text:{text.path}", "retrieved", text.path, "timeline", detail)


def _unasked(known: Known) -> Iterator[Omission]:
    if known.failure:
        yield Omission("graph", "retrieved", "kg:related", "source failed", known.failure)
