"""One refresh: a source compared with a store, and what differs written with all that follows from it.

No threads, no locks.
"""

import threading
import time
from collections.abc import Callable, Collection, Sequence

from armarius.codex.authored.protocol import Authored
from armarius.corpus.kept import FORM
from armarius.documents.document import Skipped
from armarius.errors import ContextWarning
from armarius.index.commits import BATCH, Commits, Held, Holdings
from armarius.index.describing import Describing
from armarius.index.mentions import read_names, read_names_again
from armarius.index.name_learning import NameLearner, Pass
from armarius.index.settings import LiveConfig
from armarius.index.snapshot import Snapshot, snapshot_after, untold
from armarius.index.source import DocumentSource, ReadBatch
from armarius.index.status import Outcome, Progress
from armarius.store.protocol import Store
from armarius.store.rows import Change, Learnt, Note, Put, Remove, Restamp

__all__ = ["Refresher"]


class Refresher:
    """Makes a store equal to a source, and keeps what it learns on the way.

    Args:
        source: Of the texts.
        authored: What the user wrote beside them.
        config: The configuration as it is now.

    Attributes:
        snapshot: Codex and matcher, or None before the first refresh.
        skipped: By path.
        progress: Of the refresh that runs or ran last.
        cancelled: Set it to stop between two transactions.
        loaded: Set as soon as there is a world.
        compare_seconds: What the last comparison cost.
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
        self._authored_stamp = ""
        self._told = False  # whether the store has been compared with this world
        self._elsewhere = False  # whether the store is another than the one this world was read from
        self._names = NameLearner()
        self._holdings = Holdings()

    @property
    def names_warning(self) -> ContextWarning | None:
        """Why names are found without habits; None when they are not."""
        return self._names.trouble

    def refresh(
        self, store: Store, paths: Collection[str] | None, report: Callable[[Progress], None] | None = None
    ) -> Outcome:
        """Make `store` equal to the source, or to these paths of it.

        What is written is one transaction, unless more than 32 documents differ: then it is one for each 32, the last
        with what depends on them all. Whatever ends it in the middle, the next one builds the world again.
        """
        try:
            return self._refresh(store, paths, report)
        except BaseException:
            self._authored_stamp = ""
            raise

    def _refresh(
        self, store: Store, paths: Collection[str] | None, report: Callable[[Progress], None] | None
    ) -> Outcome:
        started = time.monotonic()
        self.config.reload()
        known = self._holdings.of(store)
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
        learning = Pass(self._names, store)
        written: dict[str, str] = {}  # path to the names that were looked for in it
        rest: list[Change] = []
        graph, told, self._told = known.graph, self._told, False
        for found in self._source.read(difference, known.files):
            if not commits.flush():
                break
            if self._take_in(found) or self.is_authored_anew():
                self._renew_world()
                told = False
            if not told or graph != self._snapshot.codex_digest:
                commits.before(untold(self._snapshot, self._authored, store, graph))
                graph, told = self._snapshot.codex_digest, True
            self.snapshot, learnt = learning.learn(self._snapshot, found.changes)
            counted = {row.path: row for row in learnt}
            if not self._write(commits, found.changes, counted, written):
                break
            rest += counted.values()
        else:
            rest += read_names_again(self._snapshot, self._holdings.of(store), written)
            rest += learning.finish(self._snapshot)
            rest += self._describing.unkept()
            if force:
                rest.append(Note("reader", reader))
            self._told = commits.finish(rest)
            if self._told and commits.alone:
                learning.written(commits.generation)
                if not only:
                    self._holdings.keep_equal(stamp, commits.generation)
        if commits.restamped:  # perhaps without a generation
            self._holdings.look_again()
        elif commits.whole and commits.alone:
            self._holdings.take(known, commits.whole, commits.generation)
        outcome = commits.outcome
        outcome.skipped = tuple(self.skipped[path] for path in sorted(self.skipped))
        outcome.seconds = time.monotonic() - started
        return outcome

    def load_snapshot(self, store: Store) -> Snapshot:
        """Codex and matcher from what the store holds."""
        self._describing.load(store)
        stamp, self._told = self._authored.stamp(), False
        self.snapshot = self._names.recall(store, self._describing.codex())
        self._authored_stamp, self._elsewhere = stamp, False
        self.loaded.set()
        return self.snapshot

    def forget(self) -> None:
        """Whatever was learnt of a store: it may be of a transaction that came to nothing."""
        self.snapshot, self._authored_stamp = None, ""
        self._holdings.forget()
        self._names = NameLearner()
        self.config.forget()

    def begin_anew(self) -> None:
        """The store is another one: what describes somebody is read again from what it holds, and from the files."""
        self._elsewhere = True
        self._holdings.forget()

    def look_again(self) -> None:
        """Read what the store holds once more: inside one transaction all writes are of one generation."""
        self._holdings.look_again()

    def differs(self, store: Store) -> int:
        """How many documents differ from the index, at the cost of one comparison; -1 when something else may."""
        started = time.monotonic()
        known = self._holdings.of(store)
        stamp = self._source.stamp()
        certain = doubtful = 0
        if not self._holdings.is_equal(stamp, known.generation):
            difference = self._source.compare(known.files)
            certain, doubtful = difference.certain, difference.doubtful
            if not (difference.to_read or difference.removed):
                self._holdings.keep_equal(stamp, known.generation)
        self.compare_seconds = time.monotonic() - started
        others = doubtful or self._is_outdated(known) or self.is_authored_anew() or self.config.is_stale()
        return certain or (-1 if others else 0)

    @property
    def compared(self) -> tuple[Store, int] | None:
        """The store and its generation that were compared last."""
        return self._holdings.seen

    def is_equal(self, store: Store) -> bool:
        """Whether there is nothing to do, whoever has written the store; what was authored and set is read first."""
        self.config.reload()
        if self.snapshot is None:
            self.load_snapshot(store)
        known = self._holdings.of(store)
        read = (known.reader, known.form) == (self.config.note, FORM)
        return (read or not known.files) and self.differs(store) == 0

    def is_authored_anew(self) -> bool:
        """Whether something authored has changed since it was read: one look at each, no watcher waited for."""
        return self._authored.stamp() != self._authored_stamp

    @property
    def _snapshot(self) -> Snapshot:
        assert self.snapshot is not None, "asked before the first refresh"
        return self.snapshot

    def _is_outdated(self, known: Held) -> bool:
        """No world yet, or another process has built another one since."""
        world = self.snapshot
        return world is None or self._elsewhere or known.is_of_another(world.codex_digest, world.match_digest)

    def _take_in(self, found: ReadBatch) -> bool:
        """Remember what was skipped and what describes entities; True when the latter changed."""
        told = False
        for change in found.changes:
            if isinstance(change, Restamp):
                continue
            path = change.path if isinstance(change, Remove) else change.document.path
            self.skipped.pop(path, None)
            told |= self._describing.take(change.document) if isinstance(change, Put) else self._describing.drop(path)
        self.skipped.update((skipped.path, skipped) for skipped in found.skipped)
        return told

    def _renew_world(self) -> None:
        """Build the codex again from what describes it."""
        stamp = self._authored.stamp()
        self.snapshot = snapshot_after(self.snapshot, self._describing.codex())
        self._authored_stamp = stamp

    def _write(
        self,
        commits: Commits,
        changes: Sequence[Put | Remove | Restamp],
        counted: dict[str, Learnt],
        written: dict[str, str],
    ) -> bool:
        """Commit the documents in batches, each with what was learnt from it, which is taken out of `counted`."""
        for at in range(0, len(changes), BATCH):
            batch = changes[at : at + BATCH]
            documents = [change.document for change in batch if isinstance(change, Put)]
            learnt = [counted.pop(document.path) for document in documents if document.path in counted]
            learnt += self._describing.rows(documents)
            if not commits.documents(batch, [*read_names(self._snapshot, documents), *learnt]):
                return False
            written.update((document.path, self._snapshot.match_digest) for document in documents)
        return True

    def _report(self, done: Progress, report: Callable[[Progress], None] | None) -> None:
        self.progress = done
        if report is not None:
            report(done)
