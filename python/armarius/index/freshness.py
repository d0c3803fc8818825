"""`Freshness`: whether a store equals the texts, the codex and the configuration that it is made from."""

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from armarius.codex.authored.protocol import Authored
from armarius.corpus.part import FORM
from armarius.corpus.part import KIND as PART
from armarius.index.commits import Commits
from armarius.index.settings import LiveConfig
from armarius.index.snapshot import Snapshot
from armarius.index.source import DocumentSource, SourceChanges
from armarius.store.protocol import Store
from armarius.store.rows import Change, FileRow, Note, Put, Remove

GRAPH: Final = "graph"  # note: digest of the codex
NAMES: Final = "names"  # note: digest of the matched names; "" while documents were matched with different ones
READER: Final = "reader"  # note: version and settings of the document reader
MAPPED: Final = "mapped"  # note: digests of what the map was decided from, and of the map
_QUICK_SECONDS: Final = 0.02  # processor time; a comparison that is faster runs before every answer, watched or not


@dataclass(frozen=True, slots=True)
class IndexContents:
    """The files and notes of a store at one generation.

    Attributes:
        store: The store.
        generation: Generation of the store.
        files: Rows by path, in path order.
        notes: By key, those that say what the rows were made from; None where there is none.
    """

    store: Store
    generation: int
    files: Mapping[str, FileRow]
    notes: Mapping[str, str | None]

    @classmethod
    def of(cls, store: Store) -> Self:
        """The contents of the store as it is now."""
        generation, keys = store.generation(), (GRAPH, NAMES, READER, PART, MAPPED)
        return cls(store, generation, store.files(), {key: store.note(key) for key in keys})

    def after(self, changes: Sequence[Change], generation: int) -> Self:
        """The contents after `changes`, without reading the store. `changes` must hold no `Restamp`.

        Cost: linear in the changes, and a copy of `files`.
        """
        files, known = dict(self.files), len(self.files)
        notes = dict(self.notes)
        for change in changes:
            if isinstance(change, Put):
                files[change.document.path] = FileRow(change.stamp, change.document.content_hash)
            elif isinstance(change, Remove):
                files.pop(change.path, None)
            elif isinstance(change, Note) and change.key in notes:
                notes[change.key] = change.value
        if len(files) > known:
            files = dict(sorted(files.items()))
        return replace(self, generation=generation, files=files, notes=notes)


class Freshness:
    """Knows whether a store equals what it is made from; everything else of the index asks it. Not thread-safe.

    Args:
        source: Source of the documents.
        authored: The user's codex and records.
        config: The live configuration.
        is_followed: Whether a watcher follows the texts and saw no change.

    Attributes:
        equal: The store and generation that the last comparison found equal to everything; else None.
        is_quick: Whether a comparison of the texts that finds no change costs little: less than 20 ms of processor time
            (10,000 files, and any number where the kernel keeps a queue of events).
    """

    def __init__(
        self, source: DocumentSource, authored: Authored, config: LiveConfig, is_followed: Callable[[], bool]
    ) -> None:
        self.equal: tuple[Store, int] | None = None
        self.is_quick = True
        self._source, self._authored, self._config, self._is_followed = source, authored, config, is_followed
        self._contents: IndexContents | None = None
        self._stamp = ""  # of the texts, at the last comparison of all of them
        self._texts: tuple[str, int] | None = None  # a stamp of the texts, and the generation that equals them
        self._codex: str | None = None  # stamp of the files that the snapshot was made from
        self._kept: str | None = None  # stamp of those whose codex and records the store holds
        self._world: tuple[Store | None, str, str] = (None, "", "")  # where the snapshot was read, and its digests
        self._mapped: tuple[Store, str | None, str] | None = None  # the store whose map is held, its note, the settings

    def contents(self, store: Store) -> IndexContents:
        """The contents of the store; read again when its generation changed."""
        known = self._contents
        if known is None or known.store is not store or known.generation != store.generation():
            known = self._contents = IndexContents.of(store)
        return known

    def may_be_believed(self) -> bool:
        """Whether an answer needs no comparison: it would be slow, and a watcher saw no change."""
        return not self.is_quick and self._is_followed() and not self.is_codex_changed()

    def differs(self, store: Store) -> int:
        """Number of documents that differ from the index; -1 if something else may. Cost: one comparison."""
        known, started = self.contents(store), time.thread_time()
        self._stamp = self._source.stamp()
        certain = doubtful = 0
        is_same = bool(self._stamp) and self._texts == (self._stamp, known.generation)
        if not is_same:
            difference = self._source.compare(known.files)
            certain, doubtful = difference.certain, difference.doubtful
            if self._stamp and not (difference.to_read or difference.removed):
                self._texts = self._stamp, known.generation
        if is_same or os.name == "nt":  # there each comparison is a walk; elsewhere a walk is the price of a change
            self.is_quick = time.thread_time() - started < _QUICK_SECONDS
        others = doubtful or self.is_of_another(known) or self.is_codex_changed() or self._config.is_stale()
        found = certain or (-1 if others or not self.has_map(known) else 0)
        self.equal = None if found else (store, known.generation)
        return found

    def compare(self, known: IndexContents, *, only: Collection[str], force: bool) -> SourceChanges:
        """What of the texts, or of these paths, differs from the store; `force`: all of it."""
        self.equal, self._stamp = None, self._source.stamp()
        return self._source.compare(known.files, only=only, force=force)

    def is_read(self, known: IndexContents) -> bool:
        """Whether the documents were read by the present reader, settings and form of rows."""
        return (known.notes[READER], known.notes[PART]) == (self._config.note, FORM) or not known.files

    def is_codex_changed(self) -> bool:
        """Whether a file of the codex or of records changed since it was read. Cost: one stat of each."""
        return self._authored.stamp() != self._codex

    def is_of_another(self, known: IndexContents) -> bool:
        """Whether there is no snapshot of this store, or another process has written a newer codex."""
        store, graph, names = self._world
        is_same = known.notes[GRAPH] in (None, graph) and known.notes[NAMES] in (None, "", names)
        return store is not known.store or not is_same

    def is_kept(self, known: IndexContents) -> bool:
        """Whether the store holds the codex of the snapshot, and the records."""
        return self._kept == self._codex and known.notes[GRAPH] == self._world[1]

    def has_map(self, known: IndexContents) -> bool:
        """Whether the map that is held is that of the store, by the present configuration."""
        return self._mapped == (known.store, known.notes[MAPPED], self._config.note)

    def read_codex(self, make: Callable[[], Snapshot], store: Store | None = None) -> Snapshot:
        """The snapshot of the codex files as they are now, and of the profiles of `store`, if it was read again."""
        stamp = self._authored.stamp()
        made = make()
        self._codex, self._world = stamp, (store or self._world[0], made.codex_digest, made.match_digest)
        self._kept = None if store is not None else self._kept
        return made

    def read_map(self, known: IndexContents) -> None:
        """The map was read from the store."""
        self._mapped = known.store, known.notes[MAPPED], self._config.note

    def wrote(self, known: IndexContents, commits: Commits, mapped: str | None, *, all_texts: bool) -> None:
        """A refresh has ended.

        Args:
            known: What the store held before it.
            commits: What it wrote.
            mapped: The note of the map.
            all_texts: It compared all texts.
        """
        done = not commits.outcome.cancelled
        self._kept = self._codex if done else None
        self._mapped = (known.store, mapped, self._config.note) if done and commits.alone else None
        if done and commits.alone and all_texts and self._stamp:
            self._texts = self._stamp, commits.generation
        if commits.restamped:  # perhaps without a generation
            self._contents = None
        elif commits.whole and commits.alone:
            self._contents = known.after(commits.whole, commits.generation)

    def look_again(self) -> None:
        """Read the store again: all writes inside one transaction have one generation."""
        self._contents = None

    def doubt(self) -> None:
        """A refresh failed: codex and map are read again."""
        self._codex = self._kept = self._mapped = None

    def forget(self) -> None:
        """The store was rolled back: everything is read again."""
        self.doubt()
        self._contents = self._texts = None
        self._world = (None, "", "")
