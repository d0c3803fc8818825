"""The vectors of recent queries: a writer's query is asked again with every keystroke."""

import threading
from collections import OrderedDict

from armarius.calls import bounded
from armarius.embedders.adapt import model_failed
from armarius.embedders.protocol import Embedder, Fingerprint, Vectors
from armarius.errors import ArmariusError, EmbeddingError

__all__ = ["QueryVectors"]

_REMEMBERED = 64


def _late(seconds: float) -> Exception:
    return EmbeddingError(f"the embedder gave no answer within {round(seconds, 2):g} s")


class QueryVectors:
    """Embeds a query once; the last 64 are remembered. Threads may share it."""

    def __init__(self) -> None:
        # beside each vector who made it: the fingerprint says nothing of the prompt of questions
        self._known: OrderedDict[tuple[Fingerprint, str], tuple[Embedder, Vectors]] = OrderedDict()
        self._lock = threading.Lock()

    def vector(self, embedder: Embedder, query: str) -> Vectors:
        """The vector of `query`: float32, shape (dimension,); zeros when it has nothing to embed.

        Raises:
            EmbeddingError: The embedder failed, whatever it raised, or was late.
        """
        key = (embedder.fingerprint, query)
        with self._lock:
            known = self._known.get(key)
            if known is not None and known[0] is embedder:
                self._known.move_to_end(key)
                return known[1]
        try:
            vector: Vectors = bounded(lambda: embedder.embed_queries([query])[0], _late)
        except ArmariusError:
            raise
        except Exception as error:
            raise model_failed(error) from error
        with self._lock:
            self._known[key] = (embedder, vector)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return vector
