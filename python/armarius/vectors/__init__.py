"""Recall by meaning: an embedder, the vectors of a store, and the work between them.

recall.py (what users ask)   project_vectors.py (over one store)   queue.py (embedding, in the background)
project_vectors.py (questions asked again)   model_quality.py (what stands out)   queue.py (what it says of itself)

What must hold: vectors of two models never mix; nothing here knows SQL or which store it is; an answer never waits for
embedding.
"""

from armarius.lazy import lazy

TABLE = {
    "vectors.queue": "EmbeddingProgress SemanticStatus SimilarEntity",
    "vectors.recall": "ProjectRecall",
}

__getattr__, __all__ = lazy(__name__, TABLE)
