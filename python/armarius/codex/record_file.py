"""TOML files of records under `.armarius/`: read again when they change, written atomically, block by block."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

from armarius.codex.protocol import Authored, Block, BookName, Check, RecordStore, read_blocks, write_block
from armarius.errors import CodexError
from armarius.io import folder_lock, is_passing, make_folder, read_file, refusal, rewrite_file, stat_of
from armarius.validation import shown

FOLDER = ".armarius"
_MAX_BYTES = 64 * 1024 * 1024


def records_of(authored: Authored | Path, book: BookName, *, tables: Iterable[str], check: Check) -> RecordStore:
    """The records of a book, from an `Authored` or from a project folder."""
    if isinstance(authored, Path):
        return RecordFile(authored, f"{book}.toml", tables=tables, check=check)
    return authored.records(book, tables=tables, check=check)


class RecordText(ABC):
    """A book of records as TOML text. Thread safe; other processes may write it at any time.

    Args:
        name: File name below `.armarius/`.
        tables: The tables it may hold; records have an `id` that is unique within their table.
        check: Returns the error of a parsed block, or "".
    """

    def __init__(self, name: str, *, tables: Iterable[str], check: Check) -> None:
        self.name = f"{FOLDER}/{name}"
        self._tables = frozenset(tables)
        self._check = check
        self._lock = threading.RLock()
        self._stamp: Hashable = None
        self._good: dict[tuple[str, str], Block] = {}
        self._problems: tuple[CodexError, ...] = ()
        self._read = False

    def records(self) -> list[Block]:
        """The records in file order; an invalid one keeps its last valid state."""
        with self._lock:
            self._refresh()
            return list(self._good.values())

    def problems(self) -> tuple[CodexError, ...]:
        """Current errors of the file, each with file, line and message."""
        with self._lock:
            self._refresh()
            return self._problems

    @abstractmethod
    def stamp(self) -> Hashable:
        """Differs after every change of the text."""

    @abstractmethod
    def _text(self) -> str | None:
        """The text, None without a file.

        Raises:
            CodexError: It is there and cannot be read.
        """

    @abstractmethod
    def _rewrite(self, change: Callable[[str], str]) -> None:
        """Replace the text by `change(text)` ("" without a file) under a lock."""

    def add(self, table: str, data: dict[str, Any], *, alike: Callable[[Block], bool] | None = None) -> str:
        """Append a record, unless `alike` matches an existing one.

        Returns:
            The id of the new record, or of the existing one.

        Raises:
            CodexError: The id is taken, a value cannot be stored, or the file cannot be edited.
            StoreFull, StoreBusy: As `write_atomic` and `folder_lock`; the project folder is never made again.
        """

        def edit(blocks: list[Block]) -> str:
            for block in blocks if alike else ():
                if alike and block.table == table and not self._problem(block) and alike(block):
                    raise _EqualRecord(block.id)
            if _find(blocks, table, data["id"]) is not None:
                raise CodexError(f"{self.name}: there is a {table} with the id {data['id']!r} already")
            return self._append_all(blocks, [(table, data)])

        try:
            self._edit(edit)
        except _EqualRecord as found:
            return found.id
        return str(data["id"])

    def extend(self, records: Sequence[tuple[str, dict[str, Any]]], *, comment: str = "") -> None:
        """Append records, each with its table and a comment above it, in one write: all or none.

        Raises:
            CodexError, StoreFull, StoreBusy: As `add`.
        """

        def edit(blocks: list[Block]) -> str:
            keys = {(block.table, block.id) for block in blocks}
            for table, data in records:
                if (table, data["id"]) in keys:
                    raise CodexError(f"{self.name}: there is a {table} with the id {data['id']!r} already")
                keys.add((table, data["id"]))
            return self._append_all(blocks, records, comment)

        if records:
            self._edit(edit)

    def replace(self, table: str, data: dict[str, Any]) -> None:
        """Replace the record with the id of `data`; the other blocks keep every byte.

        Raises:
            KeyError: There is no such record.
        """

        def edit(blocks: list[Block]) -> str:
            at = _find(blocks, table, data["id"])
            if at is None:
                raise KeyError(data["id"])
            new = self._write_record(table, data, before=blocks[at])
            return "".join(new if index == at else block.text for index, block in enumerate(blocks))

        self._edit(edit)

    def remove(self, table: str, id_: str) -> None:
        """Remove a record with its comments.

        Raises:
            KeyError: There is no such record.
        """

        def edit(blocks: list[Block]) -> str:
            at = _find(blocks, table, id_)
            if at is None:
                raise KeyError(id_)
            return "".join(block.text for index, block in enumerate(blocks) if index != at)

        self._edit(edit)

    def _append_all(self, blocks: list[Block], records: Sequence[tuple[str, dict[str, Any]]], comment: str = "") -> str:
        text = "".join(block.text for block in blocks)
        if not text:
            text = f"# Records of this project; edit freely. One [[{records[0][0]}]] each, `id` unique.\n"
        above = Block(f"# {' '.join(comment.split())}") if comment else None
        written = (self._write_record(*record, before=above).rstrip("\n") for record in records)
        return "\n\n".join((text.rstrip("\n"), *written))

    def _write_record(self, table: str, data: dict[str, Any], *, before: Block | None = None) -> str:
        try:
            return write_block(table, data, before=before)
        except ValueError as error:
            raise CodexError(f"{self.name}: {table} {shown(data['id'])}: {error}") from None

    def _edit(self, edit: Callable[[list[Block]], str]) -> None:
        with self._lock:
            self._rewrite(lambda text: edit(read_blocks(text)).rstrip("\n") + "\n")
            self._read = False
            self._refresh()

    def _refresh(self) -> None:
        stamp = self.stamp()
        if self._read and stamp == self._stamp:
            return
        try:
            text = self._text()
        except CodexError as error:
            self._problems = (error,)
            self._stamp, self._read = stamp, not is_passing(error.__context__)
            return
        self._good, self._problems = self._accept(read_blocks(text or ""))
        self._stamp, self._read = stamp, True

    def _accept(self, blocks: list[Block]) -> tuple[dict[tuple[str, str], Block], tuple[CodexError, ...]]:
        good: dict[tuple[str, str], Block] = {}
        problems: list[CodexError] = []
        for block in blocks:
            if not block.line:
                if block.problem:
                    problems.append(CodexError(f"{self.name}: {block.problem}"))
                continue
            key = (block.table, block.id)
            problem = self._problem(block)
            if not problem and key in good:
                problem = f"line {block.line}: a second {block.table} with the id {block.id!r}"
            elif not problem:
                good[key] = block
            elif key in self._good and key not in good:
                good[key] = self._good[key]
            if problem:
                problems.append(CodexError(f"{self.name}: {problem}"))
        return good, tuple(problems)

    def _problem(self, block: Block) -> str:
        return block.problem or self._block_error(block)

    def _block_error(self, block: Block) -> str:
        if block.table not in self._tables:
            expected = " or ".join(f"[[{table}]]" for table in sorted(self._tables))
            return f"line {block.line}: [[{block.table}]]: expected {expected}"
        stated = (block.data or {}).get("id")
        if not isinstance(stated, str) or not stated.strip():
            return f"line {block.line}: {block.table}: id: expected a non-empty string, got {shown(stated)}"
        what = self._check(block)
        return f"line {_line_of(block, what)}: {block.table} {block.id!r}: {what}" if what else ""


class RecordFile(RecordText):
    """One file of records.

    Args:
        root: The project folder.
        name, tables, check: As for `RecordText`.
    """

    def __init__(self, root: Path, name: str, *, tables: Iterable[str], check: Check) -> None:
        super().__init__(name, tables=tables, check=check)
        self._root = root
        self._awaited = not root.is_dir()  # may not exist yet; a folder deleted later is not made again
        self.path = root / FOLDER / name

    def stamp(self) -> tuple[int, ...] | None:
        """Differs after every change of the file; None without a file."""
        try:
            status = self.path.lstat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino

    def _rewrite(self, change: Callable[[str], str]) -> None:
        self._refuse_link("written")
        if self._awaited:
            make_folder(self._root)
            self._awaited = False

        def edit(before: bytes) -> bytes:
            data = change(text_of_records(self.name, before)).encode()
            if len(data) > _MAX_BYTES:  # above the limit for reading
                raise CodexError(f"{self.name}: would have {len(data):,} bytes, at most {_MAX_BYTES:,} are read")
            return data

        with folder_lock(self.path.parent, below=self._root):
            try:
                rewrite_file(self.path, edit, limit=_MAX_BYTES, below=self._root)
            except OSError as error:
                raise CodexError(f"{self.name}: not read: {error.strerror}") from None

    def _text(self) -> str | None:
        self._refuse_link("read")
        try:
            data = read_file(self.path, limit=_MAX_BYTES, below=self._root)
        except FileNotFoundError:
            if not self._awaited and not self._root.is_dir():
                # Moved away while open: keep the last valid records and report it.
                raise CodexError(f"{self.name}: not read: the project folder is gone") from None
            return None
        except OSError as error:
            raise CodexError(f"{self.name}: not read: {error.strerror}") from None
        return text_of_records(self.name, data)

    def _refuse_link(self, what: str) -> None:
        info = stat_of(self.path.parent, below=self._root)
        if info is not None and refusal(info) == "symbolic link":
            raise CodexError(f"{FOLDER}: is a symbolic link; nothing outside the project is {what}")


def text_of_records(name: str, data: bytes) -> str:
    """The bytes of a book as text.

    Raises:
        CodexError: They are not UTF-8; names the line.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CodexError(f"{name}: line {line}: not UTF-8") from None


class _EqualRecord(Exception):
    """An equal record exists."""

    def __init__(self, id_: str) -> None:
        super().__init__(id_)
        self.id = id_


def _find(blocks: list[Block], table: str, id_: str) -> int | None:
    return next((at for at, block in enumerate(blocks) if (block.table, block.id) == (table, id_)), None)


def _line_of(block: Block, what: str) -> int:
    """The line of the field that `what` begins with, else of the header."""
    key = what.partition(":")[0].partition("[")[0].partition(".")[0].strip()
    lines = block.text.split("\n")
    header = next(at for at, line in enumerate(lines) if line.lstrip().startswith("[["))
    for at, line in enumerate(lines[header:]):
        if line.partition("=")[0].strip() == key:
            return block.line + at
    return block.line
