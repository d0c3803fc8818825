"""The corpus of what a store holds, for whoever asks about its texts and needs neither codex nor names."""

import threading
from contextlib import suppress

from armarius._core import Corpus, CorpusPart
from armarius.corpus.kept import KIND, is_about_text, unpack
from armarius.corpus.paragraphs import KeptBytes, Paragraphs
from armarius.corpus.part import parts_of
from armarius.store.protocol import Store
from armarius.store.rows import DocumentRow

__all__ = ["OpenCorpus"]

_FEW = 20  # documents whose rows are read one by one


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
            moment = (store, store.generation())
            if self._seen is None or self._seen[0] is not store or self._seen[1] != moment[1]:
                self._take_in(store, {row.path: row for row in store.documents()})
                self._seen = moment
            return self._paragraphs.corpus

    def _take_in(self, store: Store, rows: dict[str, DocumentRow]) -> None:
        for path in [path for path in self._texts if path not in rows]:
            self._paragraphs.remove(path)
        changed = [row for path, row in rows.items() if self._texts.get(path) != row.content_hash]
        kept = _kept(store, changed)
        self._paragraphs.open(kept, lambda path: _worked_out(store, [path])[path])
        missing = {row.path for row in changed} - {path for path, *_ in kept}
        for path, part in _worked_out(store, sorted(missing)).items():
            self._paragraphs.update(path, part)
        self._texts = {path: row.content_hash for path, row in rows.items()}


def _kept(store: Store, rows: list[DocumentRow]) -> list[KeptBytes]:
    """What is kept of documents, as far as it is about their texts."""
    if not rows:
        return []
    learnt = store.learnt(KIND, None if len(rows) > _FEW else [row.path for row in rows])
    found: list[KeptBytes] = []
    for row in rows:
        one = learnt.get(row.path)
        if one is not None and is_about_text(one.about, row.content_hash):
            with suppress(ValueError):
                found.append((row.path, row.paragraphs, one.data, unpack(one.data).part))
    return found


def _worked_out(store: Store, paths: list[str]) -> dict[str, CorpusPart]:
    if not paths:
        return {}
    from armarius.text.matcher import EntityMatcher  # a process that only searches has everything kept

    documents = store.documents_of(paths)
    return {one.path: part.part for one, part in zip(documents, parts_of(documents, EntityMatcher([])), strict=True)}
