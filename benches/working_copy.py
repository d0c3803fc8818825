"""A corpus to measure on: a copy of its texts, with an index of its own."""

import os
import shutil
import time
from pathlib import Path

import pytest

__all__ = ["working_copy"]


def working_copy(folder: Path) -> Path:
    """Chapters and settings of the corpus that `ARMARIUS_CORPUS` names, below `folder`; skips the test without one."""
    corpus = os.environ.get("ARMARIUS_CORPUS")
    if not corpus or not (Path(corpus) / "chapters").is_dir():
        pytest.skip("ARMARIUS_CORPUS names no folder with chapters/")
    root = folder / "novel"
    for part in ("chapters", "spec"):
        if (Path(corpus) / part).is_dir():
            shutil.copytree(Path(corpus) / part, root / part)
    os.environ["ARMARIUS_CACHE"] = str(root.parent / "cache")
    time.sleep(0.1)  # until the stamps are old enough to be trusted
    return root
