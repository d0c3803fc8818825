"""One refresh: compares a source with a store, and writes the differences and their derived rows.

No threads, no locks.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence

from armarius.codex.authored.protocol import Authored
from armarius.documents.document import Document, Skipped
from armarius.documents.project_map import ProjectMap
from armarius.index.commits import BATCH, Commits
from armarius.index.describing import Describing
from armarius.index.evidence import Decision, Evidence, as_mapped
from armarius.index.freshness import GRAPH, MAPPED, NAMES, READER, Freshness, IndexContents
from armarius.index.mentions import read_names, read_names_again
from armarius.index.settings import LiveConfig
from armarius.index.snapshot import Snapshot, pending_changes, snapshot_after, snapshot_of
from armarius.index.source import DocumentSource, ReadBatch
from armarius.index.status import Outcome, Progress
from armarius.store.protocol import Store
from armarius.store.rows import Change, Note, Put, Remove, Restamp


class Refresher:
    """Updates a store from a source, and holds the snapshot (codex, matcher) and the map of the last refresh.

    Args:
        source: Source of the documents.
        authored: The user's codex and records.
        config: The live configuration.
        fresh: Knows what of them the store lacks.

    Attributes:
        snapshot: Codex and matcher, or None before the first refresh.
        map: What the files are.
        skipped: Skipped files by path.
        progress: Progress of the current or last refresh.
        cancelled: Set it to stop after the current transaction.
        loaded: Set once there is a snapshot.
    """

    def __init__(self, source: DocumentSource, authored: Authored, config: LiveConfig, fresh: Freshness) -> None:
        self.config = config
        self.snapshot: Snapshot | None = None
        self.map = ProjectMap()
        self.skipped: dict[str, Skipped] = {}
        self.progress = Progress(0, 0, "")
        self.cancelled = threading.Event()
        self.loaded = threading.Event()
        self._source = source
        self._authored = authored
        self._describing = Describing(authored)
        self._evidence = Evidence(config)
        self._fresh = fresh

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
            self._fresh.doubt()
            raise

    def _refresh(
        self, store: Store, paths: Collection[str] | None, report: Callable[[Progress], None] | None
    ) -> Outcome:
        started = time.monotonic()
        self.config.reload()
        known = self._fresh.contents(store)
        reader = self.config.note
        force = known.notes[READER] != reader
        only = () if paths is None or force else paths
        difference = self._fresh.compare(known, only=only, force=force)
        if self._fresh.is_of_another(known):
            self.load_snapshot(store)
        if not only:
            self.skipped = {}
        self.skipped.update((skipped.path, skipped) for skipped in difference.skipped)
        self.progress = Progress(0, len(difference.to_read) + len(difference.removed), "")

        def unsettled() -> list[Change]:
            is_same = known.notes[NAMES] in ("", self._snapshot.match_digest)
            return [Note(key, "") for key in ((MAPPED,) if is_same else (MAPPED, NAMES))]

        commits = Commits(
            store, known.generation, self.progress, lambda done: self._report(done, report), self.cancelled.is_set,
            unsettled,
        )  # fmt: skip
        decision = self._decision(known)
        written: dict[str, str] = {}  # path to the digest of the names that were matched in it
        rest: list[Change] = []
        graph, is_kept = known.notes[GRAPH], self._fresh.is_kept(known)
        for found in self._decided(self._source.read(difference, known.files), decision, commits):
            if not commits.flush():
                break
            if self._take_in(store, found) or self._fresh.is_codex_changed():
                self._renew_world()
                is_kept = False
            if not is_kept:
                commits.before(pending_changes(self._snapshot, self._authored, store, graph))
                graph, is_kept = self._snapshot.codex_digest, True
            if not self._write(commits, found.changes, written):
                break
        else:
            rest += read_names_again(self._snapshot, self._fresh.contents(store), written)
            rest += self._describing.unkept()
            rest += [*self._evidence.unkept(), *decision.notes()]
            if force:
                rest.append(Note(READER, reader))
            commits.finish(rest)
        self._fresh.wrote(known, commits, decision.noted, all_texts=not only)
        outcome = commits.outcome
        outcome.skipped = tuple(self.skipped[path] for path in sorted(self.skipped))
        outcome.seconds = time.monotonic() - started
        return outcome

    def load_snapshot(self, store: Store) -> Snapshot:
        """Build codex and matcher from the store."""
        self._describing.load(store)
        self._describing.count(store)
        self.snapshot = self._fresh.read_codex(lambda: snapshot_of(self._describing.codex()), store)
        self.loaded.set()
        return self.snapshot

    def forget(self) -> None:
        """Drop all state that was read from the store: its transaction may have been rolled back."""
        self.snapshot = None
        self._fresh.forget()
        self.config.forget()

    def is_equal(self, store: Store) -> bool:
        """Whether the store is up to date, whichever process wrote it. Reads configuration, codex and map first."""
        self.config.reload()
        if self.snapshot is None:
            self.load_snapshot(store)
        known = self._fresh.contents(store)
        self._decision(known)
        return self._fresh.is_read(known) and self._fresh.differs(store) == 0

    def as_mapped(self, document: Document, store: Store) -> Document:
        """A document that was just read, with the kind and the number of the map.

        A text that says something else of itself than the one that was mapped keeps what it says.
        """
        found = as_mapped(document, self.map, self.config.folders)
        row = None if found is document else self._fresh.contents(store).files.get(document.path)
        if row is None or row.content_hash == document.content_hash:
            return found
        own = self._evidence.one(store, document.path, row.content_hash)
        return found if own is not None and (own.kind, own.chapter) == (document.kind, document.chapter) else document

    @property
    def _snapshot(self) -> Snapshot:
        assert self.snapshot is not None, "asked before the first refresh"
        return self.snapshot

    def _decision(self, known: IndexContents) -> Decision:
        """The map of a refresh, which begins with that of the store."""
        decision = Decision(self._evidence, known, self.map if self._fresh.has_map(known) else None)
        if decision.before is not None:
            self.map = decision.before
            self._fresh.read_map(known)
        return decision

    def _decided(self, found: Iterator[ReadBatch], decision: Decision, commits: Commits) -> Iterator[ReadBatch]:
        """The batches with the kinds of the map; at last the documents of the store whose kind they change."""
        for batch in found:
            decision.take(batch)
            self.map = decision.map
            yield batch
        again = decision.again()
        self.map = decision.map
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
        self.snapshot = self._fresh.read_codex(lambda: snapshot_after(self.snapshot, self._describing.codex()))

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
            derived = [*self._describing.rows(documents), *self._evidence.rows(documents)]
            if not commits.documents(batch, [*read_names(self._snapshot, documents), *derived]):
                return False
            written.update((document.path, self._snapshot.match_digest) for document in documents)
        return True

    def _report(self, done: Progress, report: Callable[[Progress], None] | None) -> None:
        self.progress = done
        if report is not None:
            report(done)
