"""What the commands share: reading words from the command line, writing tables and JSON."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from armarius.errors import ContractError

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


def show(what: RenderableType) -> None:
    """Write a table to standard output; Chinese characters count two columns."""
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDE, highlight=False, soft_wrap=False)
    console.print(what)


def show_json(value: Any) -> None:  # noqa: ANN401 - anything JSON can hold
    """Write JSON to standard output, readable, characters as themselves."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def note(text: str) -> None:
    """Write a line to standard error, where it does not disturb a pipe."""
    print(text, file=sys.stderr)
