"""The derived index behind two protocols, `Store` and `VectorStore`; `sqlite/` is the embedded engine.

protocol.py rows.py      what a store is asked and told, and the plain rows of it
vectors_protocol.py      the same for vectors; fingerprint.py (whose they are), vector_rows.py (which can be compared),
                         embedded_texts.py (which paragraphs have one, and of exactly which text)

A new engine is a folder beside `sqlite/` that passes `armarius.testing.StoreConformance` and `VectorStoreConformance`.
What must hold: SQL and its library are used nowhere else; nobody asks which store it is; a document, what was learnt
from it and the vectors of its text change in one transaction; nothing here is the only copy of anything.
"""

from armarius.lazy import lazy

TABLE = {
    "store.vectors_protocol": "Leasing",
}

__getattr__, __all__ = lazy(__name__, TABLE)
