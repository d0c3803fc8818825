"""`DocumentSource`: the protocol of the documents of a project; `FolderSource`: a folder as a source.

A source is a folder or a storage of the host.
`armarius.testing.DocumentSourceConformance` tests a source; `FakeSource` is the smallest example.

    files = store.files()                                   # paths and stamps in the index
    difference = source.compare(files)                      # changed and removed documents
    for found in source.read(difference, files):            # changes for `Store.apply`
        ...
"""

import errno
import hashlib
import itertools
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from armarius._core import EventQueue, Seen
from armarius.deadline import Recent
from armarius.documents.document import (
    Document,
    FileStamp,
    Skipped,
    document_of,
    is_inside,
    look_at,
    read_document,
    read_documents,
    reread_document,
    walk_files,
)
from armarius.errors import ConfigError, ContextWarning, ProjectError, StoreError, UnknownDocument
from armarius.io import is_passing, no_path
from armarius.store.protocol import FileRow, Put, Remove, Restamp
from armarius.store.sqlite.location import IndexPlace, place_for
from armarius.trust.settings import Config
from armarius.warnings import CONFIG_KEPT

if TYPE_CHECKING:
    from armarius.codex.protocol import Authored
    from armarius.trust.settings import Permissions


# Version of the document reader: raise it when `documents` reads the same bytes differently.
_READER = 5


class LiveConfig:
    """Reads the configuration again when it has changed.

    Args:
        authored: Source of the configuration.
        first: The present configuration, if already read.

    Attributes:
        now: The last valid configuration.
        warning: Why the present one is invalid; None if it is valid.
        ignored: Warning about a setting of `first` that was ignored.
    """

    def __init__(self, authored: "Authored", first: Config | None = None) -> None:
        self._authored = authored
        self._stamp = "not read"
        self.now = Config() if first is None else first
        self.warning: ContextWarning | None = None
        self.ignored: ContextWarning | None = None

    def reload(self) -> None:
        """Read the configuration, unless it was read and is as it was."""
        if not self.is_stale():
            return
        self._stamp = self._authored.config_stamp()
        try:
            self.now, self.warning = self._authored.config(), None
        except ConfigError as error:
            self.warning = CONFIG_KEPT(error=error)
            if is_passing(error.__context__):
                self.forget()

    def forget(self) -> None:
        """Make `is_stale` true until the next `reload`."""
        self._stamp = "not read"

    @property
    def note(self) -> str:
        """Reader version and settings, stored in the index; when they change, all texts are read again."""
        said = (self.now.lines, self.now.read, self.now.people, self.now.proposed_people)
        more = f":{said!r}" if any(map(any, said)) else ""
        return f"{_READER}:{self.now.kinds!r}:{self.now.max_bytes}{more}"

    @property
    def folders(self) -> "Mapping[str, LiveConfig]":
        """The configurations of the other folders of a series, by the name before their paths."""
        return {}

    @property
    def warnings(self) -> tuple[ContextWarning, ...]:
        """Present warnings about the configuration."""
        return tuple(warning for warning in (self.warning, self.ignored) if warning is not None)

    def is_stale(self) -> bool:
        """Whether the configuration changed since the last `reload`."""
        return self._authored.config_stamp() != self._stamp


def place_of(
    root: Path,
    config: Config,
    index_dir: str | PathLike[str] | None = None,
    *,
    permissions: "Permissions | None" = None,
    others: Sequence[Path] = (),
) -> tuple[IndexPlace, ContextWarning | None]:
    """The place of the index of the project at `root`, and a warning of what `armarius.toml` says in vain.

    Args:
        root: The project folder.
        config: Its `index_dir` is a name from the user's configuration or, in a trusted project, any folder.
        index_dir: The caller's choice; takes precedence.
        permissions: What the project may set; None reads the user's configuration.
        others: The other folders of a series; each set of folders has an index of its own.

    Raises:
        ProjectError: `index_dir` is not a path.
        ConfigError: The configured folder is not a path.
    """
    if index_dir is not None and (problem := no_path(index_dir)):
        raise ProjectError(f"index_dir: {problem}")
    from armarius.trust.settings import Permissions, without_keys

    permissions = Permissions.of(root) if permissions is None else permissions
    if index_dir is not None:
        config = without_keys(config, ["documents.index_dir"])
    setting = permissions.heeded_config(config).index_dir
    chosen = index_dir if setting is None else permissions.place("documents.index_dir", setting)
    return place_for(root, chosen, others=others), permissions.warning(config)


@dataclass(frozen=True, slots=True)
class SourceChanges:
    """The differences between a source and an index.

    Attributes:
        to_read: Documents to read, in path order; a source without sizes or times leaves those 0.
        removed: Removed paths, in path order.
        skipped: Files that could not be read as documents.
        doubtful: Number of `to_read` that are read again only because their stamp was not reliable.
        force: All documents are read and stored again, because the reader or its settings changed.
    """

    to_read: tuple[FileStamp, ...] = ()
    removed: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    doubtful: int = 0
    force: bool = False

    @property
    def certain(self) -> int:
        """Number of documents that changed for certain."""
        return len(self.to_read) + len(self.removed) - self.doubtful


@dataclass(slots=True)
class ReadBatch:
    """The changes from reading some documents, in path order, and the skipped files."""

    changes: list[Put | Remove | Restamp] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def take(
        self, path: str, stamp: str, read: Document | Skipped | str | None, row: FileRow | None, *, force: bool
    ) -> None:
        """Add what the index lacks of one document that was read.

        Args:
            path: Of the document.
            stamp: With which it was read.
            read: Its content hash when only that was read, None when it is gone.
            row: Of the index.
            force: Put it also where its content is that of the index.
        """
        if isinstance(read, Skipped):
            self.skipped.append(read)
            read = None
        if read is None:
            if row is not None:
                self.changes.append(Remove(path))
        elif isinstance(read, Document) and (row is None or force or row.content_hash != read.content_hash):
            self.changes.append(Put(read, stamp))
        elif row is not None and row.stamp != stamp:
            self.changes.append(Restamp(path, stamp, row.content_hash))


def is_wanted(path: str, only: Collection[str]) -> bool:
    """Whether `only` is empty, or contains the path or one of its folders."""
    return not only or path in only or any(path[:at] in only for at, char in enumerate(path) if char == "/")


@runtime_checkable
class DocumentSource(Protocol):
    """The documents of one project. Thread-safe; other programs may change the documents at any time."""

    def stamp(self) -> str:
        """A value that changes with any document, or "" if unknown. Called per request, so it must be cheap."""

    def compare(
        self, files: Mapping[str, FileRow], *, only: Collection[str] = (), force: bool = False
    ) -> SourceChanges:
        """Compare the source with an index.

        Args:
            files: `Store.files()`.
            only: Paths of documents and folders to compare; empty means all.
            force: Read all documents, also those with an unchanged stamp.
        """

    def read(self, difference: SourceChanges, files: Mapping[str, FileRow]) -> Iterator[ReadBatch]:
        """Read the differing documents in batches of bounded size, and return the changes of the index.

        A document is `Put` if its text differs from the index (or with `force`), `Restamp`ed if only its stamp
        differs, `Remove`d if it is gone. Every path of `difference` is in at most one batch.
        """

    def document(self, path: str, copy: Document | None = None) -> Document:
        """One document as it is now; returns the object `copy` if it has not changed.

        Raises:
            UnknownDocument: There is no document of that path; `DocumentSkipped` if the file could not be read.
        """


# A file changed this recently may change again without a new time stamp, so its stamp is marked as doubtful. Kernel
# clocks tick every 4 to 10 ms; file systems with times in whole milliseconds may have steps of up to 2 s (FAT).
_RACY_NS = 50_000_000
_COARSE_NS = 2_000_000_000
_DOUBT = "?"
_CHUNK_BYTES = 64 * 1024 * 1024
_FILES, _BYTES = 64, 4 * 1024 * 1024  # limits of one batch of reads
_REREAD = 256  # documents kept in the cache of readings
# Messages of the system for too many open files or too little memory, and for a folder that cannot be listed. The core
# reports these messages; those of Windows differ, so there such a listing counts as empty.
_SHORT = tuple(os.strerror(number) for number in (errno.EMFILE, errno.ENFILE, errno.ENOMEM))
_SHUT = tuple(os.strerror(number) for number in (errno.EACCES, errno.EPERM, errno.EIO))


@dataclass(frozen=True, slots=True)
class _Walk:
    """The result of one walk of the folder, valid while no folder or file has changed."""

    name: str
    config: Config
    stamps: list[FileStamp]
    skipped: list[Skipped]
    seen: Seen

    def holds(self, config: Config, *, by_stats: bool) -> bool:
        return (self.config is config or self.config == config) and self.seen.holds(by_stats=by_stats)


class FolderSource:
    """`DocumentSource` over the files below a folder.

    Stamps decide what is read, hashes decide what is written: a touched file costs one read, an untouched one a stat. A
    file is forgotten only when a second look confirms that it is gone.

    Args:
        root: The project folder.
        config: Returns the present configuration, which selects the documents.
    """

    def __init__(self, root: Path, config: Callable[[], Config]) -> None:
        self.root = root
        self._config = config
        self._look: _Walk | None = None
        self._queue: EventQueue | None = None
        self._names = itertools.count(1)
        self._reread: dict[str, tuple[str, str]] = {}  # path to the stamp and hash last read

    def follow(self, queue: EventQueue | None) -> None:
        """Let the kernel report changes in this queue, which other folders may share; None ends it."""
        self._queue, self._look = queue, None

    def stamp(self) -> str:
        """See `DocumentSource`: identifies the last walk, "" if it is no longer valid.

        Cost: 3 µs where the kernel reports changes and there was none (`follow`); else one stat per file and folder,
        without the GIL, 1 to 3 µs each.
        """
        look = self._look
        if look is None or look.holds(self._config(), by_stats=False):
            return "" if look is None else look.name
        self._look = None
        return ""

    def compare(
        self, files: Mapping[str, FileRow], *, only: Collection[str] = (), force: bool = False
    ) -> SourceChanges:
        """See `DocumentSource`.

        Cost: one stat per file, also where the kernel reports changes, some of which it misses; 1,000 files take about
        5 ms, and 1 ms when none has changed since the last look.
        """
        stamps, skipped = walk_files(self.root, self._config(), only=only) if only else self._all_files()
        self._refuse_incomplete_listing(skipped)
        here = {stamp.path for stamp in stamps}
        paths = _covered_paths(files, only) if only else files
        gone = [path for path in paths if path not in here]
        if gone:  # check these again: an editor may be replacing a file
            again, _ = walk_files(self.root, self._config(), only=gone)
            stamps = sorted({*stamps, *(stamp for stamp in again if stamp.path in files)}, key=lambda stamp: stamp.path)
            here = {stamp.path for stamp in stamps}
        to_read = [s for s in stamps if force or s.path not in files or files[s.path].stamp != s.stamp]
        doubtful = sum(s.path in files and files[s.path].stamp == _DOUBT + s.stamp for s in to_read)
        removed = tuple(path for path in gone if path not in here)
        return SourceChanges(tuple(to_read), removed, tuple(skipped), doubtful, force)

    def read(self, difference: SourceChanges, files: Mapping[str, FileRow]) -> Iterator[ReadBatch]:
        """See `DocumentSource`; at most 64 MB of files at a time."""
        batch = ReadBatch([Remove(path) for path in difference.removed])
        size = 0
        for stamps in _file_batches(difference.to_read):
            more = sum(stamp.size for stamp in stamps)
            if size and size + more > _CHUNK_BYTES:
                yield batch
                batch, size = ReadBatch(), 0
            size += more
            self._read(stamps, files, batch, force=difference.force)
        yield batch

    def document(self, path: str, copy: Document | None = None) -> Document:
        """See `DocumentSource`.

        Cost: one stat for an unchanged file; else it is read and hashed, and parsed if its content differs.
        """
        if copy is None:
            return read_document(self.root, path, config=self._config())
        stamp = _stamp_of(self.root, path)
        if stamp and self._reread.get(path) == (stamp, copy.content_hash):
            return copy
        document = reread_document(self.root, copy, config=self._config())
        if stamp:
            if len(self._reread) >= _REREAD:
                self._reread = {}
            self._reread[path] = (stamp, document.content_hash)
        return document

    def _all_files(self) -> tuple[list[FileStamp], list[Skipped]]:
        """All files, from the last walk if it is still valid, else from a new one."""
        config, look = self._config(), self._look
        if look is None or not look.holds(config, by_stats=True):
            look = self._look = _Walk(str(next(self._names)), config, *look_at(self.root, config, queue=self._queue))
        return look.stamps, look.skipped

    def _read(
        self, stamps: Sequence[FileStamp], files: Mapping[str, FileRow], batch: ReadBatch, *, force: bool
    ) -> None:
        begun = time.time_ns()
        paths = [stamp.path for stamp in stamps]
        hashes = {} if force else {path: files[path].content_hash for path in paths if path in files}
        documents = read_documents(self.root, paths, config=self._config(), hashes=hashes)
        self._refuse_incomplete_listing([item for item in documents if isinstance(item, Skipped)])
        for stamp, document in zip(stamps, documents, strict=True):
            trusted = stamp.stamp
            if begun - stamp.changed_ns <= _racy_window(stamp.changed_ns):
                trusted = _DOUBT + stamp.stamp
                self._look = None  # read doubtful files again at the next comparison
            batch.take(stamp.path, trusted, document, files.get(stamp.path), force=force)

    def _refuse_incomplete_listing(self, skipped: Sequence[Skipped]) -> None:
        """Raise if the listing is incomplete, so that the missing documents are not deleted from the index.

        Raises:
            StoreError: The system is out of files or memory, or the root cannot be listed.
        """
        for item in skipped:
            if item.reason.startswith(_SHORT) or (item.path == "." and item.reason.startswith(_SHUT)):
                self._look = None
                raise StoreError(f"{item.path}: could not be looked at: {item.reason}")


def _file_batches(stamps: Sequence[FileStamp]) -> Iterator[Sequence[FileStamp]]:
    """Batches of files of limited number and size."""
    at = 0
    while at < len(stamps):
        end, size = at + 1, stamps[at].size
        while end < len(stamps) and end - at < _FILES and size + stamps[end].size <= _BYTES:
            size += stamps[end].size
            end += 1
        yield stamps[at:end]
        at = end


def _racy_window(changed_ns: int) -> int:
    return _RACY_NS if changed_ns % 1_000_000 else _COARSE_NS


def _stamp_of(root: Path, path: str) -> str:
    """The stamp of a file; "" if it changed too recently for its stamp to be reliable."""
    try:
        info = os.lstat(root / path)
    except (OSError, ValueError):
        return ""
    changed = max(info.st_mtime_ns, info.st_ctime_ns)
    if time.time_ns() - changed <= _racy_window(changed):
        return ""
    return f"{info.st_dev}:{info.st_ino}:{info.st_mode}:{info.st_size}:{info.st_mtime_ns}:{info.st_ctime_ns}"


def _covered_paths(paths: Iterable[str], wanted: Collection[str]) -> list[str]:
    """The paths that are in `wanted`, or in one of its folders."""
    named = set(wanted)
    inside = {"": False}
    covered = []
    for path in paths:
        passed, folder = [], path.rpartition("/")[0]
        while (state := inside.get(folder)) is None and folder not in named:
            passed.append(folder)
            folder = folder.rpartition("/")[0]
        under = inside[folder] = state is None or state
        inside.update(dict.fromkeys(passed, under))
        if under or path in named:
            covered.append(path)
    return covered


LIVE: Final = "live"
"""The encoding of a document that was read from an editor."""

_MOST_TEXTS: Final = 4  # cached texts, for a few editors at once
_MARK: Final = "\ufeff"


class EditorTexts:
    """Reads editor texts. Thread safe.

    Args:
        config: Of the project; may set the kind of a path.
        placed: Adjusts a document by its path (the map, folders of a series); None for no change.
    """

    def __init__(self, config: Config, placed: Callable[[Document], Document] | None = None) -> None:
        self._config = config
        self._placed = placed
        self._known = Recent[Document](_MOST_TEXTS)

    def read(self, path: str, text: str) -> Document:
        """The document that saving `text` at `path` would give; cached for the last texts.

        Args:
            path: Project-relative; "" for a buffer without a name.
            text: Without lone surrogates.

        Raises:
            UnknownDocument: The path is invalid or leads out of the project.

        Cost: one pass over the text, 0.5 ms for 20 kB of Chinese; none when the text is one of the last four.
        """
        document = self._known.get((path, text))
        if document is None:
            document = self._read(path, text)
            document = document if self._placed is None else self._placed(document)
            self._known.keep((path, text), document)
        return document

    def _read(self, path: str, text: str) -> Document:
        if path and not is_inside(path):
            raise UnknownDocument(f"not a path inside the project: {path!r}")
        mark = int(text.startswith(_MARK))
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        document = document_of(path, text[mark:], LIVE, digest, config=self._config)
        if not mark:
            return document
        moved = tuple(replace(item, start=item.start + mark, end=item.end + mark) for item in document.paragraphs)
        return replace(document, text=text, paragraphs=moved)
