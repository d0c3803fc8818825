"""What a process has open is its own: after a fork the child makes its own, and leaves its parent's alone."""

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["PerProcess"]

Thing = TypeVar("Thing")


class PerProcess(Generic[Thing]):
    """One thing for each process that asks for it; the first is there already.

    What a child inherited is kept, neither used nor closed: closing it could reach what the parent still uses.
    """

    def __init__(self, first: Thing) -> None:
        self._process = os.getpid()
        self._thing = first
        self._inherited: list[Thing] = []
        self._locks: dict[int, threading.Lock] = {}  # one for each process: its parent's may be held for ever

    def mine(self) -> Thing | None:
        """That of this process; None when it has not made one."""
        return self._thing if self._process == os.getpid() else None

    def here(self, make: Callable[[], Thing]) -> Thing:
        """That of this process, made with `make` when it is not there yet.

        Cost: one system call.
        """
        process = os.getpid()
        if self._process == process:
            return self._thing
        with self._locks.setdefault(process, threading.Lock()):
            if self._process != process:
                made = make()
                self._inherited.append(self._thing)
                self._thing, self._process = made, process
            return self._thing
