"""Real parts: CKB, the SCIP indexers and click, when `make code-tools` could install them."""

import os
import shutil
import tarfile
from pathlib import Path

import pytest
from tests.code.support import EXAMPLE, EXAMPLE_INDEX

from armarius.code.scip import build_index

TOOLS = Path(os.environ.get("ARMARIUS_TOOLS") or Path(__file__).parents[2] / ".cache" / "code-tools").resolve()
CKB = TOOLS / "node_modules" / ".bin" / "ckb"
SDIST = TOOLS / "click-8.1.8.tar.gz"


@pytest.fixture(autouse=True)
def _no_programs_of_this_machine(monkeypatch):
    """Tests see only what they are given."""
    for variable in ("CKB_BIN", "SCIP_PYTHON_BIN", "SCIP_TYPESCRIPT_BIN", "ARMARIUS_TOOLS"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(scope="session")
def tools():
    if not CKB.exists():
        pytest.skip("CKB and the SCIP indexers are not installed: make code-tools (needs npm)")
    return TOOLS


@pytest.fixture(scope="session")
def ckb_binary(tools):
    """The server itself rather than npm's launcher: what is killed in a test is what served."""
    found = sorted((tools / "node_modules" / "@tastehub").glob("ckb-*/bin/ckb*"))
    return str(found[0] if found else CKB)


@pytest.fixture(scope="session")
def click(tools):
    """(click's sources, their index), made once by the real scip-python and kept beside the tools."""
    if not SDIST.exists():
        pytest.skip("click's source distribution is not there: make code-tools")
    root, cache = tools / "click-8.1.8", tools / "click-index"
    if not (cache / "index.scip").exists():
        shutil.rmtree(root, ignore_errors=True)
        with tarfile.open(SDIST) as archive:
            archive.extractall(tools, filter="data")
        os.environ["ARMARIUS_TOOLS"] = str(tools)
        try:
            build_index(root, cache)
        finally:
            del os.environ["ARMARIUS_TOOLS"]
    return root, cache / "index.scip"


@pytest.fixture
def project(tmp_path):
    """A copy of the example project with its index in the root, as CKB wants it."""
    root = tmp_path / "code-project"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(EXAMPLE_INDEX, root / "index.scip")
    return root
