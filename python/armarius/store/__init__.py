"""The derived index behind two protocols, `Store` and `VectorStore`, with two engines: `sqlite/` and `postgres/`.

protocol.py              the `Store` protocol, its rows, and those derived from documents
vectors_protocol.py      the `VectorStore` protocol; identity of a model, which text is embedded, checks of vectors

A new engine is a folder next to `sqlite/` that passes `armarius.testing.StoreConformance` and
`VectorStoreConformance`. Invariants: SQL and its libraries are used only here; callers do not depend on the engine; a
document, its derived rows and its vectors change in one transaction; all data can be rebuilt from the project.
"""

from armarius.doors import lazy

TABLE = {
    "store.vectors_protocol": "Leasing",
}

__getattr__, __all__ = lazy(__name__, TABLE)
