"""Every word file of the package, and how one is read."""

import tomllib
from pathlib import Path
from typing import Any

__all__ = ["word_file"]


def word_file(name: str) -> dict[str, Any]:
    """The tables of `name`.toml. Beside this file, not by importlib.resources: that takes as long as all the words."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
