"""Changes of files, as hints: which paths to look at again; of one folder, or of many that lie in one.

Events get lost, come twice, or name a file that is gone. So an event only marks a path; after 100 ms of quiet (a save
at once, 2 s at most) the marked paths are handed over to be compared with the index. The whole tree is compared when
the queue of the operating system overflowed, when the root was replaced, and every minute. Everything is right with the
watcher off.
"""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from armarius.index.events import Events
from armarius.index.pending import Pending

__all__ = ["Followed", "Watcher"]

_SWEEP_SECONDS = 60.0
_BLIND_SWEEP_SECONDS = 1.0  # when the operating system gives no more watches
_BLIND_SHARE = 20  # and at least so many times what a sweep took: 5 % of one core


class Followed:
    """A folder that a watcher follows; `stop` ends that.

    Args:
        watcher: Who follows it.
        pending: What is marked of it.
        changed: Called with relative paths whose files, or whole folders, may have changed, or with None for
            "everything", from the watcher's thread; must not raise.
    """

    def __init__(self, watcher: "Watcher", pending: Pending, changed: Callable[[set[str] | None], None]) -> None:
        self.marked = pending
        self.changed = changed
        self._watcher = watcher
        self.mark = pending.mark
        self.mark_everything = pending.mark_everything

    @property
    def blind(self) -> bool:
        """No events come: the tree is compared every second or so instead."""
        return self._watcher.blind

    @property
    def trouble(self) -> str:
        """Why no events come, "" while they do."""
        return self._watcher.trouble

    @property
    def pending(self) -> bool:
        """Something was marked and is not handed over yet; or another folder lies in its place, unannounced."""
        return not self.marked.is_empty()

    def stop(self) -> None:
        """End; what is marked and not handed over is left to the next comparison."""
        self._watcher.unfollow(self)


class Watcher:
    """Follows folders that lie in `root`, or `root` itself, with one thread and one subscription to events.

    Args:
        root: A folder.
        many: Whether folders directly in `root` are followed, each by itself. The watcher of `root` alone ends with it.

    Attributes:
        lag: Seconds from the first mark to the comparison, of the last change.
    """

    def __init__(self, root: Path, *, many: bool = False) -> None:
        self._root = Path(os.path.realpath(root))
        self._many = many
        self._wake = threading.Condition()
        self._here = Pending(self._root, self._wake)
        self._followed: dict[str, list[Followed]] = {}
        self._events = Events(self._root, self._mark, self._mark_all)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._stopped = False
        self._sweep_cost = self._tried = 0.0
        self.lag = 0.0

    @property
    def blind(self) -> bool:
        """No events come."""
        return self._events.blind

    @property
    def trouble(self) -> str:
        """Why no events come, "" while they do, or while nothing is followed."""
        return self._events.trouble

    def follow(self, folder: Path, changed: Callable[[set[str] | None], None]) -> Followed:
        """Begin; the tree is compared once, because it may have changed before the first event could come."""
        pending = Pending(Path(os.path.realpath(folder)), self._wake)
        followed = Followed(self, pending, changed)
        with self._wake:
            self._followed.setdefault(str(pending.root), []).append(followed)
        with self._starting:
            if self._thread is None and not self._stopped:
                if not self._many:  # a tree of hundreds takes its time: until then each answer compares
                    self._begin()
                self._thread = threading.Thread(target=self._run, name="armarius-watcher", daemon=True)
                self._thread.start()
        pending.mark_everything()
        return followed

    def unfollow(self, followed: Followed) -> None:
        """Follow a folder no longer."""
        key = str(followed.marked.root)
        with self._wake:
            here = [one for one in self._followed.pop(key, []) if one is not followed]
            if here:
                self._followed[key] = here
        if not self._many:
            self.stop()

    def stop(self) -> None:
        """End, for good."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
        self._events.close()
        thread = self._thread
        if thread is not None and thread.is_alive() and thread is not threading.current_thread():
            thread.join(timeout=5)

    def _all(self) -> list[Followed]:
        with self._wake:
            return [one for here in self._followed.values() for one in here]

    def _mark(self, path: str) -> None:
        if not self._many:
            concerned = self._all()
        else:
            name = os.path.relpath(path, self._root).split(os.sep, 1)[0]
            with self._wake:
                concerned = list(self._followed.get(str(self._root / name), ()))
            concerned = self._all() if name == os.curdir else concerned
        for one in concerned:
            one.mark(path)

    def _mark_all(self) -> None:
        for one in self._all():
            one.mark_everything()

    def _begin(self) -> None:
        self._here.renew()
        self._tried = time.monotonic()
        self._events.begin()
        if self.blind:
            self._sweep_cost = max(self._sweep_cost, time.monotonic() - self._tried)

    def _run(self) -> None:
        if self._many:
            self._begin()
            self._mark_all()
        while True:
            with self._wake:
                while not self._stopped and (delay := self._delay()) > 0:
                    self._wake.wait(delay)
                if self._stopped:
                    return
            self._look()
            self._hand_over()

    def _delay(self) -> float:
        """Seconds until there is something to do; asked with `wake` held."""
        now, every = time.monotonic(), self._every()
        times = [self._tried + every] if self.blind else []
        for here in self._followed.values():
            for one in here:
                due = one.marked.due()
                times.append(one.marked.swept + every if due is None else due)
        return min(times, default=now + _SWEEP_SECONDS) - now

    def _every(self) -> float:
        return max(_BLIND_SWEEP_SECONDS, _BLIND_SHARE * self._sweep_cost) if self.blind else _SWEEP_SECONDS

    def _look(self) -> None:
        """See that events come: from the folder that is there now, and from every folder in it."""
        self._events.check()
        replaced = self._here.is_replaced()
        if replaced or (self.blind and time.monotonic() >= self._tried + self._every()):
            was_blind = self.blind
            self._begin()
            if replaced or (was_blind and not self.blind):
                self._mark_all()

    def _hand_over(self) -> None:
        now, every, swept = time.monotonic(), self._every(), 0.0
        for one in self._all():
            with self._wake:
                due = one.marked.due()
                waited = 0.0 if due is None else one.marked.age
                if now < (one.marked.swept + every if due is None else due):
                    continue
                paths = one.marked.take()
            if one.marked.is_replaced():
                one.marked.renew()
                paths = None
            began = time.monotonic()
            one.changed(paths)
            one.marked.settle()
            took = time.monotonic() - began
            swept += took if due is None else 0.0
            if waited:
                self.lag = waited + took
        if swept:
            self._sweep_cost = swept
