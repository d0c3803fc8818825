"""A real engine over a copy of the example novel, and a chat model that records what it is sent."""

import shutil
from pathlib import Path

import pytest

import armarius

NOVEL = Path(__file__).resolve().parents[2] / "examples" / "novel"


@pytest.fixture
def novel(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Path(shutil.copytree(NOVEL, tmp_path / "novel"))


@pytest.fixture
def engine(novel):
    with armarius.open(novel, watch=False) as engine:
        yield engine


@pytest.fixture(scope="session")
def standing(tmp_path_factory):
    """An engine over the example for what is refused: nothing may change it."""
    novel = shutil.copytree(NOVEL, tmp_path_factory.mktemp("standing") / "novel")
    with armarius.open(novel, watch=False) as engine:
        yield engine
