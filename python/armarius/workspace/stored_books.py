"""The books of a stored project: the same files as in a folder, as rows."""

from collections.abc import Mapping

from armarius.lorebooks.storage import FOLDER
from armarius.workspace.stored import StoredFiles

__all__ = ["StoredBooks"]

_BELOW = f"{FOLDER}/"


class StoredBooks:
    """`BookKeeping` over the files of a project; a book is written in one transaction.

    Args:
        files: Of the project.
    """

    def __init__(self, files: StoredFiles) -> None:
        self._files = files

    def is_empty(self) -> bool:
        """See `BookKeeping`. Cost: none while no file has changed."""
        return not any(path.startswith(_BELOW) for path in self._files.entries())

    def ids(self) -> list[str]:
        """See `BookKeeping`."""
        found = (path.removeprefix(_BELOW).split("/") for path in self._files.entries() if path.startswith(_BELOW))
        return sorted({parts[0] for parts in found if len(parts) == 2})

    def stamp(self, id_: str, name: str) -> object:
        """See `BookKeeping`."""
        entry = self._files.entries().get(f"{_BELOW}{id_}/{name}")
        return None if entry is None else (entry.version, entry.hash)

    def read(self, id_: str, name: str, *, limit: int) -> bytes:
        """See `BookKeeping`."""
        path = f"{_BELOW}{id_}/{name}"
        entry = self._files.entries().get(path)
        if entry is None:
            raise FileNotFoundError(path)
        if entry.size > limit:
            raise OSError(f"{path}: {entry.size:,} bytes, at most {limit:,}")
        data = self._files.read([path]).get(path)
        if data is None:
            raise FileNotFoundError(path)
        return data

    def write(self, id_: str, files: Mapping[str, bytes]) -> None:
        """See `BookKeeping`."""
        self._files.put({f"{_BELOW}{id_}/{name}": data for name, data in files.items()})

    def remove(self, id_: str) -> None:
        """See `BookKeeping`."""
        below = f"{_BELOW}{id_}/"
        self._files.put({}, [path for path in self._files.entries() if path.startswith(below)])
