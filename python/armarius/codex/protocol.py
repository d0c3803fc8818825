"""Protocols of authored data (`Authored`, `RecordStore`), and the blocks of a TOML file: read and write.

Authored data cannot be derived again, unlike an index. `armarius.codex.load.FolderAuthored` keeps it as editable files
in the project; a host with its own database implements `Authored`. `armarius.testing.AuthoredConformance` tests an
implementation.
"""

import json
import re
import tomllib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from armarius.codex.codex_json import CodexFile
from armarius.errors import CodexError, ConfigError
from armarius.io.toml import MAX_BYTES, parse_toml
from armarius.trust.settings import Config
from armarius.validation import shown

_HEADER = re.compile(r"^\s*\[\[\s*([A-Za-z0-9_-]+)\s*\]\]\s*(?:#.*)?$")
_ID = re.compile(r"^[ \t]*id[ \t]*=[ \t]*(\"(?:[^\"\\]|\\.)*\"|'[^']*')", re.MULTILINE)
_AT_LINE = re.compile(r" ?\(at line (\d+), column \d+\)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BARE_KEY = re.compile(r"^[A-Za-z0-9_-]+$")


@dataclass(frozen=True, slots=True)
class Block:
    """One record as it stands in the file.

    Attributes:
        text: All lines, with the comments directly above the header, each ending in a line break.
        line: 1-based line of the header; 0 for the text before the first header.
        table: The name in the header.
        data: Parsed values, None when the block cannot be parsed.
        problem: The error with its line, or "".
        id: Of the record; of a block that cannot be parsed, as far as it can be read.
    """

    text: str
    line: int = 0
    table: str = ""
    data: dict[str, Any] | None = None
    problem: str = ""
    id: str = ""


def read_blocks(text: str) -> list[Block]:
    """The blocks of a file, the part before the first header first; joined, their texts are `text`."""
    lines = _LINE.findall(text)
    starts: list[tuple[int, int, str]] = []
    for number, line in enumerate(lines):
        if match := _HEADER.match(line):
            first = number
            while first > (starts[-1][1] + 1 if starts else 0) and lines[first - 1].lstrip().startswith("#"):
                first -= 1
            starts.append((first, number, match[1]))
    ends = [*(first for first, _, _ in starts), len(lines)][1:]
    head = "".join(lines[: starts[0][0]] if starts else lines)
    blocks = [_head(head)] if head else []
    for (first, header, table), end in zip(starts, ends, strict=True):
        blocks.append(_block("".join(lines[first:end]), header + 1, header - first, table))
    return blocks


def _head(text: str) -> Block:
    try:
        keys = list(parse_toml(text))
    except tomllib.TOMLDecodeError as error:
        return Block(text, problem=_locate_error(error, 0, text))
    return Block(text, problem=f"line 1: {keys[0]!r} stands outside any [[…]] record" if keys else "")


def _block(text: str, line: int, above: int, table: str) -> Block:
    try:
        data = parse_toml(text)[table][0]
    except tomllib.TOMLDecodeError as error:
        return Block(text, line, table, None, _locate_error(error, line - 1 - above, text), _id_of(text))
    stated = data.get("id")
    return Block(text, line, table, data, "", stated if isinstance(stated, str) else _id_of(text))


def _id_of(text: str) -> str:
    """The id of a block without a valid `id`, found by a line search."""
    match = _ID.search(text)
    try:
        return str(parse_toml(f"id = {match[1]}")["id"]) if match else ""
    except tomllib.TOMLDecodeError:
        return ""


def _locate_error(error: tomllib.TOMLDecodeError, before: int, text: str) -> str:
    message = str(error)
    at = _AT_LINE.search(message)
    line = before + (int(at[1]) if at else max(1, text.rstrip().count("\n") + 1))
    return f"line {line}: {_AT_LINE.sub('', message).replace('(at end of document)', '').strip()}"


def write_block(table: str, data: dict[str, Any], *, before: Block | None = None) -> str:
    """A record as a block: scalars and lists first, then sub-tables; comment lines of `before` are kept.

    Args:
        table: The name in the header.
        data: Strings, numbers, booleans, lists of these, one level of tables or of lists of tables; None is left out.
        before: The block that this one replaces.

    Raises:
        ValueError: A value that TOML cannot hold: a lone surrogate, NaN, a number of more than 64 bits, another type;
            or a record larger than is read again.
    """
    comments = [line for line in (before.text.split("\n") if before else []) if line.lstrip().startswith("#")]
    lines = [*comments, f"[[{table}]]"]
    nested: list[str] = []
    for key, value in data.items():
        if isinstance(value, dict):
            if value:
                nested += ["", f"[{table}.{_key(key)}]"]
                nested += [f"{_key(name)} = {_value(item)}" for name, item in value.items()]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for item in value:
                nested += ["", f"[[{table}.{_key(key)}]]"]
                nested += [f"{_key(name)} = {_value(part)}" for name, part in item.items() if part is not None]
        elif value is not None:
            lines.append(f"{_key(key)} = {_value(value)}")
    block = "\n".join([*lines, *nested]) + "\n\n"
    if len(block) > MAX_BYTES:  # above the limit for reading
        raise ValueError(f"a record of {len(block):,} characters, at most {MAX_BYTES:,} are kept")
    return block


def _key(key: str) -> str:
    return key if _BARE_KEY.match(key) else _string(key, lines=False)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"a number of more than 64 bits, {shown(value)}")
        return str(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"expected a finite number, got {value}")
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    raise ValueError(f"expected text, a number or a list, got {type(value).__name__}")


def _string(text: str, *, lines: bool = True) -> str:
    """A basic string; several lines as a multi-line one, so that a change of one line is a change of one line.

    Args:
        text: Anything but a lone surrogate.
        lines: False for a key, which TOML keeps on one line.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"text holds a lone surrogate at {error.start}") from None
    parts = text.split("\n")
    plain = "\r" not in text and not any(part.lstrip().startswith(("#", "[[")) for part in parts)
    if lines and len(parts) > 1 and plain:
        body = "\n".join(_escape_text(part).replace('\\"', '"') for part in parts)
        if '"""' not in body and not body.endswith('"'):
            return f'"""\n{body}"""'
    return f'"{_escape_text(text)}"'


def _escape_text(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    return "".join(f"\\u{ord(char):04x}" if char in "\x7f\x85\u2028\u2029" else char for char in escaped)


BookName = Literal["codex", "memories", "constraints", "pins", "summaries", "understanding"]
Check = Callable[[Block], str]
"""The error of a record, or ""."""


class RecordStore(Protocol):
    """The records of one book, each with an `id` that is unique within its table. Threads may share it.

    `Block.table`, `.id` and `.data` are the record; `.line` is where it stands, 0 where there are no lines.
    """

    @property
    def name(self) -> str:
        """Name in messages and origins: for a file, its path in the project."""

    def records(self) -> list[Block]:
        """The current records in order; an invalid one keeps its last valid state."""

    def problems(self) -> tuple[CodexError, ...]:
        """Current errors of the book."""

    def stamp(self) -> Hashable:
        """Changes with every write, also by other programs."""

    def add(self, table: str, data: dict[str, Any], *, alike: Callable[[Block], bool] | None = None) -> str:
        """Append a record, unless `alike` matches an existing one.

        Returns:
            The id of the new record, or of the existing one.

        Raises:
            CodexError: The id is taken, a value cannot be stored, or the book cannot be edited.
            StoreFull, StoreBusy: It cannot be written; nothing has changed.
        """

    def extend(self, records: Sequence[tuple[str, dict[str, Any]]], *, comment: str = "") -> None:
        """Append records, each with its table, all or none; raises as `add`.

        Args:
            records: Table and values.
            comment: For who edits the book, above each record; a book without comments passes over it.
        """

    def replace(self, table: str, data: dict[str, Any]) -> None:
        """Replace the record with the id of `data`; raises as `add`, and KeyError when there is no such record."""

    def remove(self, table: str, id_: str) -> None:
        """Remove a record; raises as `replace`."""


@runtime_checkable
class Authored(Protocol):
    """The authored data of one project. Thread safe; other processes may change it at any time."""

    def stamp(self) -> str:
        """Changes with `declared` and the records, which the index is derived from. Called per request."""

    def config_stamp(self) -> str:
        """Changes with the configuration. Called per request."""

    def config(self) -> Config:
        """The configuration; the default one without a file.

        Raises:
            ConfigError: It is wrong; names the key.
        """

    def change_config(self, change: Callable[[str], str]) -> None:
        """Replace the text of the configuration ("" without a file) by `change(text)` under a lock.

        Raises:
            ConfigError: It is there and cannot be read.
            StoreFull, StoreBusy: It cannot be written.
        """

    def declared(self) -> CodexFile:
        """Parsed files of `armarius.codex.codex_json`, with their errors in `errors`."""

    def records(self, book: BookName, *, tables: Iterable[str], check: Check) -> RecordStore:
        """The records of a book.

        Args:
            book: Which.
            tables: What tables it may hold.
            check: Returns the error of a well-formed record, or "".
        """

    @property
    def profile_name(self) -> str:
        """What messages call the stored budget profile."""

    def profile(self) -> Mapping[str, Any] | None:
        """The stored budget profile as plain JSON; None without a stored one.

        Raises:
            ConfigError: What is stored cannot be read.
        """

    def change_profile(self, change: Callable[[Mapping[str, Any] | None], Mapping[str, Any]]) -> None:
        """Replace the stored profile by `change(profile)` under a lock; nothing is written when it raises.

        Raises:
            ConfigError: As `profile`.
            StoreFull, StoreBusy: It cannot be written.
        """


def profile_of_text(data: bytes, name: str) -> Mapping[str, Any]:
    """Read a budget profile.

    Args:
        data: JSON in UTF-8.
        name: What messages call it.

    Raises:
        ConfigError: It is not a JSON object; the message has the actual type.
    """
    try:
        profile = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: not a budget profile: {error}") from error
    if not isinstance(profile, dict):
        raise ConfigError(f"{name}: not a budget profile: {profile!r:.80}")
    return profile
