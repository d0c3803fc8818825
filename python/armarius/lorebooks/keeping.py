"""Where the files of a project's books are kept: in its folder, or wherever a host keeps projects."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from armarius.io import folder_lock, names_in, read_file, remove_folder, stat_of, write_atomic

__all__ = ["FOLDER", "BookKeeping", "BooksInFolder"]

FOLDER = ".armarius/books"


class BookKeeping(Protocol):
    """The files of the books of one project: `.armarius/books/<id>/<name>`. Threads may share it."""

    def is_empty(self) -> bool:
        """Whether there is no book at all; every prompt asks."""
        ...

    def ids(self) -> list[str]:
        """Of the books, sorted."""
        ...

    def stamp(self, id_: str, name: str) -> object:
        """What changes with a file; None where there is none."""
        ...

    def read(self, id_: str, name: str, *, limit: int) -> bytes:
        """The bytes of a file.

        Raises:
            FileNotFoundError: There is none.
            OSError: It cannot be read, or has more than `limit` bytes.
        """
        ...

    def write(self, id_: str, files: Mapping[str, bytes]) -> None:
        """Keep these files of a book, in this order; one writer at a time.

        Raises:
            StoreError: They cannot be kept.
        """
        ...

    def remove(self, id_: str) -> None:
        """Forget a book and its files."""
        ...


class BooksInFolder:
    """`BookKeeping` in a project folder.

    Args:
        root: Of the project.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._shelf = str(root / FOLDER)

    def is_empty(self) -> bool:
        """See `BookKeeping`. Cost: one look."""
        return not os.path.lexists(self._shelf)

    def ids(self) -> list[str]:
        """See `BookKeeping`."""
        return names_in(self._root / FOLDER, below=self._root)

    def stamp(self, id_: str, name: str) -> object:
        """See `BookKeeping`. Cost: one look."""
        info = stat_of(self._root / FOLDER / id_ / name, below=self._root)
        return None if info is None else (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)

    def read(self, id_: str, name: str, *, limit: int) -> bytes:
        """See `BookKeeping`."""
        return read_file(self._root / FOLDER / id_ / name, limit=limit, below=self._root)

    def write(self, id_: str, files: Mapping[str, bytes]) -> None:
        """See `BookKeeping`; each file atomically."""
        folder = self._root / FOLDER / id_
        with folder_lock(folder, below=self._root):
            for name, data in files.items():
                write_atomic(folder / name, data, below=self._root)

    def remove(self, id_: str) -> None:
        """See `BookKeeping`."""
        remove_folder(self._root / FOLDER / id_, below=self._root)
