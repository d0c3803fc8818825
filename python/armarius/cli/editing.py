"""What an editor knows of its document, and what the writer pins: `--buffer --selection --include --exclude`."""

import argparse
import re
from pathlib import Path
from typing import Any

from armarius.cli.terminal import words
from armarius.errors import ContractError
from armarius.files import read_file
from armarius.headings import FRAMES
from armarius.strict import LONGEST_TEXT

__all__ = ["add_editing", "editing_of"]

_SPAN = re.compile(r"(\d{1,12})-(\d{1,12})")
_MOST_BYTES = 4 * LONGEST_TEXT  # UTF-8


def add_editing(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--buffer", metavar="FILE", help="the document as the editor holds it; - is standard input (default: as saved)"
    )
    parser.add_argument("--selection", type=_span, metavar="A-B", help="offsets of what is selected in it, half-open")
    parser.add_argument("--no-marks", action="store_true", help="do not mark cursor and selection in the prompt")
    for option, what in (("--include", "pin"), ("--exclude", "mute")):
        parser.add_argument(
            option,
            action="append",
            default=[],
            metavar="TARGET",
            help=f"{what} an id, name, path, paragraph (path#12) or tag; several times for several",
        )
    parser.add_argument("--language", choices=sorted(FRAMES), help="of headings and labels (default: the project's)")


def editing_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those options as keywords of a request.

    Raises:
        ContractError: The file of `--buffer` cannot be read, or is not UTF-8.
    """
    return {
        "text": _text(arguments.buffer),
        "selection": arguments.selection,
        "marks": not arguments.no_marks,
        "include": tuple(words(one, "--include") for one in arguments.include),
        "exclude": tuple(words(one, "--exclude") for one in arguments.exclude),
        "language": arguments.language,
    }


def _text(given: str | None) -> str | None:
    if given is None or given == "-":
        return None if given is None else words(given, "--buffer")
    try:
        return read_file(Path(given), limit=_MOST_BYTES, follow=True).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError(f"--buffer {given} is not UTF-8 at byte {error.start}") from None
    except OSError as error:
        raise ContractError(f"--buffer {given}: {error.strerror or error}") from None


def _span(text: str) -> tuple[int, int]:
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no selection, such as 2980-3021")
    return int(found[1]), int(found[2])
