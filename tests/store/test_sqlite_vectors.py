"""The vectors of the embedded store pass the tests of every vector store, compared one by one and by USearch."""

import pytest

from armarius.store.sqlite.location import IndexPlace
from armarius.store.sqlite.store import SqliteStore
from armarius.testing import VectorStoreConformance


@pytest.fixture
def opened(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
    with_vectors = SqliteStore.open(IndexPlace(tmp_path / "p"), project_id="p")
    yield with_vectors
    with_vectors.close()


class TestExactSearch(VectorStoreConformance):
    @pytest.fixture
    def store(self, opened):
        return opened


class TestTheApproximateIndex(VectorStoreConformance):
    @pytest.fixture
    def store(self, opened):
        opened.vectors.approximate.exact_below = 2
        return opened
