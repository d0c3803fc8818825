import os
from pathlib import Path

import pytest
from tests.trust.support import CODE, NOVEL, put


@pytest.fixture(autouse=True)
def config(tmp_path, monkeypatch) -> Path:
    """The user's configuration folder; no program of this machine is found."""
    monkeypatch.setenv("ARMARIUS_CONFIG", str(tmp_path / "config"))
    for variable in ("CKB_BIN", "NERVUSDB_BIN", "SCIP_PYTHON_BIN", "SCIP_TYPESCRIPT_BIN", "ARMARIUS_TOOLS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", os.defpath)
    (tmp_path / "config").mkdir()
    return tmp_path / "config"


@pytest.fixture
def cloned(tmp_path) -> Path:
    """A project of somebody else's: a chapter and a source file."""
    put(tmp_path / "cloned" / "a.md", NOVEL)
    put(tmp_path / "cloned" / "a.py", CODE)
    return tmp_path / "cloned"


@pytest.fixture
def says(cloned):
    """Writes the project's armarius.toml."""
    return lambda text: put(cloned / "armarius.toml", text)


@pytest.fixture
def allows(config):
    """Writes the user's config.toml."""
    return lambda text: put(config / "config.toml", text)
