"""The folder of an index, the lock of its users, the check whether its file is intact; the index while it is open.

The folder is named by this package alone, so its contents may be replaced. The last process to close an index writes
a seal, the SHA-256 of the file. An index with a matching seal is opened; one that a live process has open is joined;
any other is rebuilt in a new file. A digest detects all damage; SQLite's `quick_check` misses most.

The lock file stays empty, so nothing in it can be damaged. The system releases the lock when its holder ends.
"""

import atexit
import hashlib
import os
import re
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import apsw

from armarius.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull
from armarius.io import (
    Refused,
    create_empty,
    make_folder,
    move_atomic,
    names_in,
    open_file,
    read_file,
    refusal,
    remove_any,
    stat_of,
    write_atomic,
)
from armarius.io.files import opened_folder
from armarius.io.processes import acquire, try_lock, unlock
from armarius.io.write import cache_root, is_remote
from armarius.store.sqlite.connection import Connections, all_rows, connect, convert_errors, first_row
from armarius.store.sqlite.schema import (
    APPLICATION_ID,
    DOCUMENT,
    SCHEMA_VERSION,
    check_header,
    create,
    full_text_rows,
    read_document_rows,
)

_PATIENCE_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 0.01


class PlaceLock:
    """The lock of one index; not thread safe.

    Args:
        path: The lock file; its folder is there.
        below: The trusted folder that it is reached from; see `armarius.io.opened_folder`.
    """

    def __init__(self, path: Path, *, below: Path | None = None) -> None:
        self.path = path
        self._below = below
        self._descriptor: int | None = None

    def enter(self) -> bool:
        """Lock exclusively if nobody holds the lock, else share it.

        Returns:
            Whether the lock is exclusive; then `share_lock` must follow.

        Raises:
            StoreBusy: Another process has held it exclusively for ten seconds.
            Refused, OSError: The lock file cannot be opened.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            with opened_folder(self.path.parent, below=self._below) as folder:
                lock = acquire(folder, self.path.name, (True, False))
            if lock is not None:
                self._descriptor, exclusive = lock
                return exclusive
            if time.monotonic() > deadline:
                raise StoreBusy(f"{self.path}: another process has been opening the index for too long")
            time.sleep(_RETRY_SECONDS)

    def share_lock(self) -> None:
        """Share the lock that was exclusive.

        Raises:
            StoreBusy: Another process has taken it in that moment, and held it exclusively for ten seconds.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self._descriptor is not None and not try_lock(self._descriptor, exclusive=False):
            if time.monotonic() > deadline:
                raise StoreBusy(f"{self.path}: another process has been opening the index for too long")
            time.sleep(_RETRY_SECONDS)

    def is_alone(self) -> bool:
        """Whether nobody else holds the lock; it is exclusive then, and may be lost otherwise: `leave` must follow."""
        return self._descriptor is not None and try_lock(self._descriptor, exclusive=True)

    def leave(self) -> None:
        """Release the lock. Twice is fine."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            unlock(descriptor)  # for a forked child too, which has the same open file
            os.close(descriptor)


PlaceState = Literal["absent", "closed", "left", "foreign"]
"""`closed`: the seal matches. `left`: not closed, damaged, or of an earlier schema. `foreign`: another program's."""

_FOLDER: Final = "armarius-index"  # inside `index_dir`


def place_for(
    root: Path, index_dir: str | os.PathLike[str] | None = None, *, others: Sequence[Path] = ()
) -> "IndexPlace":
    """The folder of a project's index: `<index_dir>/armarius-index/<name>-<digest>/`, or `<cache>/<name>-<digest>/`.

    Args:
        root: The project folder; its resolved path names the index.
        index_dir: The chosen folder, relative to the project; ignored when it is on a network drive.
        others: The other folders of a series; each set of folders has an index of its own.

    Raises:
        StoreError: `index_dir` is not a path.
    """
    resolved = Path(os.path.realpath(root))
    if index_dir is not None and "\0" in os.fspath(index_dir):
        raise StoreError(f"index_dir: not a path: {os.fspath(index_dir)!r}")
    slug = re.sub(r"[^\w-]+", "-", resolved.name)[:40] or "project"
    every = b"\0".join(os.fsencode(os.path.realpath(path)) for path in (resolved, *others))
    name = f"{slug}-{hashlib.blake2b(every, digest_size=8).hexdigest()}"
    if index_dir is None or is_remote(resolved / index_dir):
        return IndexPlace(cache_root() / name, is_cache=True)
    for start in (resolved, Path(os.path.abspath(root))):  # noqa: PTH100 - not resolved: links below are refused
        chosen = Path(os.path.normpath(start / index_dir))
        if chosen.is_relative_to(start):
            return IndexPlace(resolved / chosen.relative_to(start) / _FOLDER / name, project=resolved)
    return IndexPlace(resolved / index_dir / _FOLDER / name)


class IndexPlace:
    """The folder of one index: the file, its seal, and the lock of its users.

    Args:
        folder: Folder of this index alone; created by `enter`.
        project: The project folder, if it contains `folder`; no link below it is followed.
        is_cache: The folder is in the cache folder, where every file is derived data.

    Attributes:
        below: The trusted folder above `folder`; see `armarius.io.opened_folder`.
        lock: Held from `enter` until its `leave`.
    """

    def __init__(self, folder: Path, *, project: Path | None = None, is_cache: bool = False) -> None:
        self.folder = folder
        self.is_cache = is_cache
        self.below = _chosen_folder(folder) if project is None else project
        self.index = folder / "index.sqlite"
        self.seal = folder / "index.seal"
        self.lock = PlaceLock(folder / "index.lock", below=self.below)
        self._is_chosen = project is None

    def enter(self) -> bool:
        """Create the folder and lock it, so that no other process can seal or replace the index.

        Returns:
            True when no other store has the index open: then `lock.share_lock` must follow once it is opened.

        Raises:
            StoreFull: The folder cannot be created or written, or is a link.
            StoreBusy: Another process holds the exclusive lock for too long.
        """
        if self._is_chosen:
            make_folder(self.below, mode=0o700)
        make_folder(self.folder, below=self.below, mode=0o700)
        try:
            try:
                return self.lock.enter()
            except Refused:
                self.remove(self.lock.path)
                return self.lock.enter()
        except OSError as error:
            raise StoreFull(f"{self.lock.path}: cannot be written: {error.strerror or error}") from error

    def state(self) -> PlaceState:
        """State of the index file.

        Call only without other users: closing a file drops the locks that SQLite holds on it in this process.

        Cost: reads the whole file if its size is the sealed one: about 10 ms for 10 MB.
        """
        info = stat_of(self.index, below=self.below)
        if info is None:
            return "absent"
        if refusal(info) or info.st_nlink > 1:  # under a second name it may be a file of the user's
            return "left"
        try:
            seal = read_file(self.seal, limit=4096, below=self.below).decode("ascii").split()
        except (OSError, UnicodeDecodeError):
            seal = []
        try:
            with open_file(self.index, below=self.below) as file:
                header = file.read(100)
            if seal[1:] != [str(info.st_size)]:  # not read: another size cannot match
                return "foreign" if _is_other_database(header, info.st_size) else "left"
            is_old = int.from_bytes(header[60:64], "big") < SCHEMA_VERSION
            return "left" if is_old or self._has_log() or self._digest() != seal else "closed"
        except OSError:  # replaced by something that is not a readable file
            return "left"

    def draft(self) -> Path:
        """Create an empty file in the folder, to be built and then passed to `replace`.

        Raises:
            StoreFull: It cannot be created.
        """
        path = self.folder / f".{self.index.name}.{os.urandom(8).hex()}.tmp"
        try:
            os.close(create_empty(path, below=self.below))
        except OSError as error:
            raise StoreFull(f"{path}: cannot be made: {error.strerror or error}") from error
        return path

    def replace(self, draft: Path, *, alone: bool) -> None:
        """Replace the index by a draft, and delete the files of the old one.

        Args:
            draft: A closed database.
            alone: No other process has the index open: everything else in the folder is deleted too.

        Raises:
            StoreFull: A file cannot be deleted or moved.
        """
        self.break_seal()
        self.clear_side_files()
        for name in names_in(self.folder, below=self.below) if alone else [self.index.name]:
            info = stat_of(self.folder / name, below=self.below)
            is_replaced = name == self.index.name and info is not None and not refusal(info)
            if name not in (draft.name, self.lock.path.name) and not is_replaced:
                self.remove(self.folder / name)
        move_atomic(draft, self.index, below=self.below)

    def put(self, database: bytes) -> None:
        """Write a closed index where there is none, with its seal.

        Raises:
            StoreFull: It cannot be written.
        """
        make_folder(self.folder, below=self.below, mode=0o700)
        write_atomic(self.index, database, below=self.below, mode=0o600)
        self.write_seal()

    def clear_side_files(self) -> None:
        """Delete the files that SQLite would read with the index: log, shared memory, journal.

        Raises:
            StoreFull: One of them cannot be deleted.
        """
        for suffix in ("-wal", "-shm", "-journal"):
            self.remove(self._side_file(suffix))

    def may_be_read(self, *, alone: bool) -> bool:
        """Whether SQLite may read an unsealed index; deletes its shared memory and journal first if `alone`.

        Raises:
            StoreFull: One of them cannot be deleted.
        """
        if alone:
            self.remove(self._side_file("-shm"))
            self.remove(self._side_file("-journal"))
        there = (stat_of(self._side_file(suffix), below=self.below) for suffix in ("", "-wal"))
        return self.exists() and not any(refusal(info) or info.st_nlink > 1 for info in there if info is not None)

    def exists(self) -> bool:
        """Whether the index file, or anything else of its name, exists."""
        return stat_of(self.index, below=self.below) is not None

    def is_sealed(self) -> bool:
        """Whether there is a seal; `state` tells whether it matches."""
        return stat_of(self.seal, below=self.below) is not None

    def write_seal(self) -> None:
        """Write the seal of the index file; only the last process to close may call it."""
        write_atomic(self.seal, " ".join(self._digest()).encode("ascii"), below=self.below)

    def break_seal(self) -> None:
        """Delete the seal before the index changes.

        Raises:
            StoreFull: The folder cannot be written.
        """
        self.remove(self.seal)

    def size(self) -> int:
        """Bytes of the index with its write-ahead log."""
        infos = (stat_of(path, below=self.below) for path in (self.index, self._side_file("-wal")))
        return sum(info.st_size for info in infos if info is not None)

    def _has_log(self) -> bool:
        """Whether there is a journal or a non-empty log: a process ended without closing."""
        log = stat_of(self._side_file("-wal"), below=self.below)
        journal = stat_of(self._side_file("-journal"), below=self.below)
        return journal is not None or (log is not None and log.st_size > 0)

    def _side_file(self, suffix: str) -> Path:
        return self.folder / f"{self.index.name}{suffix}"

    def remove(self, path: Path) -> None:
        """Delete what lies in the folder under a name of the index.

        Raises:
            StoreFull: It cannot be deleted.
        """
        try:
            remove_any(path, below=self.below)
        except OSError as error:
            raise StoreFull(f"{path}: cannot be deleted: {error.strerror or error}") from error

    def _digest(self) -> list[str]:
        """Hash and size in bytes of the index file. SHA-256 has hardware support."""
        digest, size = hashlib.sha256(), 0
        with open_file(self.index, below=self.below) as file:
            while block := file.read(1 << 20):
                digest.update(block)
                size += len(block)
        return [digest.hexdigest(), str(size)]


def _chosen_folder(folder: Path) -> Path:
    """The folder above the parts that this package names: `index_dir`, or the cache."""
    return folder.parent.parent if folder.parent.name == _FOLDER else folder.parent


def _is_other_database(header: bytes, size: int) -> bool:
    """Whether this is a consistent database header (https://sqlite.org/fileformat.html) with another application id.

    An inconsistent header is taken for a damaged index of ours.
    """
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        return False

    def number(at: int) -> int:
        return int.from_bytes(header[at : at + 4], "big")

    page = int.from_bytes(header[16:18], "big")
    whole = number(28) * (65536 if page == 1 else page) == size and number(24) == number(92)
    return whole and number(68) != APPLICATION_ID


def problems(connection: apsw.Connection) -> list[str]:
    """Everything that is wrong, as sentences.

    `integrity_check` for pages, b-trees and FTS5; then documents that can be read, equal numbers of paragraphs and
    full-text rows, the whole vocabulary against the text, and vectors with their checksums.

    Cost: reads the whole file; about 0.2 s for a novel of a million characters.
    """
    try:
        return list(_problems(connection))
    except (apsw.Error, StoreCorrupt, KeyError, IndexError, ValueError, TypeError) as error:
        return [f"cannot be read: {type(error).__name__}: {error}"]


def _problems(connection: apsw.Connection) -> list[str]:
    faults = [f"integrity_check: {row[0]}" for row in connection.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
    if faults:
        return faults
    paragraphs = searchable = 0
    due = {number for (number,) in all_rows(connection, "SELECT document FROM full_text_due")}
    vocabulary: dict[str, int] = {}
    sizes = {row[0]: row[1:] for row in all_rows(connection, "SELECT id, length, paragraphs FROM documents")}
    for row in all_rows(connection, f"{DOCUMENT} ORDER BY d.id"):
        document = read_document_rows(connection, row)
        if (len(document.text), len(document.paragraphs)) != sizes[row[0]]:
            faults.append(f"{row[1]}: length or number of paragraphs is wrong")
        paragraphs += len(document.paragraphs)
        if row[0] in due:
            due.discard(row[0])
            continue
        searchable += len(document.paragraphs)
        for _, *columns in full_text_rows([(row[0], document)], {}):
            for token in {token for column in columns for token in column.split(" ") if token}:
                vocabulary[token] = vocabulary.get(token, 0) + 1
    for table, expected, count in (
        ("paragraphs", paragraphs, "SELECT count(*) FROM paragraphs"),
        ("full text", searchable, "SELECT count(*) FROM full_text_docsize"),
    ):
        actual = first_row(connection, count)[0]
        if actual != expected:
            faults.append(f"{table}: {actual} rows, {expected} expected")
    faults += [f"full text is due of document {number}, which is not there" for number in sorted(due)]
    orphans = all_rows(connection, "SELECT kind FROM learnt WHERE document NOT IN (SELECT id FROM documents)")
    faults += [f"{kind} learnt from a document that is not there" for (kind,) in orphans]
    if first_row(connection, "SELECT 1 FROM vector_sets") is not None:
        from armarius.store.sqlite.vectors_rows import vector_problems

        faults += vector_problems(connection)
    if dict(all_rows(connection, "SELECT term, doc FROM full_text_terms")) != vocabulary:
        faults.append("full text: terms differ from the documents")
    return faults


_TRIES: Final = 20


class SqliteSession(Connections):
    """The connections of one open index, in the place that it lies in."""

    def __init__(self, place: IndexPlace, project_id: str) -> None:
        super().__init__(place.index)
        self.project_id = project_id
        self.place = place
        self._sealed = place.is_sealed()
        _open.add(self)

    @classmethod
    def open(cls, place: IndexPlace, *, project_id: str, rebuild: bool) -> "SqliteSession":
        """See `SqliteStore.open`."""
        alone = _enter_place(place)
        try:
            state = place.state() if alone else "closed"
            if state == "foreign" and not place.is_cache:
                what = "the database of another program, so it is neither opened nor deleted; move it elsewhere"
                raise StoreError(f"{place.index}: {what}")
            if rebuild or state != "closed":
                _build(place, project_id, alone=alone, keeps_vectors=state != "foreign")
            elif alone:
                place.clear_side_files()
            with convert_errors(place.index):
                session = cls(place, project_id)
                try:
                    check_header(session.writer, place.index, project_id)
                except BaseException:
                    super(cls, session).close()
                    raise
            if alone:
                place.lock.share_lock()
        except BaseException:
            place.lock.leave()
            raise
        return session

    def begin_writing(self) -> None:
        """Break the seal."""
        if self._sealed:
            self.place.break_seal()
            self._sealed = False

    def verify(self) -> list[str]:
        """See `Store.verify`."""
        # Not a pooled reader: FTS5 checks against the segment list that a connection saw first and cries damage.
        with self.reading(apart=True) as connection:
            return problems(connection)

    def close(self) -> None:
        """Close; the last process to do so leaves a seal, unless nothing was written since the one that is there."""
        if self._closed or self.inherited:
            return
        self._closed = True
        try:
            is_ours = not self.damaged and not self.replaced
            seals = is_ours and not self.place.is_sealed() and self.place.lock.is_alone()
            if seals:
                with convert_errors(self.path):
                    all_rows(self.writer, "PRAGMA wal_checkpoint(TRUNCATE)")
            super().close()
            if seals:
                self.place.write_seal()
        except (StoreError, OSError):  # without a seal the next open builds the index again
            super().close()
        finally:
            self.place.lock.leave()


_open: Final[weakref.WeakSet[SqliteSession]] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Seal the indexes that a program did not close; only a killed process leaves none."""
    for session in list(_open):
        session.close()


def _enter_place(place: IndexPlace) -> bool:
    """Enter; returns whether no other store has the index open.

    An index that another process has open exists. If it does not, that process is entering or leaving: retry.
    """
    alone = place.enter()
    for _ in range(_TRIES):
        if alone or place.exists():
            break
        place.lock.leave()
        time.sleep(0.001 + os.urandom(1)[0] / 10_000)  # `random` would be five modules more of every search
        alone = place.enter()
    return alone


def _build(place: IndexPlace, project_id: str, *, alone: bool, keeps_vectors: bool) -> None:
    """Replace the index by an empty one, with the vectors of the old one, which take minutes to compute."""
    draft = place.draft()
    try:
        with convert_errors(draft):
            connection = connect(draft)
            try:
                create(connection, project_id)
                if keeps_vectors and place.may_be_read(alone=alone):
                    _save_vectors(place, connection)
                connection.execute("PRAGMA journal_mode = WAL")
            finally:
                connection.close()
        place.replace(draft, alone=alone)
    except BaseException:
        with suppress(StoreError):
            place.remove(draft)
        raise


def _save_vectors(place: IndexPlace, into: apsw.Connection) -> None:
    """What can be read of the old file; an unreadable one has none."""
    with suppress(StoreError), convert_errors(place.index):
        old = connect(place.index)
        try:
            if first_row(old, "SELECT 1 FROM vector_sets") is not None:
                from armarius.store.sqlite.vectors_rows import save_from

                save_from(old, into)
        finally:
            old.close()
