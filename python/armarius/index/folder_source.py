"""A folder as a source of documents.

Stamps decide what is read, hashes decide what is written: a touched file costs one read, an untouched one a stat. A
file is forgotten only when a second look confirms that it is gone.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from armarius.config import Config
from armarius.documents.document import (
    Document,
    FileStamp,
    Skipped,
    read_document,
    reread_document,
    walk_files,
)
from armarius.errors import DocumentSkipped, UnknownDocument
from armarius.index.source import ReadBatch, SourceChanges
from armarius.store.rows import FileRow, Put, Remove, Restamp

__all__ = ["FolderSource"]

# A file changed this recently may change again under the same stamp, so its stamp is kept with a doubt. Kernels tick
# every 4 to 10 ms; file systems that keep no finer time than milliseconds may step by up to two seconds (FAT).
_RACY_NS = 50_000_000
_COARSE_NS = 2_000_000_000
_DOUBT = "?"
_CHUNK_BYTES = 64 * 1024 * 1024


class FolderSource:
    """`DocumentSource` over the files below a folder.

    Args:
        root: The project folder.
        config: Says what is a document, and how it is read; asked each time.
    """

    def __init__(self, root: Path, config: Callable[[], Config]) -> None:
        self.root = root
        self._config = config

    def stamp(self) -> str:
        """See `DocumentSource`: a folder cannot say without looking at every file."""
        return ""

    def compare(
        self, known: Mapping[str, FileRow], *, only: Collection[str] = (), force: bool = False
    ) -> SourceChanges:
        """See `DocumentSource`.

        Cost: one stat per file; 1,000 files take about 5 ms.
        """
        stamps, skipped = walk_files(self.root, self._config(), only=only)
        here = {stamp.path for stamp in stamps}
        wanted = set(only)
        gone = [path for path in known if path not in here and (not wanted or _covered(path, wanted))]
        if gone:  # a second look, at these alone: a file may be between its removal and its replacement
            again, _ = walk_files(self.root, self._config(), only=gone)
            stamps = sorted({*stamps, *(stamp for stamp in again if stamp.path in known)}, key=lambda stamp: stamp.path)
            here = {stamp.path for stamp in stamps}
        to_read = [s for s in stamps if force or s.path not in known or known[s.path].stamp != s.stamp]
        doubtful = sum(s.path in known and known[s.path].stamp == _DOUBT + s.stamp for s in to_read)
        removed = tuple(path for path in gone if path not in here)
        return SourceChanges(tuple(to_read), removed, tuple(skipped), doubtful, force)

    def read(self, difference: SourceChanges, known: Mapping[str, FileRow]) -> Iterator[ReadBatch]:
        """See `DocumentSource`; at most 64 MB of files at a time."""
        found = ReadBatch([Remove(path) for path in difference.removed])
        size = 0
        for stamp in difference.to_read:
            if size and size + stamp.size > _CHUNK_BYTES:
                yield found
                found, size = ReadBatch(), 0
            size += stamp.size
            self._read(stamp, known.get(stamp.path), found, force=difference.force)
        yield found

    def document(self, path: str, known: Document | None = None) -> Document:
        """See `DocumentSource`. Cost: reads and hashes the file; parses it only when it differs."""
        if known is None:
            return read_document(self.root, path, config=self._config())
        return reread_document(self.root, known, config=self._config())

    def _read(self, stamp: FileStamp, row: FileRow | None, found: ReadBatch, *, force: bool) -> None:
        racy = _RACY_NS if stamp.changed_ns % 1_000_000 else _COARSE_NS
        trusted = stamp.stamp if time.time_ns() - stamp.changed_ns > racy else _DOUBT + stamp.stamp
        try:
            document = read_document(self.root, stamp.path, config=self._config())
        except DocumentSkipped as error:
            found.skipped.append(Skipped(error.path, error.reason))
            document = None
        except UnknownDocument:  # gone since the walk
            document = None
        if document is None:
            if row is not None:
                found.changes.append(Remove(stamp.path))
        elif row is not None and row.content_hash == document.content_hash and not force:
            if row.stamp != trusted:
                found.changes.append(Restamp(stamp.path, trusted))
        else:
            found.changes.append(Put(document, trusted))


def _covered(path: str, wanted: set[str]) -> bool:
    """The path or a folder it lies in is wanted."""
    return path in wanted or any(path[:at] in wanted for at, c in enumerate(path) if c == "/")
