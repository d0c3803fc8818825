"""Helpers of all commands: text arguments, output as tables or JSON, notes."""

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from armarius.errors import ContractError
from armarius.headings.display import camel_case, is_terminal
from armarius.types import Hit
from armarius.validation import shown

if TYPE_CHECKING:
    from rich.console import RenderableType

# Columns of what goes to a file or pipe, which is read at a terminal or on a page.
_PIPED = 80
# Controls, marks of direction, line separators, tags, halves of characters; joiners stay, scripts and emoji need them.
_COMMANDS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def question(value: str, option: str) -> str:
    """A text from the command line that something is looked for by.

    Raises:
        ContractError: It is blank.
    """
    text = words(value, option)
    if not text.strip():
        raise ContractError(f"{option} must hold something to look for, got {shown(text)}")
    return text


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
    """Write a table to standard output; Chinese characters count two columns, `COLUMNS` decides for a pipe too."""
    from rich.console import Console

    width = None if is_terminal(sys.stdout) or os.environ.get("COLUMNS") else _PIPED
    console = Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)
    console.print(what)


def show_json(value: Any) -> None:  # noqa: ANN401 - anything JSON can hold
    """Write JSON to standard output, readable, characters as themselves; records as `plain` makes them."""
    print(json.dumps(plain(value), ensure_ascii=False, indent=2))


def plain(value: Any) -> Any:  # noqa: ANN401 - any record
    """Records as mappings with camelCase keys, as on the wire; sets sorted, the rest as it is or as text."""
    if isinstance(value, Hit):
        return value.to_wire()
    if is_dataclass(value) and not isinstance(value, type):
        return {camel_case(field.name): plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    names = getattr(value, "__match_args__", None)
    return str(value) if names is None else {camel_case(name): plain(getattr(value, name)) for name in names}


def printable(text: str) -> str:
    r"""`text` on one line, nothing in it a command to a terminal: control and unseen characters as `\x1b`, `\u202e`."""
    return _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def note(text: str) -> None:
    """Write lines to standard error, where they do not disturb a pipe."""
    print("\n".join(map(printable, text.split("\n"))), file=sys.stderr)
