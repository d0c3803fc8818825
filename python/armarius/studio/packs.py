"""The last prompts that were assembled here, to compare and to look at under other budgets."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from armarius.assembly.report.pack import Pack

__all__ = ["Kept", "Packs"]

_MOST = 20


@dataclass(frozen=True, slots=True)
class Kept:
    """A prompt and what was asked: its number, the fields of the form, the pack."""

    number: int
    asked: Mapping[str, str]
    pack: Pack

    @property
    def query(self) -> str:
        """The question."""
        return self.asked.get("query", "")

    @property
    def document(self) -> str:
        """The document that was open."""
        return self.asked.get("document", "")


class Packs:
    """At most twenty, the oldest forgotten first. Threads may share it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Kept] = OrderedDict()
        self._next = 1
        self._lock = threading.Lock()

    def keep(self, asked: Mapping[str, str], pack: Pack) -> Kept:
        """Keep a prompt under a number of its own."""
        with self._lock:
            one = Kept(self._next, dict(asked), pack)
            self._kept[one.number] = one
            self._next += 1
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
            return one

    def get(self, number: int) -> Kept | None:
        """The prompt of that number, or None when it was never kept or is forgotten."""
        with self._lock:
            return self._kept.get(number)

    def last(self) -> list[Kept]:
        """All that are kept, the newest first."""
        with self._lock:
            return list(reversed(self._kept.values()))
