"""Vector search over an open project: embeds paragraphs and entity cards, and finds the nearest to a query.

    embedder.py          the protocol `Embedder`; wraps a host's own model; weight of vector search in this project
    recall.py            `ProjectRecall`, the public class; follows the store when the index is rebuilt
    project_vectors.py   vector search and embedding over one store; background thread, progress and status

Invariants: vectors of two models are never compared; nothing here uses SQL or depends on a kind of store; a query never
waits for documents to be embedded.
"""

from armarius.doors import lazy

TABLE = {
    "vectors.project_vectors": "EmbeddingProgress SemanticStatus SimilarEntity",
    "vectors.recall": "ProjectRecall",
}

__getattr__, __all__ = lazy(__name__, TABLE)
