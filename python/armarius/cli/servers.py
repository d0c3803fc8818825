"""`armarius server`: projects on a PostgreSQL server, from a terminal.

export ARMARIUS_DSN=postgresql://…         # or --store; never from armarius.toml, which came with a project
armarius server migrate                    # makes the tables, or brings them up; over a connection without a pooler
armarius server push novel/ --project novel-1
armarius server status
"""

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from armarius.cli.terminal import add_project, note, plain, show, show_json
from armarius.errors import ContractError

if TYPE_CHECKING:
    from armarius.store.postgres.schema import ServerState
    from armarius.workspace.server import Novel, Shelf

DSN_ENV = "ARMARIUS_DSN"
DEFAULT_SCHEMA = "armarius"
_SHOWN = 50
_OLDEST = 16


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its verbs."""
    server = subparsers.add_parser("server", help="projects on a PostgreSQL server")
    verbs = server.add_subparsers(metavar="verb", required=True, parser_class=type(server))
    made: dict[str, argparse.ArgumentParser] = {}
    for verb, run, what in (
        ("migrate", _migrate, "make the tables, or bring them up to this armarius"),
        ("status", _status, "versions, sizes and the projects of a tenant"),
        ("push", _push, "make a project what a folder is, in one write"),
        ("pull", _pull, "write a project into a folder"),
        ("doctor", _doctor, "check server, tables and projects; status 1 when something is wrong"),
    ):
        made[verb] = verbs.add_parser(verb, help=what)
        add_store(made[verb])
        made[verb].add_argument("--json", action="store_true")
        made[verb].set_defaults(run=run)
    for verb in ("status", "push", "pull", "doctor"):
        made[verb].add_argument("--tenant", default="", help="the tenant of the projects (default: none)")
    for verb in ("push", "pull"):
        add_project(made[verb], "folder")
    for verb in ("push", "pull", "doctor"):
        made[verb].add_argument("--project", metavar="ID", help="what the project is called (default: as the folder)")
    made["push"].add_argument("--expect", type=int, metavar="VERSION", help="refuse if somebody has written since")
    made["pull"].add_argument("--overwrite", action="store_true", help="replace files that say something else")


def add_store(parser: argparse.ArgumentParser) -> None:
    """The arguments that name the server."""
    parser.add_argument("--store", metavar="DSN", help=f"postgresql://… (default: {DSN_ENV} of the environment)")
    parser.add_argument("--schema", default=DEFAULT_SCHEMA, help=f"of the tables (default: {DEFAULT_SCHEMA})")


def dsn_of(arguments: argparse.Namespace) -> str:
    """The connection string that the user gave.

    Raises:
        ContractError: None was given.
    """
    dsn = arguments.store or os.environ.get(DSN_ENV, "")
    if not dsn:
        raise ContractError(f"which server? give --store postgresql://… or set {DSN_ENV}")
    return str(dsn)


@contextmanager
def connected(arguments: argparse.Namespace) -> Iterator["Shelf"]:
    """The shelf that the arguments name."""
    from armarius.workspace.folder import connect

    with connect(dsn_of(arguments), schema=arguments.schema) as shelf:
        yield shelf


def _migrate(arguments: argparse.Namespace) -> int:
    from armarius.store.postgres.schema import migrate

    with connected(arguments) as shelf:
        state = migrate(shelf.pool, shelf.schema)
        _tell(arguments, state, lambda: print(_server(shelf, state)))
    return 0


def _status(arguments: argparse.Namespace) -> int:
    with connected(arguments) as shelf:
        state = shelf.server()
        projects = shelf.projects(tenant=arguments.tenant, limit=_SHOWN) if state.schema else []

        def tell() -> None:
            from rich.table import Table
            from rich.text import Text

            print(_server(shelf, state))
            table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
            for heading in ("project", "version", "characters", "bytes", "written"):
                table.add_column(heading)
            for one in projects:
                figures = (str(one.version), f"{one.characters:,}", f"{one.bytes:,}", f"{one.touched:%Y-%m-%d %H:%M}")
                table.add_row(Text(one.id), *figures)
            if projects:
                show(table)
            if len(projects) == _SHOWN:
                note(f"armarius: the first {_SHOWN} projects")

        _tell(arguments, {**plain(state), "projects": plain(projects)}, tell)
    return 0


def _push(arguments: argparse.Namespace) -> int:
    from armarius.workspace.server import push

    with connected(arguments) as shelf:
        novel = _named(arguments, shelf)
        done = push(novel, arguments.folder, expect=arguments.expect)
        what = f"{len(done.written)} of {done.files} files written, {len(done.removed)} removed"
        _tell(arguments, done, lambda: print(f"{novel.project_id}: {what}; version {done.version}"))
    return 0


def _pull(arguments: argparse.Namespace) -> int:
    from armarius.workspace.stored import pull

    with connected(arguments) as shelf:
        novel = _named(arguments, shelf)
        done = pull(novel.session, arguments.folder, overwrite=arguments.overwrite)
        what = f"{len(done.written)} of {done.files} files written"
        extra = f"; {len(done.extra)} of the folder are not in it" if done.extra else ""
        _tell(arguments, done, lambda: print(f"{novel.project_id}: {what}{extra}"))
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    from armarius.store.postgres.schema import SCHEMA_VERSION

    with connected(arguments) as shelf:
        state = shelf.server()
        wrong, remarks = [], []
        if int(state.server.split(".")[0]) < _OLDEST:
            wrong.append(f"PostgreSQL {state.server}: {_OLDEST} or newer is needed")
        if state.schema < SCHEMA_VERSION:
            what = f"tables of version {state.schema}" if state.schema else "no tables"
            wrong.append(f"{what}, this armarius needs {SCHEMA_VERSION}: armarius server migrate")
        elif state.vectors != "pgvector":
            remarks.append("pgvector was missing when the tables were made: vectors are compared in the worker")
        checked = 0
        if state.schema >= SCHEMA_VERSION:
            names = [arguments.project] if arguments.project else None
            for name in names or [one.id for one in shelf.projects(tenant=arguments.tenant, limit=_SHOWN)]:
                wrong += [f"{name}: {problem}" for problem in shelf.verify(name, tenant=arguments.tenant)]
                checked += 1

        def tell() -> None:
            print(_server(shelf, state))
            print(f"{checked} projects checked")
            print(*remarks, *(f"! {one}" for one in wrong), sep="\n", end="\n" if remarks or wrong else "")

        _tell(arguments, {**plain(state), "checked": checked, "wrong": wrong, "remarks": remarks}, tell)
    return 1 if wrong else 0


def _named(arguments: argparse.Namespace, shelf: "Shelf") -> "Novel":
    name = arguments.project or arguments.folder.resolve().name
    return shelf.project(name, tenant=arguments.tenant)


def _server(shelf: "Shelf", state: "ServerState") -> str:
    tables = f"tables {state.schema}, vectors by {state.vectors}" if state.schema else "no tables"
    sizes = f"{state.projects:,} projects, {state.characters:,} characters, {state.bytes:,} bytes"
    return f"{shelf.place}: PostgreSQL {state.server}, {tables}; {sizes}"


def _tell(arguments: argparse.Namespace, value: object, tell: Callable[[], None]) -> None:
    if arguments.json:
        show_json(value)
    else:
        tell()
