"""The entities of a graph, read beside the requests: whoever comes waits for one reading, and for no longer than once.

One reading at a time runs in a thread of its own, the store's stamp first. Requests wait until it has ended or is
`timeout_s` old; while one is older than that, they are answered at once from what was read before.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from armarius.calls import patiently, remaining
from armarius.codex.merge import NameIndex
from armarius.codex.model import Codex, Entity
from armarius.graph.additions import (
    Known,
    project_id,
    reason,
    sound,
)
from armarius.graph.protocol import GraphStore
from armarius.warnings_table import KG_UNAVAILABLE

__all__ = ["Cast"]

_SHARE = 0.5  # of what is left of a call: everything else comes after
_AGAIN_S = 10.0  # after a reading that failed or was late, the store is left alone for so long


@dataclass(slots=True)
class _Reading:
    """One look at the store, under way."""

    deadline: float
    wish: int
    done: threading.Event = field(default_factory=threading.Event)


class Cast:
    """Everybody in a graph. Threads may share it.

    Args:
        store: May raise anything, return anything and never answer.
        timeout_s: Seconds that requests wait for one reading, all together.
    """

    def __init__(self, store: GraphStore, timeout_s: float) -> None:
        self._store = store
        self._timeout = timeout_s
        self._lock = threading.Lock()
        self._entities: tuple[Entity, ...] = ()
        self._stamp: object = None
        self._wish, self._granted = 1, 0  # of `forget`: the last one, and the one that was read for
        self._read = self._incomplete = False
        self._again = 0.0
        self._reading: _Reading | None = None
        self._known: tuple[Codex, Known] | None = None

    @property
    def entities(self) -> tuple[Entity, ...]:
        """As last read, by id."""
        return self._entities

    def look(self) -> None:
        """Read what has changed. Hold no lock: this waits, until the reading under way is `timeout_s` old.

        Cost: one thread, about 0.1 ms, and the store's `stamp`; its `snapshot` when that differs.
        """
        with self._lock:
            if self._reading is None and time.monotonic() >= self._again:
                self._reading = self._begin()
            reading = self._reading
        if reading is not None:
            left = max(0.0, reading.deadline - time.monotonic())
            patiently(reading.done.wait, remaining(left, share=_SHARE))

    def beside(self, codex: Codex) -> Known:
        """Those that `codex` lacks; the same object while nothing changes. Never waits."""
        with self._lock:
            if self._known is None or self._known[0] is not codex:
                names = NameIndex(codex.entities)
                mine = tuple(one for one in self._entities if project_id(one, names) not in names.entities)
                self._known = (codex, Known(entities=mine))
            known = self._known[1]
            late = self._reading is not None and time.monotonic() >= self._reading.deadline
            warnings = (KG_UNAVAILABLE(),) if late or self._incomplete or not self._read else ()
            if known.warnings != warnings:
                known = replace(known, warnings=warnings)
                self._known = (codex, known)
            return known

    def forget(self) -> None:
        """Read everything at the next look, whatever the stamp says."""
        with self._lock:
            self._wish += 1
            self._again = 0.0

    def _begin(self) -> _Reading | None:
        reading = _Reading(time.monotonic() + self._timeout, self._wish)
        try:
            threading.Thread(target=self._look, args=(reading,), name="armarius-graph", daemon=True).start()
        except RuntimeError as error:  # no thread to be had
            reason(error)
            self._failed()
            return None
        return reading

    def _look(self, reading: _Reading) -> None:
        try:
            # The stamp first: what is written while we read is read once more.
            stamp = self._ask_stamp()
            if self._granted != reading.wish or bool(stamp != self._stamp):
                graph = sound(self._store.snapshot())
                with self._lock:
                    if not self._read or graph.entities != self._entities:
                        self._entities, self._known = graph.entities, None
                    self._stamp, self._read, self._granted = stamp, True, reading.wish
                    self._incomplete = KG_UNAVAILABLE() in graph.warnings
        except BaseException as error:  # noqa: BLE001 - no source failure may fail the call, nor end in a traceback
            reason(error)
            with self._lock:
                self._failed()
        with self._lock:
            if time.monotonic() >= reading.deadline:
                self._again = time.monotonic() + _AGAIN_S
            if self._wish != reading.wish:  # told to forget meanwhile
                self._again = 0.0
            self._reading = None
        reading.done.set()

    def _failed(self) -> None:
        self._granted, self._incomplete, self._again = 0, True, time.monotonic() + _AGAIN_S

    def _ask_stamp(self) -> object:
        """What the store says changes with it; None where it says nothing."""
        stamp: Callable[[], object] | None = getattr(self._store, "stamp", None)
        return None if stamp is None else stamp()
