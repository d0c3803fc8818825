"""Texts that leave the process without a path of this machine in them."""

import re
from pathlib import Path

__all__ = ["without_paths"]

_ABSOLUTE = re.compile(r"(?<![\w.:/\\])(?:/[^\s'\":,;)\]]+|[A-Za-z]:\\[^\s'\":,;)\]]+|\\\\[^\s'\":,;)\]]+)")
_LONGEST = 600


def without_paths(text: str, *, root: Path | None = None) -> str:
    """`text` with the project folder removed from paths and other absolute paths cut to their last part."""
    if root is not None:
        for form in {str(root), root.as_posix()}:
            text = text.replace(f"{form}/", "").replace(f"{form}\\", "").replace(form, ".")
    text = _ABSOLUTE.sub(lambda found: re.split(r"[/\\]", found.group().rstrip("/\\"))[-1] or ".", text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
