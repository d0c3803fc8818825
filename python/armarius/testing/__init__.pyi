# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.testing.fakes import FakeAuthored as FakeAuthored
from armarius.testing.fakes import FakeFetcher as FakeFetcher
from armarius.testing.fakes import FakeGraph as FakeGraph
from armarius.testing.fakes import FakeSource as FakeSource
from armarius.testing.fakes import FixedCounter as FixedCounter
from armarius.testing.graphs import GraphStoreConformance as GraphStoreConformance
from armarius.testing.protocols import AuthoredConformance as AuthoredConformance
from armarius.testing.protocols import DocumentSourceConformance as DocumentSourceConformance
from armarius.testing.stores import StoreConformance as StoreConformance
from armarius.testing.vectors import VectorStoreConformance as VectorStoreConformance
