"""The last prompt of each task, for hosts that name their tasks instead of keeping packs."""

import threading
from collections import OrderedDict
from typing import Final

from armarius.assembly.report.pack import Pack

__all__ = ["Tasks"]

_MOST: Final = 32  # a pack is some hundreds of kilobytes


class Tasks:
    """Keeps the pack of each of the 32 tasks that were at work last. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._packs: OrderedDict[str, Pack] = OrderedDict()

    def last(self, task: str | None) -> Pack | None:
        """The last prompt of a task; None for none, and for one that is new or forgotten."""
        with self._lock:
            return self._packs.get(task) if task else None

    def keep(self, task: str | None, pack: Pack) -> None:
        """Remember what the next prompt of a task continues; of two at once, that which is kept last."""
        if not task:
            return
        with self._lock:
            self._packs[task] = pack
            self._packs.move_to_end(task)
            while len(self._packs) > _MOST:
                self._packs.popitem(last=False)
