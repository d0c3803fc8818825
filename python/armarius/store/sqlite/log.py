"""The write-ahead log of an index: how long it may become, and how it is folded into the index.

SQLite folds a log of 4 MB in whichever commit makes it so long, which then takes four times as long as the others. Here
it folds none: that is put off until nobody waits for the index (`Lagging`), and a commit folds only a log that is four
times as long, as of somebody who writes and writes.
"""

from pathlib import Path
from typing import Final

import apsw

__all__ = ["Log"]

_LONG: Final = 4 * 1024 * 1024
_TOO_LONG: Final = 4 * _LONG


class Log:
    """The log of one index.

    Args:
        index: The index file.
        writer: The connection that writes; its commits fold nothing from now on.
        busy_seconds: How long that waits for others.
    """

    def __init__(self, index: Path, writer: apsw.Connection, busy_seconds: float) -> None:
        self._path = Path(f"{index}-wal")
        self._writer = writer
        self._busy_ms = int(busy_seconds * 1000)
        writer.execute("PRAGMA wal_autocheckpoint = 0")

    def is_long(self) -> bool:
        """Whether to fold it when there is time."""
        return self._size() > _LONG

    def is_too_long(self) -> bool:
        """Whether to fold it now."""
        return self._size() > _TOO_LONG

    def shorten(self) -> None:
        """Fold the log into the index, unless somebody still reads from it; between two transactions."""
        self._writer.set_busy_timeout(0)
        try:
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self._writer.set_busy_timeout(self._busy_ms)

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return 0
