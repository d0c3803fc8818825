"""How long the stages of a question take."""

import time

__all__ = ["Clock"]


class Clock:
    """Milliseconds per stage."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """The time since the last lap is that of `stage`."""
        now = time.perf_counter()
        self.stages[stage] = (now - self._last) * 1000
        self._last = now
