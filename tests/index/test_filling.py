import time

import pytest
from tests.index.conftest import put
from tests.index.test_watcher import eventually

from armarius.index import manager
from armarius.index.project_index import ProjectIndex


@pytest.fixture
def many(tmp_path, cache):
    for i in range(12):
        put(tmp_path, f"many/n{i}.md", f"独角兽{i}号。\n")
    return tmp_path / "many"


def test_what_was_put_off_is_done_once_nobody_waits(many, monkeypatch):
    monkeypatch.setattr(manager, "_REST_SECONDS", 0.0)
    with ProjectIndex.open(many) as index:
        generation = index.store.generation()
        eventually(lambda: not index.store.lags())
        assert index.store.generation() == generation
        assert index.store.verify() == []


def test_a_search_does_not_wait_for_the_thread(many, monkeypatch):
    monkeypatch.setattr(manager, "_REST_SECONDS", 600.0)
    with ProjectIndex.open(many) as index:
        assert index.store.lags()
        assert [hit.path for hit in index.search("独角兽7号")] == ["n7.md"]
        assert not index.store.lags()


def test_an_index_is_closed_without_waiting_for_what_was_put_off(many, monkeypatch):
    monkeypatch.setattr(manager, "_REST_SECONDS", 600.0)
    index = ProjectIndex.open(many)
    began = time.monotonic()
    index.close()
    assert time.monotonic() - began < 60
    with ProjectIndex.open(many) as index:
        assert [hit.path for hit in index.search("独角兽11号")] == ["n11.md"]
