"""For every test: the index lives in a folder of its own, never in the user's cache."""

import pytest


@pytest.fixture(autouse=True)
def _cache_of_its_own(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("ARMARIUS_CACHE", str(tmp_path_factory.mktemp("cache")))
