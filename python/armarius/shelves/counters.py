"""What a shelf has done, counted; for a host's own metrics."""

import threading

__all__ = ["Counters"]


class Counters:
    """Sums since the shelf was made. Threads may share it.

    Attributes:
        questions: Asked of any project.
        seconds: That they took together.
        stale: Of them, answered from memory while the server was away.
        writes: Committed.
        bytes: Of the files that were written.
    """

    def __init__(self) -> None:
        self.questions = self.stale = self.writes = self.bytes = 0
        self.seconds = 0.0
        self._lock = threading.Lock()

    def asked(self, seconds: float, *, stale: bool = False) -> None:
        """One question."""
        with self._lock:
            self.questions += 1
            self.seconds += seconds
            self.stale += stale

    def written(self, size: int) -> None:
        """One write."""
        with self._lock:
            self.writes += 1
            self.bytes += size
