"""What a store has put off, done by a thread of its own once nobody waits for the index."""

import threading
from contextlib import suppress
from typing import Final

from armarius.errors import StoreError
from armarius.store.protocol import Lagging, Store

__all__ = ["Filler"]

_REST_SECONDS: Final = 1.0  # the first questions after an open go before


class Filler:
    """Lets one store catch up at a time; for the threads that refresh and close an index, in turn."""

    def __init__(self) -> None:
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, store: Store) -> None:
        """Let `store` catch up soon, if it has put something off; returns at once."""
        if not isinstance(store, Lagging) or (self._thread is not None and self._thread.is_alive()):
            return
        if store.lags():
            self._ending = ending = threading.Event()
            thread = threading.Thread(target=_fill, args=(store, ending), name="armarius-filler", daemon=True)
            with suppress(RuntimeError):  # no thread to be had: whoever searches fills it
                thread.start()
                self._thread = thread

    def end(self) -> None:
        """Stop after the transaction under way; what is left is done by the next search, or the next open."""
        self._ending.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()


def _fill(store: Lagging, ending: threading.Event) -> None:
    if not ending.wait(_REST_SECONDS):
        with suppress(StoreError):  # held, full or damaged: whoever searches is told
            store.fill(lambda: not ending.is_set())
