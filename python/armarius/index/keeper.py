"""The store of an index, kept equal to its texts: refreshed when they change, repaired when it is damaged."""

import os
import threading
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Final, Literal, TypeVar

from armarius.deadline import wait_until
from armarius.errors import ContextWarning, StoreCorrupt, StoreError, message_of
from armarius.index.refresh import Refresher
from armarius.index.settings import LiveConfig
from armarius.index.snapshot import Snapshot
from armarius.index.status import Outcome, Progress
from armarius.io.messages_without_paths import without_paths
from armarius.store.protocol import Lagging, Store
from armarius.warnings import INDEX_BUILDING, INDEX_CANCELLED, INDEX_FAILED

__all__ = ["StoreKeeper"]

_REST_SECONDS: Final = 1.0  # the first questions after an open go before


class Filler:
    """Lets one store catch up at a time; for the threads that refresh and close an index, in turn."""

    def __init__(self) -> None:
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, store: Store) -> None:
        """Let `store` catch up soon, if it has put something off; returns at once."""
        if not isinstance(store, Lagging) or (self._thread is not None and self._thread.is_alive()):
            return
        if store.lags():
            self._ending = ending = threading.Event()
            thread = threading.Thread(target=_fill, args=(store, ending), name="armarius-filler", daemon=True)
            with suppress(RuntimeError):  # no thread to be had: whoever searches fills it
                thread.start()
                self._thread = thread

    def end(self) -> None:
        """Stop after the transaction under way; what is left is done by the next search, or the next open."""
        self._ending.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()


def _fill(store: Lagging, ending: threading.Event) -> None:
    if not ending.wait(_REST_SECONDS):
        with suppress(StoreError):  # held, full or damaged: whoever searches is told
            store.fill(lambda: not ending.is_set())


_INLINE = 20  # changed files that a request waits for; more are read in the background
_SNAPSHOT_SECONDS = 10.0
_PATIENCE_SECONDS = 0.25  # a request waits so long for somebody else's refresh, then answers from what is there
_QUICK_SECONDS = 0.005  # a comparison that costs less is made before every answer, watched or not

Answer = TypeVar("Answer")


class StoreKeeper:
    """Keeps one store. Threads may share it.

    Args:
        refresher: Compares and reads.
        config: Whose warning is told too.
        open_store: Opens the store.
        told: Whether somebody follows the texts and saw no change: then a slow comparison is left out.
        whole: Makes everything that is done to a store inside one transaction, while other writers wait; for stores
            that hold texts too, of which nobody may see a half. None writes in batches, the texts being elsewhere.

    Attributes:
        store: The store of the moment.
        state: What is being done with it.
        trouble: What went wrong last, None when it was mended.
        complete: The texts have been read to their end since the store was opened. Before that, what nothing describes
            may only be unread.
        equal: The store and its generation that the last `freshen` found equal to the texts; None where it did not
            compare, or found them different.
    """

    def __init__(
        self,
        refresher: Refresher,
        config: LiveConfig,
        open_store: Callable[[], Store],
        *,
        told: Callable[[], bool],
        whole: Callable[[Store], AbstractContextManager[object]] | None = None,
    ) -> None:
        self._refresher = refresher
        self._config = config
        self._told = told
        self._whole = whole
        self._lock = threading.RLock()  # one refresh at a time
        self._background: threading.Thread | None = None
        self._closed = False
        self._process = os.getpid()
        self._filler = Filler()
        self._lost = False  # the store is closed and none could be opened in its place: it is tried again
        self.state: Literal["ready", "building", "cancelled", "stale"] = "building"
        self.trouble: ContextWarning | None = None
        self.complete = False
        self.equal: tuple[Store, int] | None = None
        self.store = open_store()

    @property
    def snapshot(self) -> Snapshot:
        """Codex and matcher as the index last saw them."""
        self._see_that_it_is_ours()
        if self._background is not None:  # it needs the lock to the end, and has a snapshot from the beginning
            self._refresher.loaded.wait(_SNAPSHOT_SECONDS)
        snapshot = self._refresher.snapshot
        if snapshot is None:
            with self._lock:
                snapshot = self._refresher.snapshot or self._refresher.load_snapshot(self.store)
        return snapshot

    def refresh(
        self, paths: Collection[str] | None = None, *, progress: Callable[[Progress], None] | None = None
    ) -> Outcome:
        """Make the index equal to the folder, or to these relative paths of it.

        Raises:
            StoreBusy: Another process writes for longer than five seconds.
            StoreFull: The index cannot be written.

        Cost: a stat per file, a read per changed file, a rescan of all texts when names changed.
        """
        self._see_that_it_is_ours()
        with self._lock:
            if self._closed:
                raise StoreError("the index is closed")
            self._refresher.cancelled.clear()
            self.state, self.equal = "building", None
            try:
                try:
                    if self._lost:
                        self._recover()
                    outcome = self._refreshed(paths, progress)
                except StoreCorrupt:
                    self._recover()
                    outcome = self._refreshed(None, progress)
            except BaseException as error:
                self.state = "stale"
                self.trouble = INDEX_FAILED(kind=type(error).__name__, error=without_paths(message_of(error)))
                raise
            self.complete = self.complete or not outcome.cancelled
            self.state, self.trouble = "cancelled" if outcome.cancelled else "ready", None
            self._filler.begin(self.store)
            return outcome

    def write(self, work: Callable[[Store], Answer]) -> Answer:
        """`work`, and all that follows from it, in one transaction; nothing of it stays when anything fails.

        Raises:
            Whatever `work` raises, and what `refresh` does.
        """
        with self._lock:
            begun = False
            try:
                with self._one(self.store):
                    done = work(self.store)
                    begun = True
                    self.refresh()
            except BaseException:
                if begun and not self._closed:  # what was learnt on the way is of texts that are not there
                    self._recover()
                raise
            return done

    def freshen(self) -> tuple[ContextWarning, ...]:
        """Before answering: see that the index equals the folder, or say that it does not.

        The folder is compared with the index, unless a watcher sees no change and comparing is slow (above about 1,000
        files). A few changed files are read at once, many in the background.

        Returns:
            `INDEX_STALE` when answers may lack something, `ENTITY_MATCH_FAILED` when names are found without habits.
        """
        self._see_that_it_is_ours()
        waiting, self.equal = False, None
        if self._background is None and self.state != "cancelled" and not self._is_fresh():
            try:
                waiting = not self._catch_up()
            except StoreError as error:
                self.trouble = INDEX_FAILED(kind=type(error).__name__, error=without_paths(message_of(error)))
        if waiting or (self.state == "building" and self._background is not None):
            done = self._refresher.progress
            return (INDEX_BUILDING(done=done.done, total=done.total),)
        if self.state == "cancelled":
            return (INDEX_CANCELLED(),)
        told = (self.trouble, *self._config.warnings, self._refresher.names_warning)
        return tuple(warning for warning in told if warning is not None)

    def _is_fresh(self) -> bool:
        if self.state != "ready" or self._refresher.compare_seconds < _QUICK_SECONDS or not self._told():
            return False
        return not self._refresher.is_authored_anew()

    def _catch_up(self) -> bool:
        """Compare and refresh; False when somebody else is at it for too long."""
        if not wait_until(lambda seconds: self._lock.acquire(timeout=seconds), _PATIENCE_SECONDS):
            return False
        try:
            try:
                changed = self._refresher.differs(self.store) if self.state == "ready" else -1
            except StoreCorrupt:
                changed = -1
            if changed > _INLINE and self._whole is None:
                self.refresh_in_background(None)
            elif changed:
                self.refresh()
            else:
                self.trouble = None  # the comparison could be made, and there is none
                self.equal = self._refresher.compared
        finally:
            self._lock.release()
        return True

    def ask(self, question: Callable[[Store], Answer]) -> Answer:
        """Ask the store; a damaged or replaced index is repaired first and asked again."""
        self._see_that_it_is_ours()
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
        """Wait for a background build; False when it still runs after `timeout` seconds."""
        thread = self._background
        if thread is not None:
            thread.join(timeout)
            return not thread.is_alive()
        return True

    def cancel(self) -> None:
        """Stop a build after the transaction it is in; what is committed stays."""
        self._refresher.cancelled.set()

    def close(self) -> None:
        """End the build, close the store; closing twice is fine, and so is closing what a parent has open."""
        if self._process != os.getpid():
            return
        self.cancel()
        self.wait()
        with self._lock:
            self._closed = True
            self._filler.end()
            self.store.close()

    def rest(self) -> None:
        """Close the store for now: the next question opens it again. A build under way ends where it is."""
        self.cancel()
        self.wait()
        with self._lock:
            if not self._closed:
                self._lost, self.state = True, "stale"
                self._filler.end()
                self.store.close()

    def refresh_in_background(self, progress: Callable[[Progress], None] | None) -> None:
        """Begin to make the index equal to the folder, and return at once."""

        def run() -> None:
            with suppress(StoreError, OSError):  # already in the status
                self.refresh(progress=progress)
            self._background = None

        self.state = "building"
        self._background = threading.Thread(target=run, name="armarius-refresher", daemon=True)
        self._background.start()

    def _see_that_it_is_ours(self) -> None:
        """A lock that a thread of the parent held at a fork is held for ever: nothing may wait for it."""
        if self._process != os.getpid():
            raise StoreError(f"the index was opened by process {self._process}, which was forked since; open it again")

    def _refreshed(self, paths: Collection[str] | None, progress: Callable[[Progress], None] | None) -> Outcome:
        if self._whole is None:
            return self._refresher.refresh(self.store, paths, progress)
        # Nothing is locked, and nothing is made of a project that is not there.
        if self._refresher.is_equal(self.store):
            return Outcome()
        try:
            with self._whole(self.store):
                outcome = self._refresher.refresh(self.store, paths, progress)
        except BaseException:
            self._refresher.forget()
            raise
        self._refresher.look_again()
        return outcome

    def _one(self, store: Store) -> AbstractContextManager[object]:
        return nullcontext() if self._whole is None else self._whole(store)

    def _recover(self) -> None:
        """The store turned out damaged, deleted or replaced: open what lies there now, or an empty one.

        Where that fails too (the disk is full, something lies in its place), the next question tries again.
        """
        self._lost, self.state, self.complete = True, "stale", False
        self._filler.end()
        self.store = self.store.reopen()
        if self._whole is not None:  # its texts may be others too
            self._refresher.forget()
        else:
            self._refresher.begin_anew()
        self._lost = False
