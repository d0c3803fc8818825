"""The files of a project as rows of a server, and those of a folder, which are pushed to a server and pulled from it.

Texts are documents; the rest is what the user authored.
"""

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from armarius.codex.codex_json import CODEX_FILE, IMPORTERS, CodexFile
from armarius.codex.load import BOOKS, codex_files_of, declared_in
from armarius.codex.protocol import BookName, Check, RecordStore, profile_of_text
from armarius.codex.record_file import FOLDER, RecordText, text_of_records
from armarius.documents.decode import Undecodable
from armarius.documents.document import Document, FileStamp, Skipped, make_document, refusal_of, walk_files
from armarius.errors import ConfigError, ContractError, DocumentSkipped, ProjectError, StoreUnavailable, UnknownDocument
from armarius.index.source import ReadBatch, SourceChanges, is_wanted
from armarius.io import make_folder, names_in, project_folder, read_file, write_atomic
from armarius.lorebooks.project_books import FILES
from armarius.lorebooks.project_books import FOLDER as BOOK_FOLDER
from armarius.store.postgres.schema import check_path
from armarius.store.postgres.session import PostgresSession, ProjectRow
from armarius.store.postgres.writing import FileEntry, list_files, put_files, read_files
from armarius.store.protocol import FileRow, Remove
from armarius.trust.settings import BUILT_IN_MODELS, CONFIG_NAME, Config, load_config, parse_config

RECORDS = tuple(f"{FOLDER}/{name}.toml" for name in ("codex", "memories", "constraints", "pins", "summaries"))
PROFILE = f"{FOLDER}/budget.json"
_CHUNK_BYTES = 64 * 1024 * 1024
_USERS = frozenset({"code", "graph"})  # tables that name programs and folders of the user's machine


def part_of(path: str) -> str:
    """Which part of a project a path belongs to, as its row counts them."""
    if path in (CONFIG_NAME, PROFILE):
        return "configured"
    if path in RECORDS or path in IMPORTERS or path.startswith(f"{BOOKS}/"):
        return "authored"
    return "files"


def served_config(text: str) -> Config:
    """What `armarius.toml` may say on a server: nothing of folders, programs and models of a machine.

    Raises:
        ConfigError: It is wrong; names the key.
    """
    config = parse_config(text)
    tables = {name: value for name, value in config.tables.items() if name not in _USERS}
    embedding = tables.get("embedding")
    if isinstance(embedding, dict) and embedding.get("model") not in BUILT_IN_MODELS:
        del tables["embedding"]
    return replace(config, index_dir=None, tables=tables)


class StoredFiles:
    """The files of one project, as they are now. Threads may share it.

    Args:
        session: Of the project.
    """

    def __init__(self, session: PostgresSession) -> None:
        self.session = session
        self._listed: tuple[Hashable, Mapping[str, FileEntry]] = ((), {})
        self._texts: dict[str, tuple[Hashable, bytes | None]] = {}

    def row(self) -> ProjectRow:
        """What changed last; while the server is away, as it was seen last."""
        try:
            return self.session.look()
        except StoreUnavailable:
            if not self.session.latest.born:
                raise
            return self.session.latest

    def entries(self) -> Mapping[str, FileEntry]:
        """Every file, in path order; asked again only when one has changed."""
        row = self.row()
        key = (row.born, row.files, row.authored, row.configured)
        if self._listed[0] != key or self._is_writing:
            with self.session.reading() as tx:
                row = tx.row
                key = (row.born, row.files, row.authored, row.configured)
                self._listed = (key if not tx.taken else (), list_files(tx))
        return self._listed[1]

    def read(self, paths: Collection[str]) -> dict[str, bytes]:
        """The bytes of these files."""
        with self.session.reading() as tx:
            return read_files(tx, paths)

    def text(self, path: str) -> bytes | None:
        """One authored file, None when there is none; asked again only when one has changed."""
        row = self.row()
        key = (row.born, row.authored, row.configured)
        entry = self._texts.get(path)
        if entry is None or entry[0] != key or self._is_writing:
            entry = (key if not self._is_writing else (), self.read([path]).get(path))
            self._texts[path] = entry
        return entry[1]

    def rewrite(self, path: str, change: Callable[[bytes | None], bytes]) -> None:
        """Keep what `change` makes of a file, while nobody else writes the project."""
        with self.session.writing() as tx:
            before = read_files(tx, [path]).get(path)
            put_files(tx, {path: change(before)}, (), part_of)

    def put(self, files: Mapping[str, bytes], remove: Collection[str] = ()) -> None:
        """Keep these bytes and forget these paths, all or nothing."""
        with self.session.writing() as tx:
            put_files(tx, files, remove, part_of)

    @property
    def _is_writing(self) -> bool:
        """Inside a transaction that has written, the row does not say yet what changed."""
        return self.session.is_writing


class StoredSource:
    """`DocumentSource` over the files of a project. Threads may share it.

    Args:
        files: Of the project.
        config: Says what is a document, and how it is read; asked each time.
    """

    def __init__(self, files: StoredFiles, config: Callable[[], Config]) -> None:
        self._files = files
        self._config = config

    def stamp(self) -> str:
        """See `DocumentSource`."""
        if self._files.session.is_writing:
            return ""
        row = self._files.row()
        return f"{row.born}:{row.files}"

    def compare(
        self, files: Mapping[str, FileRow], *, only: Collection[str] = (), force: bool = False
    ) -> SourceChanges:
        """See `DocumentSource`. Cost: one round trip when a text has changed."""
        config, to_read, skipped, here = self._config(), [], [], set()
        for path, entry in self._files.entries().items():
            if not is_wanted(path, only):
                continue
            refused = refusal_of(path, entry.size, config)
            if refused:
                skipped.append(Skipped(path, refused))
            if refused or refused is None:
                continue
            here.add(path)
            stamp = str(entry.version)
            if force or path not in files or files[path].stamp != stamp:
                to_read.append(FileStamp(path, entry.size, stamp, 0))
        gone = tuple(path for path in sorted(files) if path not in here and is_wanted(path, only))
        return SourceChanges(tuple(to_read), gone, tuple(skipped), force=force)

    def read(self, difference: SourceChanges, files: Mapping[str, FileRow]) -> Iterator[ReadBatch]:
        """See `DocumentSource`; at most 64 MB of files at a time."""
        batch, size = ReadBatch([Remove(path) for path in difference.removed]), 0
        portion: list[FileStamp] = []
        for stamp in difference.to_read:
            if portion and size + stamp.size > _CHUNK_BYTES:
                yield self._read(portion, files, batch, force=difference.force)
                batch, portion, size = ReadBatch(), [], 0
            portion.append(stamp)
            size += stamp.size
        yield self._read(portion, files, batch, force=difference.force)

    def document(self, path: str, copy: Document | None = None) -> Document:
        """See `DocumentSource`."""
        entry = self._files.entries().get(path)
        if entry is None or refusal_of(path, entry.size, self._config()) is None:
            raise UnknownDocument(f"no such document: {path!r}")
        if copy is not None and copy.content_hash == entry.hash:
            return copy
        data = self._files.read([path]).get(path)
        if data is None:
            raise UnknownDocument(f"no such document: {path!r}")
        try:
            return make_document(path, data, config=self._config())
        except Undecodable as error:
            raise DocumentSkipped(path, str(error)) from None

    def _read(
        self, stamps: list[FileStamp], files: Mapping[str, FileRow], batch: ReadBatch, *, force: bool
    ) -> ReadBatch:
        data, config = self._files.read([stamp.path for stamp in stamps]), self._config()
        for stamp in stamps:
            document: Document | Skipped | None = None
            if stamp.path in data:
                try:
                    document = make_document(stamp.path, data[stamp.path], config=config)
                except Undecodable as error:
                    document = Skipped(stamp.path, str(error))
            batch.take(stamp.path, stamp.stamp, document, files.get(stamp.path), force=force)
        return batch


def book_of(path: str) -> str:
    """The id of the imported book if `path` is its `codex.json`, else ""."""
    book = path.removeprefix(f"{BOOKS}/").removesuffix(f"/{CODEX_FILE}")
    return book if path == f"{BOOKS}/{book}/{CODEX_FILE}" and "/" not in book else ""


class StoredAuthored:
    """`Authored` over the files of a project: the forms that people edit, byte for byte as in a folder.

    Args:
        files: Of the project.
    """

    profile_name = PROFILE

    def __init__(self, files: StoredFiles) -> None:
        self._files = files

    def stamp(self) -> str:
        """See `Authored`."""
        row = self._files.row()
        return f"{row.born}:{row.authored}"

    def config_stamp(self) -> str:
        """See `Authored`."""
        row = self._files.row()
        return f"{row.born}:{row.configured}"

    def config(self) -> Config:
        """See `Authored`; without what only the user of a machine may say."""
        return served_config(_config_text(self._files.text(CONFIG_NAME)))

    def change_config(self, change: Callable[[str], str]) -> None:
        """See `Authored`."""
        self._files.rewrite(CONFIG_NAME, lambda data: change(_config_text(data)).encode())

    def declared(self) -> CodexFile:
        """See `Authored`."""

        def read(path: str) -> bytes:
            data = self._files.text(path)
            if data is None:
                raise FileNotFoundError(path)
            return data

        books = {book for path in self._files.entries() if (book := book_of(path))}
        return declared_in(read, codex_files_of(books))

    def records(self, book: BookName, *, tables: Iterable[str], check: Check) -> RecordStore:
        """See `Authored`."""
        return _StoredRecords(self._files, f"{book}.toml", tables=tables, check=check)

    def profile(self) -> Mapping[str, Any] | None:
        """See `Authored`."""
        return _profile(self._files.text(PROFILE))

    def change_profile(self, change: Callable[[Mapping[str, Any] | None], Mapping[str, Any]]) -> None:
        """See `Authored`."""

        def rewrite(data: bytes | None) -> bytes:
            return (json.dumps(change(_profile(data)), ensure_ascii=False, indent=2) + "\n").encode()

        self._files.rewrite(PROFILE, rewrite)


class _StoredRecords(RecordText):
    """A book of records as a row."""

    def __init__(self, files: StoredFiles, name: str, *, tables: Iterable[str], check: Check) -> None:
        super().__init__(name, tables=tables, check=check)
        self._files = files

    def stamp(self) -> Hashable:
        """See `RecordStore`."""
        row = self._files.row()
        return (row.born, row.authored)

    def _text(self) -> str | None:
        return self._text_of(self._files.text(self.name))

    def _rewrite(self, change: Callable[[str], str]) -> None:
        self._files.rewrite(self.name, lambda data: change(self._text_of(data) or "").encode())

    def _text_of(self, data: bytes | None) -> str | None:
        return None if data is None else text_of_records(self.name, data)


def _config_text(data: bytes | None) -> str:
    try:
        return (data or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{CONFIG_NAME}: not UTF-8: {error.reason}") from None


def _profile(data: bytes | None) -> Mapping[str, Any] | None:
    return None if data is None else profile_of_text(data, PROFILE)


_BELOW = f"{BOOK_FOLDER}/"


class StoredBooks:
    """`BookKeeping` over the rows of a project, under the paths that books have in a folder.

    A book is written in one transaction.

    Args:
        files: The project's files.
    """

    def __init__(self, files: StoredFiles) -> None:
        self._files = files

    def is_empty(self) -> bool:
        """See `BookKeeping`. Cost: none while no file has changed."""
        return not any(path.startswith(_BELOW) for path in self._files.entries())

    def ids(self) -> list[str]:
        """See `BookKeeping`."""
        pieces = (path.removeprefix(_BELOW).split("/") for path in self._files.entries() if path.startswith(_BELOW))
        return sorted({parts[0] for parts in pieces if len(parts) == 2})

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


_MOST_BYTES = 256 * 1024 * 1024


_AUTHORED = (CONFIG_NAME, PROFILE, *IMPORTERS, *RECORDS)


@dataclass(frozen=True, slots=True)
class Pulled:
    """Result of a pull.

    Attributes:
        files: Number of files in the project.
        written: New or changed paths.
        extra: Documents that only the folder has; they stay.
    """

    files: int
    written: tuple[str, ...]
    extra: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pushed:
    """Result of a push.

    Attributes:
        version: Version of the project that equals the folder.
        files: Number of files in the folder.
        written: New or changed paths.
        removed: Paths that the folder does not have.
    """

    version: int
    files: int
    written: tuple[str, ...]
    removed: tuple[str, ...]


def folder_files(root: Path) -> dict[str, bytes]:
    """The files of a project in a folder: documents, codex and records, configuration.

    Raises:
        ProjectError: It is no folder.
        ConfigError: Its `armarius.toml` is wrong.
    """
    root = project_folder(root)
    config = load_config(root)
    paths = [stamp.path for stamp in walk_files(root, config)[0]]
    files = {}
    for path in sorted({*paths, *_AUTHORED, *_files_of_books(root)}):
        try:
            files[path] = read_file(root.joinpath(*path.split("/")), limit=_MOST_BYTES, below=root)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ProjectError(f"{path}: not read: {error.strerror}") from None
    return files


def _files_of_books(root: Path) -> list[str]:
    """The files of lorebooks, cards and vaults that were imported."""
    paths = []
    for id_ in names_in(root / BOOK_FOLDER, below=root):
        here = names_in(root / BOOK_FOLDER / id_, below=root)
        paths += [f"{BOOK_FOLDER}/{id_}/{name}" for name in FILES if name in here]
    return paths


def pull(session: PostgresSession, root: Path, *, overwrite: bool = False) -> Pulled:
    """Write the files of a project into a folder, which is made when it is not there. Nothing is deleted.

    Args:
        session: Of the project.
        root: The folder.
        overwrite: Whether files that say something else are replaced.

    Raises:
        ContractError: Some of them do, and nothing is written.
        StoreFull: The folder cannot be written.
    """
    files = {check_path(path): data for path, data in stored_files(session).items()}
    make_folder(root)
    here = folder_files(root)
    other = sorted(path for path, data in here.items() if path in files and files[path] != data)
    if other and not overwrite:
        raise ContractError(f"{other[0]} and {len(other) - 1} more are other files in {root.name}; --overwrite them?")
    written = [path for path, data in files.items() if here.get(path) != data]
    for path in written:
        write_atomic(root.joinpath(*path.split("/")), files[path], below=root)
    return Pulled(len(files), tuple(written), tuple(sorted(here.keys() - files.keys())))


def push(session: PostgresSession, write: Callable[..., int], root: Path) -> Pushed:
    """Make a project what a folder is by its `write`, called once; raises as this and `folder_files`."""
    files, before = folder_files(root), stored_files(session)
    version = write(files, remove=[path for path in before if path not in files])
    written = tuple(path for path, data in files.items() if before.get(path) != data)
    return Pushed(version, len(files), written, tuple(sorted(before.keys() - files.keys())))


def stored_files(session: PostgresSession) -> Mapping[str, bytes]:
    """Every file of a project, by path."""
    with session.reading():
        files = StoredFiles(session)
        return files.read(list(files.entries()))
