"""TOML settings: reading within limits of size and depth, errors with file and line, quoting of values.

`armarius.toml` came with the project and may be anything: a pipe, a link to another file, a gigabyte, a thousand
brackets. Each is a `ConfigError` that names the file.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from armarius.errors import ConfigError
from armarius.io import Refused, TooLarge, read_file, rewrite_file
from armarius.validation import near, suggestion

MAX_BYTES = 1 << 18
"""A larger file is refused. It is read again with every change, and tomllib needs up to 4 s for a hostile megabyte."""

# tomllib is quadratic in the parts of a key: 100,000 of them (200 KB) take 16 s, 100 in every line 0.2 s.
_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w.\"'\\-])(?:{_PART}[ \t]*+\.[ \t]*+){{100}}")
_TOO_LONG = "a key of more than 100 parts"
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_MARK = "\ufeff"  # Notepad writes a byte order mark
_MOST = 2**63  # TOML's numbers have 64 bits; Python's have as many as a file has digits


def read_toml(path: Path, *, name: str, follow: bool = False) -> dict[str, Any] | None:
    """What a TOML file says; None when there is none.

    Args:
        path: The file.
        name: What error messages call it.
        follow: Whether it may be a link; only for files of the user's own.

    Raises:
        ConfigError: A link, no regular file, larger than 256 KiB, not UTF-8, not TOML, nested or dotted too deep.

    Cost: one read of at most 256 KiB; about 0.4 s for the worst that is let through.
    """
    try:
        data = read_file(path, limit=MAX_BYTES, follow=follow)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _read_error(name, error) from None
    return settings_of(_text(data, name), name=name)


def rewrite_toml(path: Path, change: Callable[[str], str], *, name: str, below: Path) -> None:
    """Replace the text of a TOML file, "" where there is none, by `change` of it; see `rewrite_file`.

    Raises:
        ConfigError: It is there and cannot be read.
        StoreFull, StoreConflict: As `rewrite_file`.
    """
    try:
        rewrite_file(path, lambda data: change(_text(data, name)).encode(), limit=MAX_BYTES, below=below)
    except OSError as error:
        raise _read_error(name, error) from None


def refuse_unknown(stated: Iterable[str], known: Collection[str], what: str) -> None:
    """Refuse names of settings that nobody knows.

    Args:
        stated: The names in a file.
        known: Those that may stand there, as the message lists them.
        what: The message before the first unknown name, such as `armarius.toml: unknown table `.

    Raises:
        ConfigError: One of them is unknown; names those near it.
    """
    if unknown := sorted({*stated}.difference(known)):
        near_ones = suggestion(near(unknown[0], known))
        raise ConfigError(f"{what}{unknown[0]}; known: {', '.join(known)}{near_ones}")


def _read_error(name: str, error: OSError) -> ConfigError:
    if isinstance(error, TooLarge):
        return ConfigError(f"{name}: larger than {MAX_BYTES:,} bytes")
    if isinstance(error, Refused):
        link = error.strerror == "symbolic link"
        return ConfigError(f"{name}: is {'a symbolic link, which is not followed' if link else 'no regular file'}")
    return ConfigError(f"{name}: {error.strerror or error}")


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from None


def settings_of(text: str, *, name: str) -> dict[str, Any]:
    """What a text of settings says; raises as `read_toml`."""
    try:
        if line := _line_of_long_key(text):
            raise ConfigError(f"{name}: line {line}: {_TOO_LONG}")
        return parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: {error}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """What TOML of at most 256 KiB says; what makes `tomllib` slow or breaks Python's own limits is refused as no TOML.

    Raises:
        tomllib.TOMLDecodeError: Not TOML, too long, nested or dotted too deep, or a number beyond 64 bits; the message
            ends in `(at line 1, column 2)` where that is known.

    Cost: about 0.4 s for the worst that is let through.
    """
    if len(text) > MAX_BYTES:
        raise tomllib.TOMLDecodeError(f"more than {MAX_BYTES:,} characters")
    if line := _line_of_long_key(text):
        raise tomllib.TOMLDecodeError(f"{_TOO_LONG} (at line {line}, column 1)")
    try:
        data = tomllib.loads(text.removeprefix(_MARK))
        if not _is_sane(data):
            raise tomllib.TOMLDecodeError("a number of more than 64 bits")
    except RecursionError:
        raise tomllib.TOMLDecodeError("arrays or tables are nested too deep") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # a number of more digits than Python converts, a date that there is not
        raise tomllib.TOMLDecodeError(str(error)) from None
    return data


def _line_of_long_key(text: str) -> int:
    match = _LONG_KEY.search(text)
    return text.count("\n", 0, match.start()) + 1 if match else 0


def _is_sane(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_sane, value.values()))
    if isinstance(value, list):
        return all(map(_is_sane, value))
    return not isinstance(value, int) or -_MOST <= value < _MOST


def value_of(value: object) -> str:
    """A text, whole number, list or table as TOML writes it on one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(value_of, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{quote_toml(key, key=True)} = {value_of(item)}' for key, item in value.items())}}}"
    return str(value) if isinstance(value, int) else quote_toml(str(value))


def quote_toml(text: str, *, key: bool = False) -> str:
    """`text` as TOML writes it, on one line and in printable characters only; a key stays bare where it may."""
    if key and _BARE.fullmatch(text):
        return text
    return '"' + "".join(_escape_char(char) for char in text) + '"'


def _escape_char(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def with_value(
    text: str, table: str, key: str, value: object, *, comment: str = "", below: Collection[str] = ()
) -> str | None:
    """`text` with `key = "value"` in `[table]`, and every other line as it was; None where no line can say so.

    A line that states the key already is changed, its comment kept; else the new line is the first of its table, or
    stands behind the last of the keys in `below`. A table that is not there is made at the end. None: no TOML, or a
    table of another form (`{…}`, dotted keys).

    Args:
        text: TOML, at most 256 KiB.
        table: Name of a top-level table.
        key: Any text.
        value: Text, whole number, list or table.
        comment: Behind the value; "" is that of the line that is changed.
        below: Keys of the table.
    """
    if text.startswith(_MARK):
        written = with_value(text.removeprefix(_MARK), table, key, value, comment=comment, below=below)
        return None if written is None else _MARK + written
    try:
        wanted = parse_toml(text)
    except tomllib.TOMLDecodeError:
        return None
    if not isinstance(wanted.setdefault(table, {}), dict):
        return None
    wanted[table][key] = value
    end = "\r\n" if "\r\n" in text else "\n"
    lines = (text if text.endswith("\n") or not text else text + end).splitlines(keepends=True)
    new = f"{quote_toml(key, key=True)} = {value_of(value)}"
    behind = "  # " + "".join(char if char.isprintable() else " " for char in comment) if comment else ""
    drafts = [
        [*lines[:at], f"{new}{behind or old}{end}", *lines[at + 1 :]]
        for at, line in enumerate(lines)
        if (old := _comment_behind(line, key)) is not None
    ]
    opening = re.compile(rf"\s*\[\s*{re.escape(quote_toml(table, key=True))}\s*\]")
    heads = [at for at, line in enumerate(lines) if opening.match(line)]
    heads = [
        at for at, line in enumerate(lines) if any(_comment_behind(line, name) is not None for name in below)
    ] or heads
    drafts += [[*lines[: at + 1], f"{new}{behind}{end}", *lines[at + 1 :]] for at in reversed(heads)]
    drafts.append([*lines, end * bool(lines), f"[{quote_toml(table, key=True)}]{end}", f"{new}{behind}{end}"])
    return next((whole for draft in drafts if _parses_to(whole := "".join(draft), wanted)), None)


def _comment_behind(line: str, key: str) -> str | None:
    """The comment behind a line that states `key`, with the space before it; "" for none, None for another line."""
    if not line.lstrip().startswith((key, f"'{key}'", quote_toml(key))):
        return None
    for at in (*(at for at, char in enumerate(line) if char == "#"), len(line)):
        try:
            if parse_toml(head := line[:at]).keys() == {key}:
                return head[len(head.rstrip()) :].strip("\r\n") + line[at:].rstrip("\r\n")
        except tomllib.TOMLDecodeError:
            continue
    return None


def _parses_to(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return parse_toml(text) == wanted
    except tomllib.TOMLDecodeError:
        return False
