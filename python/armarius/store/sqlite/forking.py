"""What has an SQLite file open when a process forks.

A connection must not be used on both sides of a fork: the child's SQLite believes to hold locks that are its parent's,
so that neither a reader of the child nor its files would be protected. So a fork waits for the transaction under way,
and the child begins by closing what it has inherited, which touches nothing of the parent's: locks of files belong to a
process. What could not be waited for stays as it is, unused, to the child's end.
"""

import os
import threading
import weakref
from typing import Final, Protocol

__all__ = ["HERE_ONLY", "cross"]

HERE_ONLY: Final = "opened by another process, which was forked since; open it again in this one"
_PATIENCE_SECONDS: Final = 2.0


class _Crossing(Protocol):
    """Something that has files open."""

    def hold(self, seconds: float, /) -> bool:
        """Wait until nobody uses it, and keep it so; False when that took longer."""
        ...

    def release(self) -> None:
        """Go on, in the parent; only after `hold` answered True."""
        ...

    def part(self, held: bool, /) -> None:
        """In the child: close what is open if it is `held`, and be of no use afterwards."""
        ...


_open: Final[weakref.WeakSet[_Crossing]] = weakref.WeakSet()
_held: Final[list[tuple[_Crossing, bool]]] = []
_left: Final[list[_Crossing]] = []  # never closed: somebody was using them at the fork
_forking: Final = threading.Lock()


def cross(one: _Crossing) -> None:
    """Have `one` asked at every fork, for as long as it lives."""
    _open.add(one)


def _before() -> None:
    _forking.acquire()
    _held.extend((one, one.hold(_PATIENCE_SECONDS)) for one in list(_open))


def _in_parent() -> None:
    for one, held in _held:
        if held:
            one.release()
    _held.clear()
    _forking.release()


def _in_child() -> None:
    for one, held in _held:
        one.part(held)
        if not held:
            _left.append(one)
    _held.clear()
    _open.clear()
    _forking.release()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
