"""Fakes for tests of host applications, and conformance suites for implementations of the protocols.

    fakes.py       `FakeFetcher`, `FixedCounter`, `FakeGraph`; `FakeSource`, `FakeAuthored`: a project in memory
    stores.py      conformance of a `Store`
    vectors.py     conformance of a `VectorStore`
    graphs.py      conformance of a `GraphStore`
    protocols.py   conformance of the other protocols

Modules are imported on first use: the suites need pytest, the fakes do not.
"""

from armarius.doors import lazy

TABLE = {
    "testing.fakes": "FakeAuthored FakeFetcher FakeGraph FakeSource FixedCounter",
    "testing.graphs": "GraphStoreConformance",
    "testing.protocols": "AuthoredConformance DocumentSourceConformance",
    "testing.stores": "StoreConformance",
    "testing.vectors": "VectorStoreConformance",
}

__getattr__, __all__ = lazy(__name__, TABLE)
