"""The corpus of what a store holds, for whoever asks about its texts and needs neither codex nor names."""

import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from armarius._core import Corpus, CorpusPart
from armarius.corpus.kept import PARTS
from armarius.corpus.paragraphs import KeptBytes, Paragraphs
from armarius.corpus.part import parts_of
from armarius.store.protocol import Store

__all__ = ["OpenCorpus"]


class OpenCorpus:
    """Brought to the moment of the store that is asked. Threads may share it.

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
