"""The programs that the NervusDB adapter is tested with: a strict fake everywhere, the real one where there is one."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.programs import python_program


def script(folder: Path, body: str, name: str = "nervusdb") -> Path:
    """A Python program that can be run by its path."""
    if sys.platform == "win32":
        pytest.skip("a script is no program on Windows")
    return python_program(folder / name, body, "-SEs")


def fake_program(folder: Path, name: str = "nervusdb") -> Path:
    """The fake, as a program in `folder`."""
    return script(folder, Path(__file__).with_name("fake_nervusdb.py").read_text(encoding="utf-8"), name)


def real_program() -> str:
    """The program that `NERVUSDB_BIN` names, or that is on the PATH under one of its names; skips without one."""
    found = os.environ.get("NERVUSDB_BIN") or shutil.which("nervusdb") or shutil.which("nervusdb-cli")
    if found is None:
        pytest.skip("nervusdb is not on the PATH; how to get it: docs/extending.md")
    return found
