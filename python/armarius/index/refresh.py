"""One refresh: the folder compared with a store, what differs written, mentions settled. No threads, no locks."""

import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path

from armarius.config import Config, load_config
from armarius.documents.document import Document, Skipped
from armarius.errors import ConfigError, ContextWarning
from armarius.index.changes import Found, compare, read_changes, reader_note
from armarius.index.name_learning import Schooling
from armarius.index.snapshot import (
    World,
    authored_stamp,
    config_stamp,
    read_records,
    read_world,
)
from armarius.index.status import Outcome, Progress
from armarius.store.protocol import (
    Change,
    MentionRow,
    Put,
    Remove,
    Restamp,
    Store,
)
from armarius.warnings_table import CONFIG_KEPT

__all__ = ["Builder"]

_BATCH = 32  # documents in one transaction
_NO_CODEX = ("chapter", "code")  # kinds that describe no entities


class Builder:
    """Makes a store equal to a folder, and keeps what it learns on the way.

    Attributes:
        world: Codex and matcher, or None before the first refresh.
        skipped: By path.
        progress: Of the refresh that runs or ran last.
        cancelled: Set it to stop between two transactions.
        loaded: Set as soon as there is a world.
        compare_seconds: What the last comparison cost.
    """

    def __init__(self, root: Path, config: Config) -> None:
        self.root = root
        self.config = config
        self.config_warning: ContextWarning | None = None
        self.world: World | None = None
        self.skipped: dict[str, Skipped] = {}
        self.progress = Progress(0, 0, "")
        self.cancelled = threading.Event()
        self.loaded = threading.Event()
        self.compare_seconds = 0.0
        self._sources: dict[str, Document] = {}
        self._authored = self._configured = ""
        self._schooling = Schooling()

    def refresh(
        self, store: Store, paths: Collection[str] | None, report: Callable[[Progress], None] | None = None
    ) -> Outcome:
        """Make `store` equal to the folder, or to these paths of it."""
        started = time.monotonic()
        self._reload_config()
        known = store.files()
        reader = reader_note(self.config)
        force = store.note("reader") != reader
        only = () if paths is None or force else paths
        difference = compare(self.root, self.config, known, only=only, force=force)
        if self._is_outdated(store):
            self.load_world(store)
        if not only:
            self.skipped = {}
        self.skipped.update((skipped.path, skipped) for skipped in difference.skipped)
        outcome = Outcome()
        self.progress = Progress(0, len(difference.to_read) + len(difference.removed), "")
        scanned: set[str] = set()
        assert self.world is not None
        world = self.world
        with self._schooling.course(store) as course:
            for found in read_changes(self.root, self.config, difference, known, force=force):
                if self._take_in(found) or self.is_authored_anew() or store.note("graph") is None:
                    self._renew_world(store, scanned)
                world = course.teach(self.world, found.changes)
                self._adopt(store, world, scanned)
                if not self._write(store, found, scanned, outcome, report):
                    outcome.cancelled = True
                    break
            else:
                self._settle_mentions(store, scanned)
                course.finish(world)
                if force:
                    store.set_note("reader", reader)
        outcome.skipped = tuple(self.skipped[path] for path in sorted(self.skipped))
        outcome.seconds = time.monotonic() - started
        return outcome

    def close(self, store: Store) -> None:
        """Leave in the store what the next process would have to count again."""
        self._schooling.keep(store)

    @property
    def names_warning(self) -> ContextWarning | None:
        """Why names are found without habits; None when they are not."""
        return self._schooling.trouble

    def load_world(self, store: Store) -> World:
        """Codex and matcher from what the store holds."""
        rows = store.documents(kinds=("setting", "outline", "note"))
        self._sources = {row.path: d for row in rows if (d := store.document(row.path)) is not None}
        self._authored = authored_stamp(self.root)
        world = read_world(self.root, self._in_order())
        self.world = self._schooling.recall(store, world)
        self.loaded.set()
        return self.world

    def _is_outdated(self, store: Store) -> bool:
        """No world yet, or another process has built another one since."""
        return (
            self.world is None
            or store.note("graph") not in (None, self.world.graph)
            or store.note("names") not in (None, "", self.world.names)
        )

    def _reload_config(self) -> None:
        self._configured = config_stamp(self.root)
        try:
            self.config, self.config_warning = load_config(self.root), None
        except ConfigError as error:  # the last good configuration stays
            self.config_warning = CONFIG_KEPT(error=error)

    def _take_in(self, found: Found) -> bool:
        """Remember what was skipped and what describes entities; True when the latter changed."""
        told = False
        skipped = {skipped.path: skipped for skipped in found.skipped}
        for change in found.changes:
            if isinstance(change, Restamp):
                continue
            path = change.path if isinstance(change, Remove) else change.document.path
            self.skipped.pop(path, None)
            told |= self._sources.pop(path, None) is not None
            if isinstance(change, Put) and change.document.kind not in _NO_CODEX:
                self._sources[path] = change.document
                told = True
        self.skipped.update(skipped)
        return told

    def is_authored_anew(self) -> bool:
        """Whether an authored file has changed since it was read: one look at each, no watcher waited for."""
        return authored_stamp(self.root) != self._authored

    def differs(self, store: Store) -> int:
        """How many files differ from the index, at the cost of one comparison; -1 when others may."""
        started = time.monotonic()
        difference = compare(self.root, self.config, store.files())
        self.compare_seconds = time.monotonic() - started
        others = (
            difference.doubtful
            or self._is_outdated(store)
            or self.is_authored_anew()
            or config_stamp(self.root) != self._configured
        )
        return difference.certain or (-1 if others else 0)

    def _renew_world(self, store: Store, scanned: set[str]) -> None:
        """Build the codex again from the documents that describe it; tell the store when it says something else."""
        self._authored = authored_stamp(self.root)
        for collection, records in read_records(self.root).items():
            if store.records(collection) != records:
                store.replace_records(collection, records)
        world = read_world(self.root, self._in_order())
        if self.world is not None and self.world.cast == world.cast:
            world = world.with_habits(self.world.habits)
        self._adopt(store, world, scanned)
        if store.note("graph") != world.graph:
            store.replace_graph(*world.rows())
            store.set_note("graph", world.graph)

    def _adopt(self, store: Store, world: World, scanned: set[str]) -> None:
        """Go on with this world; what was found with other names is out of date."""
        if self.world is None or self.world.names != world.names:
            scanned.clear()
            if store.note("names") != world.names:
                store.set_note("names", "")  # until every mention was found with these names
        self.world = world

    def _in_order(self) -> list[Document]:
        return [self._sources[path] for path in sorted(self._sources)]

    def _write(
        self,
        store: Store,
        found: Found,
        scanned: set[str],
        outcome: Outcome,
        report: Callable[[Progress], None] | None,
    ) -> bool:
        assert self.world is not None
        for at in range(0, len(found.changes), _BATCH):
            if self.cancelled.is_set():
                return False
            batch = found.changes[at : at + _BATCH]
            documents = [change.document for change in batch if isinstance(change, Put)]
            mentions = iter(self.world.mentions(documents))
            changes: list[Change] = [
                Put(change.document, change.stamp, next(mentions)) if isinstance(change, Put) else change
                for change in batch
            ]
            store.apply(changes)
            scanned.update(document.path for document in documents)
            outcome.count(changes)
            last = batch[-1]
            path = last.document.path if isinstance(last, Put) else last.path
            self.progress = Progress(self.progress.done + len(batch), self.progress.total, path)
            if report is not None:
                report(self.progress)
        return True

    def _settle_mentions(self, store: Store, scanned: set[str]) -> None:
        """Find all mentions again when the stored ones were found with other names."""
        assert self.world is not None
        if store.note("names") == self.world.names:
            return
        paths = list(store.files())
        if not scanned.issuperset(paths):
            mentions: dict[str, tuple[MentionRow, ...]] = {}
            for at in range(0, len(paths), _BATCH):
                documents = [d for path in paths[at : at + _BATCH] if (d := store.document(path)) is not None]
                found = self.world.mentions(documents)
                mentions.update((d.path, rows) for d, rows in zip(documents, found, strict=True))
            store.replace_mentions(mentions)
        store.set_note("names", self.world.names)
