"""The vectors of recent queries: a writer's query is asked again with every keystroke."""

import threading
from collections import OrderedDict

from armarius.embedders.protocol import Embedder, Fingerprint, Vectors

__all__ = ["QueryVectors"]

_REMEMBERED = 64


class QueryVectors:
    """Embeds a query once; the last 64 are remembered. Threads may share it."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Fingerprint, str], Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def vector(self, embedder: Embedder, query: str) -> Vectors:
        """The vector of `query`: float32, shape (dimension,); zeros when it has nothing to embed."""
        key = (embedder.fingerprint, query)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        vector: Vectors = embedder.embed([query])[0]
        with self._lock:
            self._known[key] = vector
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return vector
