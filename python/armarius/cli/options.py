"""Options that several commands share: bounds, query variants, the edited document, a conversation."""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from armarius.arguments import KINDS, Turn, checked, read_messages
from armarius.cli.terminal import add_field, words
from armarius.errors import ContractError
from armarius.headings import FRAMES
from armarius.io import read_file
from armarius.validation import LONGEST_TEXT

_RANGE = re.compile(r"(\d*)\s*(-|–|\.\.)\s*(\d*)")
_SPAN = re.compile(r"(\d{1,12})-(\d{1,12})")
_MOST_BYTES = 4 * LONGEST_TEXT  # UTF-8
_MOST_MESSAGES_BYTES = 64 * 1024 * 1024


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what may be looked into."""
    add_field(
        parser,
        "chapters",
        "--chapters",
        type=_chapters,
        metavar="N-M",
        help="look into these chapters alone: 3, 1-40, 5- or -40",
    )
    add_field(
        parser,
        "kinds",
        "--kind",
        dest="kinds",
        action="append",
        default=[],
        choices=KINDS,
        help="look into documents of this kind alone; several times for several",
    )
    add_field(parser, "as_of", "--as-of", type=int, metavar="N")


def add_also(parser: argparse.ArgumentParser) -> None:
    """Add the option that asks in other words."""
    add_field(parser, "also", "--also", action="append", default=[], metavar="TEXT")


def bounds_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those options as keywords of the engine."""
    found = {"chapters": arguments.chapters, "kinds": tuple(arguments.kinds), "as_of": arguments.as_of}
    return {**found, "also": tuple(arguments.also)} if hasattr(arguments, "also") else found


def add_editing(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_field(
        parser,
        "text",
        "--buffer",
        metavar="FILE",
        help="the document as the editor holds it; - is standard input (default: as saved)",
    )
    add_field(parser, "selection", "--selection", type=_span, metavar="A-B")
    add_field(parser, "marks", "--no-marks", action="store_true", help="do not mark cursor and selection in the prompt")
    add_field(parser, "story", "--story", action="store_true")
    for field in ("include", "exclude"):
        add_field(parser, field, f"--{field}", action="append", default=[], metavar="TARGET")
    add_field(parser, "language", "--language", choices=sorted(FRAMES))


def editing_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those options as keywords of a request.

    Raises:
        ContractError: The file of `--buffer` cannot be read, or is not UTF-8.
    """
    return {
        "text": None if arguments.buffer is None else _file_text(arguments.buffer, "--buffer", limit=_MOST_BYTES),
        "selection": arguments.selection,
        "marks": not arguments.no_marks,
        "story": arguments.story,
        "include": tuple(words(one, "--include") for one in arguments.include),
        "exclude": tuple(words(one, "--exclude") for one in arguments.exclude),
        "language": arguments.language,
    }


def add_messages(parser: argparse.ArgumentParser) -> None:
    """Add the option that hands over a conversation."""
    add_field(
        parser,
        "messages",
        "--messages",
        metavar="FILE",
        help='the conversation before the query: a JSON list of {"role", "content"}, oldest first; - is standard input',
    )


def add_include(parser: argparse.ArgumentParser) -> None:
    """Add the option that shows turns of it."""
    add_field(parser, "include_messages", "--include-messages", type=int, default=0, metavar="N")


def messages_of(arguments: argparse.Namespace) -> tuple[Turn, ...]:
    """The messages of `--messages`.

    Raises:
        ContractError: The file cannot be read, is no JSON, or holds no messages.
    """
    given = arguments.messages
    if given is None:
        return ()
    text = _file_text(given, "--messages", limit=_MOST_MESSAGES_BYTES)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"--messages {given} is no JSON: {error}") from None
    return checked("messages", read_messages, found)


def _chapters(text: str) -> int | tuple[int | None, int | None]:
    if text.strip().isdecimal():
        return int(text)
    found = _RANGE.fullmatch(text.strip())
    if found is None or not (found[1] or found[3]):
        raise argparse.ArgumentTypeError(f"{text!r} is no chapter and no range of chapters, such as 3, 1-40, 5- or -40")
    return (int(found[1]) if found[1] else None, int(found[3]) if found[3] else None)


def _file_text(given: str, option: str, *, limit: int) -> str:
    """The text of a file, or of standard input for `-`."""
    if given == "-":
        return words(given, option)
    try:
        return read_file(Path(given), limit=limit, follow=True).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError(f"{option} {given} is not UTF-8 at byte {error.start}") from None
    except OSError as error:
        raise ContractError(f"{option} {given}: {error.strerror or error}") from None


def _span(text: str) -> tuple[int, int]:
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no selection, such as 2980-3021")
    return int(found[1]), int(found[2])
