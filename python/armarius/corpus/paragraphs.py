"""The core's corpus of a project (`Paragraphs`) or a store (`StoreCorpus`): one part per document; ranking by words.

`by_words` ranks paragraphs by BM25 on the paragraph alone, for `search`. A question also scores what stands around a
paragraph.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Final, NamedTuple

from armarius._core import Corpus, CorpusGroup, CorpusPart, CorpusQuery, CorpusScores, CorpusWeights
from armarius.corpus.part import PARTS, parts_of
from armarius.store.protocol import Store

_FEW = 8  # parts that are read at once
KeptBytes = tuple[str, int, bytes, int]
"""Path, number of paragraphs, bytes, where the part begins in them."""


class Paragraphs:
    """The parts of a project, and the corpus of them; not thread safe while it changes."""

    def __init__(self) -> None:
        self._corpus = Corpus([])
        self._changed: dict[str, CorpusPart] = {}
        self._removed: set[str] = set()
        self._opening: tuple[Future[tuple[Corpus, dict[str, str]]], Callable[[str], CorpusPart]] | None = None

    def open(self, parts: Sequence[KeptBytes], anew: Callable[[str], CorpusPart]) -> None:
        """Take in what a store kept of documents that are new or changed.

        A whole project is read by a thread of its own while the question is being understood; `corpus` waits for it.

        Args:
            parts: Their bytes.
            anew: Makes the part of a document anew when its bytes are damaged.

        Cost: a check of every byte, and one merge; both on all cores.
        """
        self._finish()
        if len(parts) > _FEW and not len(self._corpus) and not self._changed:
            reader = ThreadPoolExecutor(1, "armarius-corpus")
            self._opening = reader.submit(_recovered, parts), anew
            reader.shutdown(wait=False)
            return
        for path, paragraphs, data, begin in parts:
            try:
                self.update(path, _read(path, paragraphs, data[begin:]))
            except ValueError as error:
                self.update(path, _mended(path, str(error), anew))

    def update(self, path: str, part: CorpusPart) -> None:
        """Take in a new or changed document."""
        self._changed[path] = part
        self._removed.discard(path)

    def remove(self, path: str) -> None:
        """Forget a document; unknown paths are no error."""
        self._changed.pop(path, None)
        self._removed.add(path)

    def fork(self) -> "Paragraphs":
        """The same, to be changed by itself."""
        other = Paragraphs()
        other._corpus = self.corpus
        return other

    @property
    def corpus(self) -> Corpus:
        """The corpus of this moment. Cost: a few milliseconds after a change."""
        self._finish()
        if self._changed or self._removed:
            removed = sorted(self._removed & set(self._corpus.paths)) if self._removed else []
            self._corpus = self._corpus.with_parts(list(self._changed.values()), removed)
            self._changed, self._removed = {}, set()
        return self._corpus

    def _finish(self) -> None:
        """Take in what was read; a caller that is interrupted while waiting leaves it to the next."""
        if self._opening is not None:
            reading, anew = self._opening
            self._corpus, damaged = reading.result()
            mended = {path: _mended(path, why, anew) for path, why in damaged.items() if path not in self._removed}
            self._changed, self._opening = mended | self._changed, None


def _recovered(parts: Sequence[KeptBytes]) -> tuple[Corpus, dict[str, str]]:
    """The corpus of what can be read, and of the other paths why they cannot."""
    try:
        return Corpus.recover(list(parts))
    except Exception as error:  # noqa: BLE001 - all of it can be made anew
        return Corpus([]), dict.fromkeys((path for path, *_ in parts), f"{type(error).__name__}: {error}")


def _read(path: str, paragraphs: int, data: bytes) -> CorpusPart:
    part = CorpusPart.from_bytes(data)
    if (part.path, len(part)) != (path, paragraphs):
        raise ValueError(f"corpus part is damaged: of another document, {part.path} of {len(part)} paragraphs")
    return part


def _mended(path: str, why: str, anew: Callable[[str], CorpusPart]) -> CorpusPart:
    import logging  # as good as never, and a search from the command line is quick

    logging.getLogger("armarius").warning("%s: %s; it is worked out again", path, why)
    return anew(path)


class StoreCorpus:
    """The full-text corpus of a store, without codex: brought to the generation that is asked. Threads may share it.

    It equals the corpus of retrieval in everything that words are ranked by; which names stand in its paragraphs is as
    old as the rows that were kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paragraphs = Paragraphs()
        self._seen: tuple[Store, int] | None = None
        self._texts: dict[str, str] = {}

    def at(self, store: Store) -> Corpus:
        """The corpus of what `store` holds now.

        Raises:
            StoreError: The store cannot be read.

        Cost: nothing while nothing has changed; of what has, the kept rows are read and merged, all of a novel of
        900,000 characters in about 25 ms; what is not kept is worked out of the text.
        """
        with self._lock:
            now = store.generation()
            if self._seen is None or self._seen[0] is not store or self._seen[1] != now:
                self._seen = (store, self._brought(store, now))
            return self._paragraphs.corpus

    def _brought(self, store: Store, now: int) -> int:
        """Take in what differs; of which generation that is."""
        if self._seen is not None and self._seen[0] is store:
            changed = store.changed(self._seen[1])
            if not changed.whole:
                rows = [_Row(one.path, one.content_hash, one.paragraph_count) for one in changed.documents]
                self._take_in(store, rows, changed.removed)
                return changed.generation
        rows = [_Row(one.path, one.content_hash, one.paragraphs) for one in store.documents()]
        self._take_in(store, rows, self._texts.keys() - {row.path for row in rows})
        return now

    def _take_in(self, store: Store, rows: "Sequence[_Row]", gone: Iterable[str]) -> None:
        for path in sorted(gone):
            if self._texts.pop(path, None) is not None:
                self._paragraphs.remove(path)
        changed = [row for row in rows if self._texts.get(row.path) != row.content_hash]
        kept = _kept(store, changed)
        self._paragraphs.open(kept, lambda path: _worked_out(store, [path])[path])
        missing = {row.path for row in changed} - {path for path, *_ in kept}
        for path, part in _worked_out(store, sorted(missing)).items():
            self._paragraphs.update(path, part)
        self._texts.update((row.path, row.content_hash) for row in changed)


class _Row(NamedTuple):
    """A document, as far as its part is known by it."""

    path: str
    content_hash: str
    paragraphs: int


def _kept(store: Store, rows: Sequence[_Row]) -> list[KeptBytes]:
    """What is kept of documents, as far as it is about their texts, whichever names were looked for."""
    values = PARTS.load(store, {row.path: row.content_hash for row in rows}, or_others=True)
    return [(row.path, row.paragraphs, one.data, one.part) for row in rows if (one := values.get(row.path))]


def _worked_out(store: Store, paths: list[str]) -> dict[str, CorpusPart]:
    if not paths:
        return {}
    from armarius.text.matcher import EntityMatcher  # a process that only searches has everything kept

    documents = store.documents_of(paths)
    return {one.path: part.part for one, part in zip(documents, parts_of(documents, EntityMatcher([])), strict=True)}


PARAGRAPH_K1: Final = 2.0
"""How soon more occurrences in a paragraph stop counting; chosen with the weights of questions."""
PARAGRAPH_B: Final = 0.75
"""How much long paragraphs are held back."""

_WORDS = "words"


def by_words(corpus: Corpus, words: Sequence[str]) -> CorpusScores:
    """The paragraphs of a project for `words`, each of which may be several terms that stand together.

    Cost: the postings of their terms.
    """
    groups = [CorpusGroup(_WORDS, [(word, 1.0)]) for word in words]
    return corpus.score(CorpusQuery(_weights(), groups))


@cache
def _weights() -> CorpusWeights:
    """The paragraph's own words and nothing else: a heading that holds them is as good as a sentence."""
    families = [(_WORDS, 1.0, (PARAGRAPH_B,) * 4)]
    return CorpusWeights(families, k1=(PARAGRAPH_K1,) * 4, paragraph=1.0, d=1.0, heading=1.0)
