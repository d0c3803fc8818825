"""What the commands share: reading words from the command line, writing tables and JSON."""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarius.camel import camel
from armarius.errors import ContractError
from armarius.hits import Hit

if TYPE_CHECKING:
    from rich.console import RenderableType

# Columns of a table that goes to a file or pipe, where nothing folds it.
_WIDE = 160


def add_project(parser: argparse.ArgumentParser) -> None:
    """The argument that names the project."""
    parser.add_argument("path", type=Path, help="the project folder")


def words(value: str | None, option: str) -> str:
    """A text from the command line; `-` reads standard input.

    Raises:
        ContractError: Bytes that are not UTF-8.
    """
    if value == "-":
        data = sys.stdin.buffer.read()
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ContractError(f"standard input for {option} is not UTF-8 at byte {error.start}") from None
    text = value or ""
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ContractError(f"{option} is not UTF-8")
    return text


def show(what: "RenderableType") -> None:
    """Write a table to standard output; Chinese characters count two columns."""
    from rich.console import Console

    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDE, highlight=False, soft_wrap=False)
    console.print(what)


def show_json(value: Any) -> None:  # noqa: ANN401 - anything JSON can hold
    """Write JSON to standard output, readable, characters as themselves; records as `plain` makes them."""
    print(json.dumps(plain(value), ensure_ascii=False, indent=2))


def plain(value: Any) -> Any:  # noqa: ANN401 - any record
    """Records as mappings with camelCase keys, as on the wire; sets sorted, the rest as it is or as text."""
    if isinstance(value, Hit):
        return value.to_wire()
    if is_dataclass(value) and not isinstance(value, type):
        return {camel(field.name): plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    names = getattr(value, "__match_args__", None)
    return str(value) if names is None else {camel(name): plain(getattr(value, name)) for name in names}


def note(text: str) -> None:
    """Write a line to standard error, where it does not disturb a pipe."""
    print(text, file=sys.stderr)
