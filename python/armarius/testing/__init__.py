"""Fakes for tests of host applications, and conformance suites for implementations of the protocols.

    fakes.py          `FakeFetcher`, `FixedCounter`, `FakeGraph`
    fake_project.py   `FakeSource`, `FakeAuthored`: a project in memory
    stores.py         conformance of a `Store`; its parts are store_contents.py and store_generations.py
    vectors.py        conformance of a `VectorStore`; its search part is vector_search.py
    graphs.py  sources.py  authored.py  rerankers.py   conformance of the other protocols
    novel.py  embedded.py   documents and vectors that the suites use

Modules are imported on first use: the suites need pytest, the fakes do not.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from armarius.testing.fakes import FakeFetcher, FakeGraph, FixedCounter

if TYPE_CHECKING:
    from armarius.testing.authored import AuthoredConformance
    from armarius.testing.fake_project import FakeAuthored, FakeSource
    from armarius.testing.graphs import GraphStoreConformance
    from armarius.testing.rerankers import RerankerConformance
    from armarius.testing.sources import DocumentSourceConformance
    from armarius.testing.stores import StoreConformance
    from armarius.testing.vectors import VectorStoreConformance

__all__ = [
    "AuthoredConformance",
    "DocumentSourceConformance",
    "FakeAuthored",
    "FakeFetcher",
    "FakeGraph",
    "FakeSource",
    "FixedCounter",
    "GraphStoreConformance",
    "RerankerConformance",
    "StoreConformance",
    "VectorStoreConformance",
]

_LAZY = {
    "AuthoredConformance": "authored",
    "DocumentSourceConformance": "sources",
    "GraphStoreConformance": "graphs",
    "FakeAuthored": "fake_project",
    "FakeSource": "fake_project",
    "RerankerConformance": "rerankers",
    "StoreConformance": "stores",
    "VectorStoreConformance": "vectors",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
