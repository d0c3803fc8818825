"""What takes longer than a page may take: looked for beside the pages, once for each state of the index."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from armarius.errors import ArmariusError

__all__ = ["Looked"]

T = TypeVar("T")
_LONGEST_REST_S = 0.1


class Looked(Generic[T]):
    """Things found one after another in a thread of their own, which rests as long as it works: pages go first.

    Threads may share it.

    Args:
        look: Gives what is found, one at a time; whatever else it does between two things is cut off when the index has
            changed or is closed.
        state: Of the index: what was found holds while this stays equal.
    """

    def __init__(self, look: Callable[[], Iterator[T]], state: Callable[[], int]) -> None:
        self._look = look
        self._state = state
        self._lock = threading.Lock()
        self._of: int | None = None
        self._done = False
        self._finding: list[T] = []
        self._found: list[T] | None = None

    def now(self) -> tuple[list[T], bool]:
        """What is known, and whether that is all of the state that holds now.

        Until the first look is through, what it has found so far; afterwards what the last look found that went
        through. The first call for a state starts the look and does not wait for it.
        """
        state = self._state()
        with self._lock:
            if state != self._of:
                self._of, self._done, self._finding = state, False, []
                threading.Thread(target=self._run, args=(state,), name="armarius-studio-look", daemon=True).start()
            return list(self._finding if self._done or self._found is None else self._found), self._done

    def _run(self, state: int) -> None:
        try:
            began = time.monotonic()
            for one in self._look():
                with self._lock:
                    if self._of != state:
                        return
                    self._finding.append(one)
                time.sleep(min(_LONGEST_REST_S, time.monotonic() - began))
                began = time.monotonic()
        except ArmariusError:  # it was closed, or cannot be read just now: the next call of another state looks again
            with self._lock:
                if self._of == state:
                    self._of = None
            return
        with self._lock:
            if self._of == state:
                self._found, self._done = self._finding, True
