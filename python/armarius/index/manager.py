"""`IndexManager`: refreshes the store of an index when texts change, and repairs it when it is damaged.

`Refresher` is one refresh, without threads and locks: compares a source with a store, writes the differences and their
derived rows.
"""

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import Final, Literal, TypeVar

from armarius.codex.protocol import Authored
from armarius.deadline import is_ready, run_in_thread, wait_until
from armarius.documents.document import Document, Skipped
from armarius.documents.features import Features
from armarius.documents.project_map import ProjectMap
from armarius.errors import ContextWarning, StoreCorrupt, StoreError, message_of
from armarius.index.derived import Decision, KindEvidence, ProfileCache, as_mapped, read_names, read_names_again
from armarius.index.freshness import (
    BATCH,
    CODEX,
    MAPPED,
    NAMES,
    READER,
    Commits,
    Freshness,
    IndexContents,
    Outcome,
    Progress,
    Snapshot,
    moved_paths,
    snapshot_after,
    snapshot_of,
)
from armarius.index.source import DocumentSource, LiveConfig, ReadBatch
from armarius.io import without_paths
from armarius.store.protocol import Change, Lagging, Note, Put, Remove, Restamp, Store
from armarius.warnings import INDEX_BUILDING, INDEX_CANCELLED, INDEX_FAILED, INDEX_UNCOMPARED


class Refresher:
    """Updates a store from a source, and holds the snapshot (codex, matcher) and the map of the last refresh.

    Args:
        source: Source of the documents.
        authored: The user's codex and records.
        config: The live configuration.
        fresh: Knows what of them the store lacks.

    Attributes:
        config: As given, and `fresh`.
        snapshot: Codex and matcher, or None before the first refresh.
        map: What the files are.
        skipped: Skipped files by path.
        progress: Progress of the current or last refresh.
        cancelled: Set it to stop after the current transaction.
        loaded: Set once there is a snapshot.
        moves: Where texts that were moved lie now, by their former path, of each refresh; for whoever has records of
            them, who takes them out.
    """

    def __init__(self, source: DocumentSource, authored: Authored, config: LiveConfig, fresh: Freshness) -> None:
        self.config = config
        self.snapshot: Snapshot | None = None
        self.map = ProjectMap()
        self.skipped: dict[str, Skipped] = {}
        self.progress = Progress(0, 0, "")
        self.cancelled = threading.Event()
        self.loaded = threading.Event()
        self.moves: list[dict[str, str]] = []
        self._source = source
        self._authored = authored
        self._describing = ProfileCache(authored, config)
        self._evidence = KindEvidence(config)
        self.fresh = fresh

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
            self.fresh.forget_codex()
            raise

    def _refresh(
        self, store: Store, paths: Collection[str] | None, report: Callable[[Progress], None] | None
    ) -> Outcome:
        started = time.monotonic()
        self.config.reload()
        contents = self.fresh.contents(store)
        reader = self.config.note
        force = contents.notes[READER] != reader
        only = () if paths is None or force else paths
        difference = self.fresh.compare(contents, only=only, force=force)
        if self.fresh.is_of_another(contents):
            self.load_snapshot(store)
        if not only:
            self.skipped = {}
        self.skipped.update((skipped.path, skipped) for skipped in difference.skipped)
        self.progress = Progress(0, len(difference.to_read) + len(difference.removed), "")

        def pending_notes() -> list[Change]:
            is_same = contents.notes[NAMES] in ("", self._snapshot.match_digest)
            return [Note(key, "") for key in ((MAPPED,) if is_same else (MAPPED, NAMES))]

        commits = Commits(
            store, contents.generation, self.progress, lambda done: self._report(done, report), self.cancelled.is_set,
            pending_notes,
        )  # fmt: skip
        decision = self._decision(contents)
        written: dict[str, str] = {}  # path to the digest of the names that were matched in it
        after: dict[str, str] = {}
        rest: list[Change] = []
        codex, is_kept = contents.notes[CODEX], self.fresh.is_kept(contents)
        for batch in self._decide_kinds(self._source.read(difference, contents.files), decision, commits):
            if not commits.flush():
                break
            for change in batch.changes:
                if isinstance(change, Put):
                    after[change.document.path] = change.document.content_hash
                elif isinstance(change, Remove):
                    after[change.path] = ""
            if self._take_batch(store, batch) or self.fresh.is_codex_changed():
                # Build the codex again from profiles and the user's files
                self.snapshot = self.fresh.read_codex(lambda: snapshot_after(self.snapshot, self._describing.codex()))
                is_kept = False
            if not is_kept:
                commits.before([] if codex == self._snapshot.codex_digest else self._snapshot.rows())
                codex, is_kept = self._snapshot.codex_digest, True
            if not self._write(commits, batch.changes, written):
                break
        else:
            present = contents if commits.generation == contents.generation else self.fresh.contents(store)
            rest += read_names_again(self._snapshot, present, written)
            rest += self._describing.unsaved_rows()
            rest += [*self._evidence.unsaved_rows(), *decision.notes()]
            if force:
                rest.append(Note(READER, reader))
            commits.finish(rest)
        if moved := moved_paths(contents.files, after):
            self.moves.append(moved)
        self.fresh.wrote(contents, commits, decision.noted, all_texts=not only)
        outcome = commits.outcome
        outcome.skipped = tuple(self.skipped[path] for path in sorted(self.skipped))
        outcome.seconds = time.monotonic() - started
        return outcome

    def load_snapshot(self, store: Store) -> Snapshot:
        """Build codex and matcher from the store."""
        self._describing.load(store)
        self._describing.count(store)
        self.snapshot = self.fresh.read_codex(lambda: snapshot_of(self._describing.codex()), store)
        self.loaded.set()
        return self.snapshot

    def features(self, store: Store) -> dict[str, Features]:
        """The evidence of every document. Cost: linear in them the first time."""
        files = self.fresh.contents(store).files
        return self._evidence.all(store, {path: row.content_hash for path, row in files.items()})

    def forget(self) -> None:
        """Drop all state that was read from the store: its transaction may have been rolled back."""
        self.snapshot = None
        self.fresh.forget()
        self.config.forget()

    def is_equal(self, store: Store) -> bool:
        """Whether the store is up to date, whichever process wrote it. Reads configuration, codex and map first."""
        self.config.reload()
        if self.snapshot is None:
            self.load_snapshot(store)
        contents = self.fresh.contents(store)
        self._decision(contents)
        return self.fresh.is_read(contents) and self.fresh.differs(store) == 0

    def as_mapped(self, document: Document, store: Store) -> Document:
        """A document that was just read, with the kind and the number of the map.

        A text that says something else of itself than the one that was mapped keeps what it says.
        """
        result = as_mapped(document, self.map, self.config.folders)
        row = None if result is document else self.fresh.contents(store).files.get(document.path)
        if row is None or row.content_hash == document.content_hash:
            return result
        own = self._evidence.one(store, document.path, row.content_hash)
        return result if own is not None and (own.kind, own.chapter) == (document.kind, document.chapter) else document

    @property
    def _snapshot(self) -> Snapshot:
        assert self.snapshot is not None, "asked before the first refresh"
        return self.snapshot

    def _decision(self, contents: IndexContents) -> Decision:
        """The map of a refresh, which begins with that of the store."""
        decision = Decision(self._evidence, contents, self.map if self.fresh.has_map(contents) else None)
        if decision.before is not None:
            self.map = decision.before
            self.fresh.read_map(contents)
        return decision

    def _decide_kinds(self, batches: Iterator[ReadBatch], decision: Decision, commits: Commits) -> Iterator[ReadBatch]:
        """The batches with the kinds of the map; at last the documents of the store whose kind they change."""
        for batch in batches:
            decision.take(batch)
            self.map = decision.map
            yield batch
        again = decision.kind_changes()
        self.map = decision.map
        if again.changes:
            done = commits.progress
            commits.progress = Progress(done.done, done.total + len(again.changes), done.path)
            yield again

    def _take_batch(self, store: Store, batch: ReadBatch) -> bool:
        """Take over skipped files, profiles and the story's uses of names; True when entities may have changed."""
        changed = False
        for change in batch.changes:
            if isinstance(change, Restamp):
                continue
            path = change.path if isinstance(change, Remove) else change.document.path
            self.skipped.pop(path, None)
            if isinstance(change, Put):
                changed |= self._describing.take(change.document)
            else:
                changed |= self._describing.drop(path)
        self.skipped.update((skipped.path, skipped) for skipped in batch.skipped)
        return self._describing.count(store) or changed

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


_REST_SECONDS: Final = 1.0  # delay after opening, so that the first requests are not slowed down


class Filler:
    """Writes deferred full text of one store at a time, in a background thread."""

    def __init__(self) -> None:
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, store: Store) -> None:
        """Start to write the deferred full text of `store`, if there is any; returns at once."""
        if not isinstance(store, Lagging) or (self._thread is not None and self._thread.is_alive()):
            return
        if store.lags():
            self._ending = ending = threading.Event()
            thread = threading.Thread(target=_fill, args=(store, ending), name="armarius-filler", daemon=True)
            with suppress(RuntimeError):  # no thread available: the next search writes the full text
                thread.start()
                self._thread = thread

    def end(self) -> None:
        """Stop after the current transaction. The next search or the next open writes the rest."""
        self._ending.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()


def _fill(store: Lagging, ending: threading.Event) -> None:
    if not ending.wait(_REST_SECONDS):
        with suppress(StoreError):  # busy, full or damaged: the next search reports it
            store.fill(lambda: not ending.is_set())


_INLINE = 20  # changed files that a request waits for; more are read in the background
_SNAPSHOT_SECONDS = 10.0
_PATIENCE_SECONDS = 0.25  # a request waits so long for another refresh, then answers from the present index
_COMPARE_SECONDS = 0.2  # and so long for a comparison of a disk that may not answer

Answer = TypeVar("Answer")


class IndexManager:
    """Manages one store: refresh, queries, repair. Thread-safe.

    Args:
        refresher: Compares the texts with the store, and writes the differences.
        open_store: Opens the store.
        whole: Runs all writes of a refresh in one transaction while other writers wait. For stores that also hold the
            texts, where no reader may see part of a change. None writes in batches.
        local: Whether system calls on the texts return. Those of a network disk may hang: they run in a thread, for
            which an answer waits 0.2 s.

    Attributes:
        store: The store that is open now.
        state: State of the index.
        trouble: The last failure; None once a refresh succeeded.
        complete: A full refresh has finished since the store was opened. Before that, an unknown name may be described
            in a text that is not read yet.
    """

    def __init__(
        self,
        refresher: Refresher,
        open_store: Callable[[], Store],
        *,
        whole: Callable[[Store], AbstractContextManager[object]] | None = None,
        local: bool = True,
    ) -> None:
        self._refresher, self._fresh, self._whole = refresher, refresher.fresh, whole
        self._local = local
        self._apart: tuple[float, Future[bool]] | None = None  # when it began, and the comparison in a thread
        self._lock = threading.RLock()  # one refresh at a time
        self._background: threading.Thread | None = None
        self._closed = False
        self._process = os.getpid()
        self._filler = Filler()
        self._lost = False  # the store is closed and could not be reopened: the next request tries again
        self.state: Literal["ready", "building", "cancelled", "stale"] = "building"
        self.trouble: ContextWarning | None = None
        self.complete = False
        self.store = open_store()

    @property
    def snapshot(self) -> Snapshot:
        """Codex and matcher as of the last refresh."""
        self._check_process()
        if self._background is not None:  # it holds the lock until its end, but makes the snapshot first
            self._refresher.loaded.wait(_SNAPSHOT_SECONDS)
        snapshot = self._refresher.snapshot
        if snapshot is None:
            with self._lock:
                snapshot = self._refresher.snapshot or self._refresher.load_snapshot(self.store)
        return snapshot

    def refresh(
        self, paths: Collection[str] | None = None, *, progress: Callable[[Progress], None] | None = None
    ) -> Outcome:
        """Update the index from the folder, or from these relative paths of it.

        Raises:
            StoreBusy: Another process holds the write lock for longer than five seconds.
            StoreFull: The disk is full.

        Cost: a stat per file, a read per changed file, a scan of all texts when names changed.
        """
        self._check_process()
        with self._lock:
            if self._closed:
                raise StoreError("the index is closed")
            self._refresher.cancelled.clear()
            self.state = "building"
            try:
                try:
                    if self._lost:
                        self._recover()
                    outcome = self._refresh_store(paths, progress)
                except StoreCorrupt:
                    self._recover()
                    outcome = self._refresh_store(None, progress)
            except BaseException as error:
                self.state = "stale"
                self.trouble = INDEX_FAILED(kind=type(error).__name__, error=without_paths(message_of(error)))
                raise
            self.complete = self.complete or not outcome.cancelled
            self.state, self.trouble = "cancelled" if outcome.cancelled else "ready", None
            self._filler.begin(self.store)
            return outcome

    def write(self, work: Callable[[Store], Answer]) -> Answer:
        """Run `work` and a refresh in one transaction, which is rolled back when either fails.

        Raises:
            Exception: Any error of `work`, and those of `refresh`.
        """
        with self._lock:
            begun = False
            try:
                with nullcontext() if self._whole is None else self._whole(self.store):
                    done = work(self.store)
                    begun = True
                    self.refresh()
            except BaseException:
                if begun and not self._closed:  # the refresher has read texts that were rolled back
                    self._recover()
                raise
            return done

    def freshen(self, patience: float = 0.0) -> tuple[ContextWarning, ...]:
        """Update the index before a request, or return warnings about what it lacks.

        Compares the folder with the index, unless a watcher saw no change and comparing costs more than 20 ms of
        processor time. Reads up to 20 changed files at once, more in the background.

        Args:
            patience: Seconds to wait beyond 0.25 for another refresh, and beyond 0.2 for a comparison.

        Returns:
            `INDEX_STALE` when answers may be incomplete, `ENTITY_MATCH_FAILED` when names are matched without the
            statistics of the prose.
        """
        self._check_process()
        waiting, self._fresh.equal = False, None
        believed = self.state == "cancelled" or (self.state == "ready" and self._fresh.may_be_believed())
        if self._background is None and not believed:
            try:
                if self._local and self._fresh.is_quick:
                    waiting = not self._refresh_locked(patience)
                elif (caught_up := self._refresh_in_thread(patience)) is None:
                    return (INDEX_UNCOMPARED(),)
                else:
                    waiting = not caught_up
            except StoreError as error:
                self.trouble = INDEX_FAILED(kind=type(error).__name__, error=without_paths(message_of(error)))
        if waiting or (self.state == "building" and self._background is not None):
            done = self._refresher.progress
            return (INDEX_BUILDING(done=done.done, total=done.total),)
        if self.state == "cancelled":
            return (INDEX_CANCELLED(),)
        return (*filter(None, (self.trouble,)), *self._refresher.config.warnings)

    def _refresh_locked(self, patience: float) -> bool:
        """Compare and refresh; False when another refresh holds the lock for too long."""
        if not wait_until(lambda seconds: self._lock.acquire(timeout=seconds), _PATIENCE_SECONDS + patience):
            return False
        try:
            try:
                changed = self._fresh.differs(self.store) if self.state == "ready" else -1
            except StoreCorrupt:
                changed = -1
            if changed > _INLINE and self._whole is None:
                self.refresh_in_background(None)
            elif changed:
                self.refresh()
            else:
                self.trouble = None  # the comparison succeeded without a difference
        finally:
            self._lock.release()
        return True

    def _refresh_in_thread(self, patience: float) -> bool | None:
        """`_refresh_locked` in a thread; None, and it goes on, when it has not ended after 0.2 s and `patience`."""
        last, most = self._apart, _COMPARE_SECONDS + patience
        if last is not None and not wait_until(partial(is_ready, last[1]), max(0.0, last[0] + most - time.monotonic())):
            return None
        done = run_in_thread(partial(self._refresh_locked, patience), "armarius-comparer")
        self._apart = (time.monotonic(), done)
        return done.result() if wait_until(partial(is_ready, done), most) else None

    def ask(self, question: Callable[[Store], Answer]) -> Answer:
        """Run a query on the store. A damaged or replaced index is repaired, and the query is run again."""
        self._check_process()
        store = self.store
        try:
            return question(store)
        except StoreError as error:
            with self._lock:
                if self.store is store:
                    if self._closed or not (self._lost or isinstance(error, StoreCorrupt)):
                        raise
                    self._recover()
                    self.refresh()
            return question(self.store)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a background refresh; False when it still runs after `timeout` seconds."""
        thread = self._background
        if thread is not None:
            thread.join(timeout)
            return not thread.is_alive()
        return True

    def cancel(self) -> None:
        """Stop a refresh after its current transaction; committed batches stay."""
        self._refresher.cancelled.set()

    def close(self) -> None:
        """Stop the refresh and close the store. Idempotent; does nothing in a forked child."""
        if self._process != os.getpid():
            return
        self.cancel()
        self.wait()
        with self._lock:
            self._closed = True
            self._filler.end()
            self.store.close()

    def rest(self) -> None:
        """Close the store until the next request, which reopens it. Cancels a running refresh."""
        self.cancel()
        self.wait()
        with self._lock:
            if not self._closed:
                self._lost, self.state = True, "stale"
                self._filler.end()
                self.store.close()

    def refresh_in_background(self, progress: Callable[[Progress], None] | None) -> None:
        """Start a refresh in a thread, and return at once."""

        def run() -> None:
            with suppress(StoreError, OSError):  # already in the status
                self.refresh(progress=progress)
            self._background = None

        self.state = "building"
        self._background = threading.Thread(target=run, name="armarius-refresher", daemon=True)
        self._background.start()

    def _check_process(self) -> None:
        """Raise in a forked child: a lock that another thread of the parent held at the fork is never released."""
        if self._process != os.getpid():
            raise StoreError(f"the index was opened by process {self._process}, which was forked since; open it again")

    def _refresh_store(self, paths: Collection[str] | None, progress: Callable[[Progress], None] | None) -> Outcome:
        if self._whole is None:
            return self._refresher.refresh(self.store, paths, progress)
        # Equal: no lock is taken, and no row is made for a project that does not exist.
        if self._refresher.is_equal(self.store):
            return Outcome()
        try:
            with self._whole(self.store):
                outcome = self._refresher.refresh(self.store, paths, progress)
        except BaseException:
            self._refresher.forget()
            raise
        self._fresh.look_again()
        return outcome

    def _recover(self) -> None:
        """Reopen a damaged, deleted or replaced store, or create an empty one.

        If that fails too (the disk is full, or another file has its path), the next request tries again.
        """
        self._lost, self.state, self.complete = True, "stale", False
        self._filler.end()
        self.store = self.store.reopen()
        if self._whole is not None:  # the store holds the texts too, which may have changed
            self._refresher.forget()
        self._lost = False
