"""Commands as rows: name, options and what each is; the options that several share, how their values are read; output.

An option that is a field of a verb's request has the help of that field, and its value goes into the request by
`fields_of`. A command is a function from the parsed arguments to the exit status.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from armarius.arguments import KINDS, Turn, check_arg, read_messages
from armarius.errors import ContractError
from armarius.headings import FRAMES, camel_case, is_terminal
from armarius.io import read_file
from armarius.types import Hit
from armarius.validation import LONGEST_TEXT, has_surrogate, shown

if TYPE_CHECKING:
    from rich.console import RenderableType

Run = Callable[[argparse.Namespace], int]

_ASSEMBLE = "context:prompt:assemble"
_RANGE = re.compile(r"(\d*)\s*(-|–|\.\.)\s*(\d*)")
_SPAN = re.compile(r"(\d{1,12})-(\d{1,12})")
_MOST_BYTES = 4 * LONGEST_TEXT  # UTF-8
_MOST_MESSAGES_BYTES = 64 * 1024 * 1024


class Option(NamedTuple):
    """An option or an argument: `settings` as `add_argument` takes them; verb and field of the request that it is."""

    name: str
    settings: dict[str, Any]
    verb: str = ""
    field: str = ""

    def add_to(self, parser: "argparse._ActionsContainer") -> None:
        """Add it to a parser."""
        action = parser.add_argument(self.name, **self.settings)
        if self.field:
            action.field = self.verb, self.field  # type: ignore[attr-defined]


class Command(NamedTuple):
    """A row of the command line; options in a tuple exclude each other, and without `run` it has commands below it."""

    about: str
    options: tuple[Option | tuple[Option, ...], ...]
    description: str | None
    example: str
    run: Run | None


COMMANDS: Final[dict[str, Command]] = {}
"""The commands of the files that are loaded, by name; `server push` is below `server`."""


def command(
    name: str, about: str, *options: Option | tuple[Option, ...], description: str | None = None, example: str = ""
) -> Callable[[Run], Run]:
    """Makes a command of a function."""

    def add(run: Run) -> Run:
        COMMANDS[name] = Command(about, options, description, example and f"armarius {name.split()[0]} {example}", run)
        return run

    return add


def add_command(subparsers: "argparse._SubParsersAction[Any]", name: str) -> None:
    """Add a command of `COMMANDS`, with those below it."""
    row = COMMANDS[name]
    parser = subparsers.add_parser(name.split()[-1], help=row.about, description=row.description)
    for option in row.options:
        if isinstance(option, Option):
            option.add_to(parser)
        else:
            group = parser.add_mutually_exclusive_group()
            for choice in option:
                choice.add_to(group)
    parser.set_defaults(run=row.run)
    if row.run is None:
        below = parser.add_subparsers(metavar="verb", required=True, parser_class=type(parser))
        for other in COMMANDS:
            if other.startswith(f"{name} "):
                add_command(below, other)


def option(name: str, help: str | None = None, **settings: Any) -> Option:  # noqa: A002, ANN401 - as argparse has it
    """An option, or an argument."""
    return Option(name, {"help": help, **settings})


def flag(name: str, help: str | None = None) -> Option:  # noqa: A002 - as argparse has it
    """An option without a value."""
    return option(name, help, action="store_true")


def repeatable(name: str, help: str, **settings: Any) -> Option:  # noqa: A002, ANN401 - as argparse has it
    """An option that may be given several times."""
    return option(name, help, action="append", default=[], **settings)


def field(name: str, option: str = "", help: str = "", *, verb: str = _ASSEMBLE, **settings: Any) -> Option:  # noqa: A002, ANN401
    """An option, or an argument, that is a field of a verb's request; the help is what the request says of it.

    Args:
        name: Of the field.
        option: When it is not the name of the field.
        help: Instead of what the request says.
        verb: The method of the channel.
        **settings: As `add_argument` takes them.
    """
    option = option or f"--{name.replace('_', '-')}"
    if option.startswith("--"):
        settings["dest"] = name
    return Option(option, {"help": help, **settings}, verb, name)


def explain(parser: argparse.ArgumentParser) -> None:
    """Give the options that are fields of requests the descriptions of those."""
    from armarius.verbs import verb

    fields = [action for action in parser._actions if hasattr(action, "field")]
    own = {action.field[1]: action.option_strings[0] for action in fields if action.option_strings}
    for action in fields:
        if not action.help:
            name, field = action.field
            text = (verb(name).params.model_fields[field].description or "").partition(". ")[0].rstrip(".")
            text = re.sub(r"`(\w+)`", lambda match: own.get(match[1], match[1]), text).replace("`", "")
            again = "; may be repeated" if isinstance(action.default, list) else ""
            action.help = f"{text[:1].lower()}{text[1:]}{again}".replace("%", "%%")


def fields_of(arguments: argparse.Namespace, options: Iterable[Option]) -> dict[str, Any]:
    """The fields of a request that options say, as keywords of the engine.

    Raises:
        ContractError: A file cannot be read, is not UTF-8, or does not hold what it should.
    """
    return {option.field: _value(option, getattr(arguments, option.field)) for option in options if option.field}


def _value(option: Option, value: Any) -> Any:  # noqa: ANN401 - of any field
    match option.field:
        case "query" | "document" | "additional_input":
            return words(value, option.name)
        case "include" | "exclude":
            return tuple(words(text, option.name) for text in value)
        case "text" if value is not None:
            return _file_text(value, option.name, limit=_MOST_BYTES)
        case "messages":
            return () if value is None else _messages(value, option.name)
    return tuple(value) if isinstance(value, list) else value


def _messages(source: str, option: str) -> tuple[Turn, ...]:
    text = _file_text(source, option, limit=_MOST_MESSAGES_BYTES)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"{option} {source} is no JSON: {error}") from None
    return check_arg("messages", read_messages, data)


def _file_text(source: str, option: str, *, limit: int) -> str:
    """The text of a file, or of standard input for `-`."""
    if source == "-":
        return words(source, option)
    try:
        return read_file(Path(source), limit=limit, follow=True).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError(f"{option} {source} is not UTF-8 at byte {error.start}") from None
    except OSError as error:
        raise ContractError(f"{option} {source}: {error.strerror or error}") from None


def _chapters(text: str) -> int | tuple[int | None, int | None]:
    if text.strip().isdecimal():
        return int(text)
    match = _RANGE.fullmatch(text.strip())
    if match is None or not (match[1] or match[3]):
        raise argparse.ArgumentTypeError(f"{text!r} is no chapter and no range of chapters, such as 3, 1-40, 5- or -40")
    return (int(match[1]) if match[1] else None, int(match[3]) if match[3] else None)


def span(text: str) -> tuple[int, int]:
    """`A-B` as two numbers; for argparse."""
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no range, such as 2980-3021")
    return int(match[1]), int(match[2])


def _folder_argument(value: str) -> str:
    """The folder that the shell means; what is no path at all is refused where folders are opened."""
    if not value.strip():
        raise argparse.ArgumentTypeError("names no folder")
    return os.path.join(os.getcwd(), value) if "\0" not in value else value  # noqa: PTH109, PTH118 - as it is


PROJECT: Final = option("path", "the project folder (default: this one)", type=Path, nargs="?", default=Path())
SERIES: Final = repeatable(
    "--with", "another folder of the series, read and never written: a bible, an earlier book; may be repeated",
    dest="series", type=Path, metavar="FOLDER",
)  # fmt: skip
INDEX_DIR: Final = option(
    "--index-dir", "where the index lives (default: the user's cache)", type=_folder_argument, metavar="FOLDER"
)
JSON: Final = flag("--json")
BOUNDS: Final = (
    field("chapters", help="look into these chapters alone: 3, 1-40, 5- or -40", type=_chapters, metavar="N-M"),
    field(
        "kinds", "--kind", "look into documents of this kind alone; several times for several", action="append",
        default=[], choices=KINDS,
    ),
    field("as_of", type=int, metavar="N"),
)  # fmt: skip
ALSO: Final = field("also", action="append", default=[], metavar="TEXT")
MESSAGES: Final = field(
    "messages", help='the conversation before the query: a JSON list of {"role", "content"}, oldest first; - is '
    "standard input", metavar="FILE",
)  # fmt: skip
EDITING: Final = (
    field("text", "--buffer", "the document as the editor holds it; - is standard input (default: as saved)",
          metavar="FILE"),
    field("selection", type=span, metavar="A-B"),
    field("marks", "--no-marks", "do not mark cursor and selection in the prompt", action="store_false"),
    field("story", action="store_true"),
    *(field(name, action="append", default=[], metavar="TARGET") for name in ("include", "exclude")),
    field("language", choices=sorted(FRAMES)),
)  # fmt: skip


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
    if has_surrogate(text):
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
    return _COMMANDS.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def note(text: str) -> None:
    """Write lines to standard error, where they do not disturb a pipe."""
    print("\n".join(map(printable, text.split("\n"))), file=sys.stderr)
