"""How long a process took on its own account: a busy machine makes a call late, and no fault of it."""

import contextlib
import os
import time


class Clock:
    """Runs from its making, for the process `pid` or this one.

    Linux tells of every thread how long it ran and how long it was ready to run and had to wait for a processor; on
    other systems all time counts.
    """

    def __init__(self, pid: int | str = "self") -> None:
        self._pid = pid
        self._start = time.perf_counter()
        self._ran, self._waited = self._threads()

    def own_s(self) -> float:
        """Seconds since, without those in which it only waited for a processor; what it blocked or slept counts."""
        seconds = time.perf_counter() - self._start
        ran, waited = self._threads()
        # Threads that wait at the same time are counted twice: it took at least what it ran, on all processors.
        return min(seconds, max(seconds - (waited - self._waited), (ran - self._ran) / (os.cpu_count() or 1)))

    def _threads(self) -> tuple[float, float]:
        ran = waited = 0
        try:
            threads = os.listdir(f"/proc/{self._pid}/task")  # noqa: PTH208 - listed and read, many times
        except OSError:
            return 0.0, 0.0
        for thread in threads:
            with contextlib.suppress(OSError, ValueError):  # ended meanwhile
                with open(f"/proc/{self._pid}/task/{thread}/schedstat") as file:  # noqa: PTH123
                    times = file.read().split()
                ran, waited = ran + int(times[0]), waited + int(times[1])
        return ran / 1e9, waited / 1e9
