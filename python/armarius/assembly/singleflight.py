"""How many assemblies run at once, and that identical ones run once."""

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from functools import partial
from typing import Generic, TypeVar

from armarius.calls import Cancelled, patiently
from armarius.errors import Backpressure

__all__ = ["SingleFlight"]

T = TypeVar("T")
_FOR_EVER = 1e6  # seconds; the work itself has limits


class SingleFlight(Generic[T]):
    """Runs work under a limit; work with the key of work in flight waits for that answer instead.

    Args:
        limit: At most so many at once.
        patience: Seconds that one more waits for its turn before `Backpressure`.

    Attributes:
        waiting: How many wait for the answer of another right now.
    """

    def __init__(self, limit: int, patience: float) -> None:
        self._limit = limit
        self._patience = patience
        self._turns = threading.BoundedSemaphore(limit)
        self._flying: dict[Hashable, Future[T]] = {}
        self._lock = threading.Lock()
        self.waiting = 0

    def run(self, key: Hashable, work: Callable[[], T]) -> T:
        """The answer of `work`, or of the same work already under way.

        Raises:
            Backpressure: No turn within the patience.
        """
        while True:
            with self._lock:
                under_way = self._flying.get(key)
                if under_way is None:
                    future: Future[T] = Future()
                    self._flying[key] = future
                    break
                self.waiting += 1
            try:
                patiently(partial(_lands, under_way), _FOR_EVER)
            finally:
                with self._lock:
                    self.waiting -= 1
            try:
                return under_way.result()
            except Cancelled:  # nobody waited for that one any longer, and here somebody does
                continue
        try:
            answer = self._in_turn(work)
        except BaseException as error:
            self._land(key)
            future.set_exception(error)
            raise
        self._land(key)
        future.set_result(answer)
        return answer

    def _in_turn(self, work: Callable[[], T]) -> T:
        started = time.monotonic()
        if not patiently(lambda seconds: self._turns.acquire(timeout=seconds), self._patience):
            waited = time.monotonic() - started
            raise Backpressure(f"{self._limit} assemblies are running, no turn came within {waited:.1f} s")
        try:
            return work()
        finally:
            self._turns.release()

    def _land(self, key: Hashable) -> None:
        with self._lock:
            del self._flying[key]


def _lands(flight: "Future[T]", seconds: float) -> bool:
    return bool(wait([flight], seconds).done)
