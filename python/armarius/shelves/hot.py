"""Engines in memory: as many as fit, the one that was asked longest ago goes first."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from armarius.calls import stage
from armarius.engine.build import Parts
from armarius.errors import StoreError

__all__ = ["HotEngine", "HotEngines", "bytes_of"]

_BASE = 500_000
_A_CHARACTER = 14
"""What an engine takes, measured: see docs/decisions/0140."""


def bytes_of(characters: int) -> int:
    """Bytes of memory that the engine of a project of so many characters takes, about."""
    return _BASE + _A_CHARACTER * characters


class HotEngine:
    """An engine in memory; the base of what a shelf keeps.

    Attributes:
        parts: Of the engine.
        users: Threads that ask it now.
        bytes: See `bytes_of`; of the time it was asked last.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.users = self.bytes = 0

    @property
    def characters(self) -> int:
        """Of the documents that are in memory."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop what works for it in the background; who still holds it may ask on."""
        if self.parts.recall is not None:
            self.parts.recall.close()


Hot = TypeVar("Hot", bound=HotEngine)


class HotEngines(Generic[Hot]):
    """Threads may share it. Two that want the same project wait for one engine; others do not wait.

    Args:
        limit: Bytes of memory.
        most: Engines, None for any number.

    Attributes:
        hits: Asked, and there.
        misses: Asked, and made.
        evicted: Gone to make room.
    """

    def __init__(self, limit: int, most: int | None = None) -> None:
        self.limit = limit
        self.most = most
        self.hits = self.misses = self.evicted = 0
        self._lock = threading.Lock()
        self._opening: dict[Hashable, threading.Lock] = {}
        self._kept: OrderedDict[Hashable, Hot] = OrderedDict()
        self._closed = False

    @contextmanager
    def used(self, key: Hashable, make: Callable[[], Hot]) -> Iterator[Hot]:
        """The engine of a project while it is asked; made when it is not there."""
        hot = self._taken(key)
        if hot is None:
            with self._lock:
                opening = self._opening.setdefault(key, threading.Lock())
            with opening:
                hot = self._taken(key)
                if hot is None:
                    with stage("open"):
                        made = make()
                    hot = self._added(key, made)
        try:
            yield hot
        finally:
            with self._lock:
                hot.users -= 1
                hot.bytes = bytes_of(hot.characters)
            self._make_room()

    def drop(self, key: Hashable, hot: Hot | None = None) -> None:
        """Forget an engine; with `hot`, only if it is that one."""
        with self._lock:
            found = self._kept.get(key)
            if found is None or (hot is not None and found is not hot):
                return
            del self._kept[key]
        found.close()

    def close(self) -> None:
        """Forget all of them, for good."""
        with self._lock:
            self._closed = True
            found, self._kept = list(self._kept.values()), OrderedDict()
        for hot in found:
            hot.close()

    @property
    def bytes(self) -> int:
        """What they take together, about."""
        with self._lock:
            return sum(hot.bytes for hot in self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def _taken(self, key: Hashable) -> Hot | None:
        with self._lock:
            if self._closed:
                raise StoreError("the shelf is closed")
            hot = self._kept.get(key)
            if hot is not None:
                self._kept.move_to_end(key)
                hot.users += 1
                self.hits += 1
            return hot

    def _added(self, key: Hashable, hot: Hot) -> Hot:
        hot.bytes = bytes_of(hot.characters)
        hot.users = 1
        with self._lock:
            self._opening.pop(key, None)
            closed = self._closed
            if not closed:
                self.misses += 1
                self._kept[key] = hot
        if closed:
            hot.close()
            raise StoreError("the shelf is closed")
        self._make_room()
        return hot

    def _make_room(self) -> None:
        """The longest unasked first; the one that was asked last stays, however large."""
        leaving = []
        with self._lock:
            total = sum(hot.bytes for hot in self._kept.values())
            for key in list(self._kept)[:-1]:
                if total <= self.limit and (self.most is None or len(self._kept) <= self.most):
                    break
                hot = self._kept[key]
                if not hot.users:
                    total -= hot.bytes
                    leaving.append(self._kept.pop(key))
                    self.evicted += 1
        for hot in leaving:
            hot.close()
