"""One refresh: compares a source with a store, and writes the differences and their derived rows.

No threads, no locks.
"""

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence

from armarius.codex.authored.protocol import Authored
from armarius.corpus.part import FORM
from armarius.documents.document import Skipped
from armarius.index.commits import BATCH, Commits, ContentsCache, IndexContents
from armarius.index.describing import Describing
from armarius.index.mapping import Mapper
from armarius.index.mentions import read_names, read_names_again
from armarius.index.settings import LiveConfig
from armarius.index.snapshot import Snapshot, pending_changes, snapshot_after, snapshot_of
from armarius.index.source import DocumentSource, ReadBatch
from armarius.index.status import Outcome, Progress
from armarius.store.protocol import Store
from armarius.store.rows import Change, Note, Put, Remove, Restamp


class Refresher:
    """Updates a store from a source, and holds the snapshot (codex, matcher) of the last refresh.

    Args:
        source: Source of the documents.
        authored: The user's codex and records.
        config: The live configuration.

    Attributes:
        snapshot: Codex and matcher, or None before the first refresh.
        skipped: Skipped files by path.
        progress: Progress of the current or last refresh.
        cancelled: Set it to stop after the current transaction.
        loaded: Set once there is a snapshot.
        compare_seconds: Processor time, in seconds, of the last comparison that found nothing changed.
    """

    def __init__(self, source: DocumentSource, authored: Authored, config: LiveConfig) -> None:
        self.config = config
        self.snapshot: Snapshot | None = None
        self.skipped: dict[str, Skipped] = {}
        self.progress = Progress(0, 0, "")
        self.cancelled = threading.Event()
        self.loaded = threading.Event()
        self.compare_seconds = 0.0
        self._source = source
        self._authored = authored
        self._describing = Describing(authored)
        self.mapper = Mapper(config)
        self._authored_stamp = ""
        self._in_store = False  # whether the store holds this snapshot's codex and records
        self._elsewhere = False  # whether the store is not the one that this snapshot was read from
        self._contents = ContentsCache()

    def refresh(
        self, store: Store, paths: Collection[str] | None, report: Callable[[Progress], None] | None = None
    ) -> Outcome:
        """Update `store` from the source, or from these paths of it.

        Writes one transaction, or one per 32 documents, the last with the rows that depend on all of them. If it
        fails, the next refresh builds the snapshot again.
        """
        try:
            return self._refresh(store, paths, report)
        except BaseException:
            self._authored_stamp = ""
            self.mapper.forget()
            raise

    def _refresh(
        self, store: Store, paths: Collection[str] | None, report: Callable[[Progress], None] | None
    ) -> Outcome:
        started = time.monotonic()
        self.config.reload()
        known = self._contents.of(store)
        reader = self.config.note
        force = known.reader != reader
        only = () if paths is None or force else paths
        stamp = self._source.stamp()
        difference = self._source.compare(known.files, only=only, force=force)
        if self._is_outdated(known):
            self.load_snapshot(store)
        if not only:
            self.skipped = {}
        self.skipped.update((skipped.path, skipped) for skipped in difference.skipped)
        self.progress = Progress(0, len(difference.to_read) + len(difference.removed), "")
        commits = Commits(
            store, known.generation, self.progress, lambda done: self._report(done, report), self.cancelled.is_set,
            lambda: [] if known.names == "" or known.names == self._snapshot.match_digest else [Note("names", "")],
        )  # fmt: skip
        written: dict[str, str] = {}  # path to the digest of the names that were matched in it
        rest: list[Change] = []
        graph, in_store, self._in_store = known.graph, self._in_store, False
        for found in self._decided(self._source.read(difference, known.files), known, commits):
            if not commits.flush():
                break
            if self._take_in(store, found) or self.is_authored_anew():
                self._renew_world()
                in_store = False
            if not in_store or graph != self._snapshot.codex_digest:
                commits.before(pending_changes(self._snapshot, self._authored, store, graph))
                graph, in_store = self._snapshot.codex_digest, True
            if not self._write(commits, found.changes, written):
                break
        else:
            rest += read_names_again(self._snapshot, self._contents.of(store), written)
            rest += self._describing.unkept()
            rest += self.mapper.unkept()
            if force:
                rest.append(Note("reader", reader))
            self._in_store = commits.finish(rest)
            if self._in_store and commits.alone and not only:
                self._contents.keep_equal(stamp, commits.generation)
        if commits.restamped:  # perhaps without a generation
            self._contents.look_again()
        elif commits.whole and commits.alone:
            self._contents.take(known, commits.whole, commits.generation)
        outcome = commits.outcome
        if outcome.cancelled:
            self.mapper.forget()
        outcome.skipped = tuple(self.skipped[path] for path in sorted(self.skipped))
        outcome.seconds = time.monotonic() - started
        return outcome

    def load_snapshot(self, store: Store) -> Snapshot:
        """Build codex and matcher from the store."""
        self._describing.load(store)
        self._describing.count(store)
        stamp, self._in_store = self._authored.stamp(), False
        self.snapshot = snapshot_of(self._describing.codex())
        self._authored_stamp, self._elsewhere = stamp, False
        self.loaded.set()
        return self.snapshot

    def forget(self) -> None:
        """Drop all state that was read from the store: its transaction may have been rolled back."""
        self.snapshot, self._authored_stamp = None, ""
        self._contents.forget()
        self.mapper.forget()
        self.config.forget()

    def begin_anew(self) -> None:
        """The store was replaced: read profiles again from it and from the files."""
        self._elsewhere = True
        self.mapper.forget()
        self._contents.forget()

    def look_again(self) -> None:
        """Read the store again: all writes inside one transaction have one generation."""
        self._contents.look_again()

    def differs(self, store: Store) -> int:
        """Number of documents that differ from the index; -1 if something else may. Cost: one comparison."""
        known = self._contents.of(store)
        started = time.thread_time()
        stamp = self._source.stamp()
        certain = doubtful = 0
        equal = self._contents.is_equal(stamp, known.generation)
        if not equal:
            difference = self._source.compare(known.files)
            certain, doubtful = difference.certain, difference.doubtful
            if not (difference.to_read or difference.removed):
                self._contents.keep_equal(stamp, known.generation)
        if equal or os.name == "nt":  # there each comparison is a walk; elsewhere a walk is the price of a change
            self.compare_seconds = time.thread_time() - started
        others = doubtful or self._is_outdated(known) or self.is_authored_anew() or self.config.is_stale()
        return certain or (-1 if others else 0)

    @property
    def compared(self) -> tuple[Store, int] | None:
        """The store and the generation that were compared last."""
        return self._contents.seen

    def is_equal(self, store: Store) -> bool:
        """Whether the store is up to date, whichever process wrote it. Reads configuration and codex first."""
        self.config.reload()
        if self.snapshot is None:
            self.load_snapshot(store)
        known = self._contents.of(store)
        self.mapper.follow(store, known.files, known.generation)
        read = (known.reader, known.form) == (self.config.note, FORM)
        return (read or not known.files) and self.differs(store) == 0

    def is_authored_anew(self) -> bool:
        """Whether a file of the codex or of records changed since it was read. Cost: one stat of each."""
        return self._authored.stamp() != self._authored_stamp

    @property
    def _snapshot(self) -> Snapshot:
        assert self.snapshot is not None, "asked before the first refresh"
        return self.snapshot

    def _is_outdated(self, known: IndexContents) -> bool:
        """No snapshot yet, or another process has written a newer codex."""
        world = self.snapshot
        return world is None or self._elsewhere or known.is_of_another(world.codex_digest, world.match_digest)

    def _decided(self, found: Iterator[ReadBatch], known: IndexContents, commits: Commits) -> Iterator[ReadBatch]:
        """The batches with the kinds of the map; at last the documents of the store whose kind they change."""
        self.mapper.follow(known.store, known.files, known.generation)
        written: list[str] = []
        for batch in found:
            self.mapper.take(batch)
            written = [one.path for one in batch.documents]
            yield batch
        again = self.mapper.again(known.store, written)
        if again.changes:
            done = commits.progress
            commits.progress = Progress(done.done, done.total + len(again.changes), done.path)
            yield again

    def _take_in(self, store: Store, found: ReadBatch) -> bool:
        """Take over skipped files, profiles and the story's uses of names; True when entities may have changed."""
        changed = False
        for change in found.changes:
            if isinstance(change, Restamp):
                continue
            path = change.path if isinstance(change, Remove) else change.document.path
            self.skipped.pop(path, None)
            if isinstance(change, Put):
                changed |= self._describing.take(change.document)
            else:
                changed |= self._describing.drop(path)
        self.skipped.update((skipped.path, skipped) for skipped in found.skipped)
        return self._describing.count(store) or changed

    def _renew_world(self) -> None:
        """Build the codex again from profiles and the user's files."""
        stamp = self._authored.stamp()
        self.snapshot = snapshot_after(self.snapshot, self._describing.codex())
        self._authored_stamp = stamp

    def _write(
        self,
        commits: Commits,
        changes: Sequence[Put | Remove | Restamp],
        written: dict[str, str],
    ) -> bool:
        """Commit documents in batches with their derived rows."""
        for at in range(0, len(changes), BATCH):
            batch = changes[at : at + BATCH]
            documents = [change.document for change in batch if isinstance(change, Put)]
            derived = [*self._describing.rows(documents), *self.mapper.rows(documents)]
            if not commits.documents(batch, [*read_names(self._snapshot, documents), *derived]):
                return False
            written.update((document.path, self._snapshot.match_digest) for document in documents)
        return True

    def _report(self, done: Progress, report: Callable[[Progress], None] | None) -> None:
        self.progress = done
        if report is not None:
            report(done)
