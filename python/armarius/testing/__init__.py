"""For tests of code that uses armarius: fakes, and the conformance tests that a store or source of one's own must pass.

The suites are loaded when they are asked for: most need pytest, the fakes do not.
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
