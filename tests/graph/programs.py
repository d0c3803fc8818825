"""The programs that the NervusDB adapter is tested with: a strict fake everywhere, the real one where there is one."""

import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "nervusdb"  # `make nervusdb` installs here, or writes down why it could not


def script(folder: Path, body: str, name: str = "nervusdb-cli") -> Path:
    """A Python program that can be run by its path."""
    if sys.platform == "win32":
        pytest.skip("a script is no program on Windows")
    file = folder / name
    file.write_text(f"#!{sys.executable} -SEs\n{body}", encoding="utf-8")
    file.chmod(0o755)
    return file


def fake_program(folder: Path) -> Path:
    """The fake, as a program in `folder`."""
    return script(folder, Path(__file__).with_name("fake_nervusdb.py").read_text(encoding="utf-8"))


def real_program() -> str:
    """`nervusdb-cli` from NERVUSDB_BIN, the cache of `make nervusdb`, or the PATH; skips with the reason."""
    cached = shutil.which("nervusdb-cli", path=str(CACHE / "bin"))
    found = os.environ.get("NERVUSDB_BIN") or cached or shutil.which("nervusdb-cli")
    if found is None:
        told = CACHE / "reason.txt"
        reason = told.read_text(encoding="utf-8").strip() if told.is_file() else "run `make nervusdb` to try"
        pytest.skip(f"the real nervusdb-cli is not here: {reason}")
    return found
