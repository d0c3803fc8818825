"""What changed in the folder since the index last looked, and the documents behind it.

Stamps decide what is read, hashes decide what is written: a touched file costs one read, an untouched one a stat. A
file is forgotten only when a second look confirms that it is gone.
"""

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from armarius.config import Config
from armarius.documents.document import (
    Document,
    FileStamp,
    Skipped,
    read_document,
    walk_files,
)
from armarius.errors import DocumentSkipped, UnknownDocument
from armarius.store.protocol import (
    Change,
    FileRow,
    Put,
    Remove,
    Restamp,
)

__all__ = ["Difference", "Found", "compare", "read_changes", "reader_note"]

# What is stored of a file depends on how it is read: raise this when `documents` reads the same bytes differently.
_READER = 1

# A file changed this recently may change again under the same stamp, so its stamp is kept with a doubt. Kernels tick
# every 4 to 10 ms; file systems that keep no finer time than milliseconds may step by up to two seconds (FAT).
_RACY_NS = 50_000_000
_COARSE_NS = 2_000_000_000
_DOUBT = "?"
_CHUNK_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Difference:
    """Paths to read and paths to forget, in path order; `doubtful` of those to read were read too soon to be sure."""

    to_read: tuple[FileStamp, ...]
    removed: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    doubtful: int

    @property
    def certain(self) -> int:
        """Files that did change."""
        return len(self.to_read) + len(self.removed) - self.doubtful


@dataclass(slots=True)
class Found:
    """What reading a chunk of files brought: changes without mentions yet, in path order, and what was skipped."""

    changes: list[Change] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def documents(self) -> list[Document]:
        """The documents that are new or changed."""
        return [change.document for change in self.changes if isinstance(change, Put)]


def reader_note(config: Config) -> str:
    """How files are read, as the store notes it: what was read otherwise is read again."""
    return f"{_READER}:{config.kinds!r}:{config.max_bytes}"


def compare(
    root: Path, config: Config, known: Mapping[str, FileRow], *, only: Collection[str] = (), force: bool = False
) -> Difference:
    """Compare the folder with what the index knows.

    Args:
        root: The project folder.
        config: Its configuration.
        known: `Store.files()`.
        only: Relative paths of files and folders to look at; empty means everything.
        force: Read every file, whatever its stamp says.

    Cost: one stat per file; 1,000 files take about 5 ms.
    """
    stamps, skipped = walk_files(root, config, only=only)
    here = {stamp.path for stamp in stamps}
    wanted = set(only)
    gone = [path for path in known if path not in here and (not wanted or _covered(path, wanted))]
    if gone:  # a second look, at these alone: a file may be between its removal and its replacement
        again, _ = walk_files(root, config, only=gone)
        stamps = sorted({*stamps, *(stamp for stamp in again if stamp.path in known)}, key=lambda stamp: stamp.path)
        here = {stamp.path for stamp in stamps}
    to_read = [s for s in stamps if force or s.path not in known or known[s.path].stamp != s.stamp]
    doubtful = sum(s.path in known and known[s.path].stamp == _DOUBT + s.stamp for s in to_read)
    return Difference(tuple(to_read), tuple(path for path in gone if path not in here), tuple(skipped), doubtful)


def read_changes(
    root: Path, config: Config, difference: Difference, known: Mapping[str, FileRow], *, force: bool = False
) -> Iterator[Found]:
    """Read what differs, in chunks of at most 64 MB of files, and say what must change in the index."""
    found = Found([Remove(path) for path in difference.removed])
    size = 0
    for stamp in difference.to_read:
        if size and size + stamp.size > _CHUNK_BYTES:
            yield found
            found, size = Found(), 0
        size += stamp.size
        row = known.get(stamp.path)
        racy = _RACY_NS if stamp.changed_ns % 1_000_000 else _COARSE_NS
        trusted = stamp.stamp if time.time_ns() - stamp.changed_ns > racy else _DOUBT + stamp.stamp
        try:
            document = read_document(root, stamp.path, config=config)
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
    yield found


def _covered(path: str, wanted: set[str]) -> bool:
    """The path or a folder it lies in is wanted."""
    return path in wanted or any(path[:at] in wanted for at, c in enumerate(path) if c == "/")
