"""For tests of code that uses armarius: fakes, and the conformance tests that a store of one's own must pass."""

from armarius.testing.fakes import FakeFetcher, FakeGraph, FixedCounter
from armarius.testing.graphs import GraphStoreConformance

__all__ = ["FakeFetcher", "FakeGraph", "FixedCounter", "GraphStoreConformance"]
