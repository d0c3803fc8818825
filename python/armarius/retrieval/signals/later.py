"""Reasons that are looked for when somebody reads them: most hosts take the places of an answer and no more.

What they are looked for in is kept until then: the documents of the answer, the question, the names. So that a host
that keeps answers by the thousand does not keep as many old states of its project, the reasons of all but the last
hits are found after all.
"""

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from weakref import ref

from armarius.records import Evidence

__all__ = ["Later"]

_UNREAD: Final = 160  # hits, 32 answers of five


class Later:
    """The evidence of one hit, found by the first who asks. Threads may share it: at worst it is found twice.

    Args:
        find: Finds it, in what does not change; let go afterwards.
    """

    __slots__ = ("__weakref__", "_find", "_found")

    def __init__(self, find: Callable[[], tuple[Evidence, ...]]) -> None:
        self._find: Callable[[], tuple[Evidence, ...]] | None = find
        self._found: tuple[Evidence, ...] = ()
        _unread.append(ref(self))  # no lock: a fork would keep it for ever
        while len(_unread) > _UNREAD:
            with suppress(IndexError):  # another thread was faster
                oldest = _unread.popleft()()
                if oldest is not None:
                    oldest()

    def __call__(self) -> tuple[Evidence, ...]:
        """The reasons, the strongest first."""
        find = self._find
        if find is not None:
            self._found = find()
            self._find = None
        return self._found


_unread: deque[ref[Later]] = deque()
