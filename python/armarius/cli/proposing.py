"""`armarius propose`: names that a story uses and nobody has described, as profiles for the writer to edit.

armarius propose novel/                                # a table; nothing is written
armarius propose novel/ --write novel/settings/new.md  # profiles to edit, in a new file
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from armarius.cli.terminal import add_field, add_project, note, plain, show, show_json
from armarius.display import counted
from armarius.engine import open as open_engine
from armarius.errors import ContractError
from armarius.io import stat_of, write_atomic
from armarius.io.folder import project_folder
from armarius.names.proposals import ProposedName

_TITLES = {"person": "人物", "place": "地点", "thing": "其他"}
_ENGLISH = {"person": "Characters", "place": "Locations", "thing": "Other"}


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "propose",
        help="names that the story uses and no profile describes",
        description="One row per name: what it probably is, how often, where first, likely aliases. Nothing is written "
        "without --write.",
    )
    add_project(parser)
    add_field(parser, "least", "--least", verb="entities:propose", type=int, default=10, metavar="N")
    add_field(parser, "known", "--known", verb="entities:propose", action="store_true")
    parser.add_argument("--write", metavar="PATH", help="write profiles to edit into this new file of the project")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=_propose)


def _propose(arguments: argparse.Namespace) -> int:
    if arguments.least < 2:
        raise ContractError(f"--least must be at least 2, got {arguments.least}")
    root = _absolute(project_folder(arguments.path))
    target = None if arguments.write is None else _target(root, arguments.write)
    with open_engine(arguments.path, watch=False) as engine:
        found = engine.propose(least=arguments.least, known=arguments.known)
    new = [one for one in found if not one.known]
    if target is not None and new:
        write_atomic(target, as_profiles(new).encode(), below=root)
        note(f"wrote {counted(len(new), 'profile')} to {arguments.write}: keep what is right, delete the rest")
    if arguments.json:
        show_json({"names": [plain(one) for one in found]})
    elif target is None and found:
        _table(found, marked=arguments.known)
    if not (new if target is not None else found) and not arguments.json:
        which = "" if arguments.known and target is None else " that nobody has described"
        note(f"armarius: no name{which} is written {arguments.least} times or more")
    return 0


def _target(root: Path, path: str) -> Path:
    """A Markdown file inside the project that is not there yet; the path is that of the shell."""
    target = _absolute(path)
    if not path.endswith(".md") or not target.is_relative_to(root):
        raise ContractError(f"--write takes a new .md file inside the project, got {path!r}")
    if stat_of(target, below=root) is not None:
        raise ContractError(f"--write: {path} is there already; nothing is written over")
    return target


def _absolute(path: str | Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - not resolved: a link on the way is refused when it is written


def _table(found: Sequence[ProposedName], *, marked: bool) -> None:
    from rich.table import Table

    columns = ("name", "kind", "count", "first", "aliases", "reason")
    table = Table(*columns, *(("described",) if marked else ()))
    for one in found:
        row = (one.name, one.kind, str(one.count), one.document, ", ".join(one.aliases), one.reason)
        table.add_row(*row, *((("yes" if one.known else "no"),) if marked else ()))
    show(table)


def as_profiles(found: Sequence[ProposedName]) -> str:
    """Profiles as `armarius` reads them: a section for each kind, a heading for each name."""
    chinese = sum(not one.name.isascii() for one in found) * 2 >= len(found)
    titles, alias, first = (_TITLES, "别名", "首次出现") if chinese else (_ENGLISH, "Aliases", "First seen")
    lines = []
    for kind, title in titles.items():
        mine = [one for one in found if one.kind == kind]
        if mine:
            lines += [f"# {title}", ""]
        for one in mine:
            lines += [f"## {one.name}", ""]
            if one.aliases:
                lines.append(f"- {alias}{'：' if chinese else ': '}{', '.join(one.aliases)}")
            lines += [f"- {first}{'：' if chinese else ': '}{one.document} ({one.count})", ""]
    return "\n".join(lines)
