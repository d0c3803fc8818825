"""Helpers of all commands: options that most of them have, text arguments, output as tables or JSON, notes."""

import argparse
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarius.display import camel_case, is_terminal
from armarius.errors import ContractError
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


def add_project(parser: argparse.ArgumentParser, name: str = "path") -> None:
    """The argument that names the project: the folder that one stands in by default."""
    parser.add_argument(name, type=Path, nargs="?", default=Path(), help="the project folder (default: this one)")


def add_series(parser: argparse.ArgumentParser) -> None:
    """The option that names the other folders of a series."""
    parser.add_argument(
        "--with",
        dest="series",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="another folder of the series, read and never written: a bible, an earlier book; may be repeated",
    )


def add_index_dir(parser: argparse.ArgumentParser) -> None:
    """The option that says where the index lives: relative to where the shell stands, as every path of a command."""
    parser.add_argument(
        "--index-dir", type=_here, metavar="FOLDER", help="where the index lives (default: the user's cache)"
    )


def _here(value: str) -> str:
    """The folder that the shell means; what is no path at all is refused where folders are opened."""
    if not value.strip():
        raise argparse.ArgumentTypeError("names no folder")
    return os.path.join(os.getcwd(), value) if "\0" not in value else value  # noqa: PTH109, PTH118 - as it is


def add_field(
    parser: argparse.ArgumentParser,
    field: str,
    *names: str,
    verb: str = "context:prompt:assemble",
    **options: Any,  # noqa: ANN401
) -> None:
    """Add an option, or an argument, that is a field of a verb's request.

    Args:
        parser: Of the command.
        field: Its name in the request; the help is what the request says of it, read when help is asked for.
        *names: As `add_argument` takes them.
        verb: The method of the channel.
        **options: Likewise; with `help`, that is the help.
    """
    action = parser.add_argument(*names, **{"help": "", **options})
    action.field = verb, field  # type: ignore[attr-defined]


def explain(parser: argparse.ArgumentParser) -> None:
    """Give the options that are fields of requests the descriptions of those."""
    from armarius.verbs import verb

    fields = [action for action in parser._actions if hasattr(action, "field")]
    own = {action.field[1]: action.option_strings[0] for action in fields if action.option_strings}
    for action in fields:
        if not action.help:
            name, field = action.field
            text = (verb(name).params.model_fields[field].description or "").partition(". ")[0].rstrip(".")
            text = re.sub(r"`(\w+)`", lambda found: own.get(found[1], found[1]), text).replace("`", "")
            again = "; may be repeated" if isinstance(action.default, list) else ""
            action.help = f"{text[:1].lower()}{text[1:]}{again}".replace("%", "%%")


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


EXAMPLES = {
    "assemble": "armarius assemble novel/ --query '检查第3章的角色一致性' --document chapters/ch003.md --budget 8000",
    "inspect": "armarius inspect novel/ --query 'who keeps the lighthouse' --budget 8000 --html report.html",
    "ask": "armarius ask novel/ 'who keeps the lighthouse' --budget 8000 | llm",
    "detect": "armarius detect novel/ --text '小雨推开门走了进来' --cards",
    "entities": "armarius entities novel/",
    "retrieve": "armarius retrieve novel/ 'who keeps the lighthouse' --chapters 1-40 --explain",
    "evidence": "armarius evidence novel/ 林小雨 --attribute 年龄",
    "index": "armarius index novel/ --json",
    "search": "armarius search novel/ '“seven forty”' --kind chapter --limit 20",
    "watch": "armarius watch novel/",
    "doctor": "armarius doctor novel/",
    "map": "armarius map novel/ --set 'reviews/**=review'",
    "embed": "armarius embed novel/ --model models/text2vec-base-chinese",
    "import": "armarius import card.png lore.json book.docx --into novel/ --yes",
    "export": "armarius export novel/ --book eldoria --as card-v3",
    "propose": "armarius propose novel/ --write novel/settings/people.md",
    "new": "armarius new my-novel",
    "completion": "armarius completion zsh",
    "evaluate": "armarius evaluate novel/ questions.jsonl --budget 8000 --misses",
    "serve": "armarius serve novel/",
    "channel": "armarius channel novel/",
    "studio": "armarius studio novel/ --no-browser",
    "server": "armarius server push novel/ --store postgresql://localhost/novels --project novel-1",
    "code-index": "armarius code-index repo/",
    "subgraph": "armarius subgraph repo/ Context.invoke --direction callers --depth 2",
    "trust": "armarius trust novel/",
}
