import pytest
from tests.store.conformance import StoreConformance

from armarius.store.sqlite.location import Place
from armarius.store.sqlite.store import SqliteStore


class TestSqliteStore(StoreConformance):
    @pytest.fixture
    def open_store(self, tmp_path, monkeypatch):
        monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path / "cache"))
        return lambda project_id="p": SqliteStore.open(Place(tmp_path / project_id), project_id=project_id)
