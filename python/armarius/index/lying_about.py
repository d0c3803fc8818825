"""Files of a folder that are no documents and could be brought in: lorebooks and character cards, told by content."""

from pathlib import Path
from typing import NamedTuple

import armarius._core as _core
from armarius.config import Config
from armarius.errors import ArmariusError
from armarius.io import read_file
from armarius.lorebooks.opening import read_book

__all__ = ["LyingAbout", "books_lying_about"]

_SUFFIXES = (".json", ".png", ".charx", ".lorebook", ".risum")
_MOST_FILES = 40
_MOST_BYTES = 16 * 1024 * 1024  # of all that are opened


class LyingAbout(NamedTuple):
    """A file of the folder that is a book of another program: path, what it is, entries."""

    path: str
    format: str
    entries: int


def books_lying_about(root: Path, config: Config) -> list[LyingAbout]:
    """Books among the first forty files that might be one, in path order; what is ignored or hidden is not looked at.

    Cost: a walk, and reading those files, 16 MiB at most.
    """
    found: list[LyingAbout] = []
    walked, _, _ = _core.walk(str(root), list(config.exclude), [])
    likely = [file for file in walked if file.path.lower().endswith(_SUFFIXES)]
    room = _MOST_BYTES
    for file in sorted(likely, key=lambda one: one.path)[:_MOST_FILES]:
        if file.size > room:
            continue
        room -= file.size
        try:
            book = read_book(read_file(root / file.path, limit=file.size, below=root), name=Path(file.path).name)
        except (ArmariusError, OSError, ValueError):  # a picture, a package file: nothing of ours
            continue
        if book.entries:
            found.append(LyingAbout(file.path.replace("\\", "/"), book.format, len(book.entries)))
    return found
