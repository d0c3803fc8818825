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
from pathlib import Path
from typing import TYPE_CHECKING, Final

from armarius.cli.options import COMMANDS, JSON, Command, command, flag, option
from armarius.cli.terminal import note, plain, show, show_json
from armarius.display import rich_table
from armarius.errors import ContractError

if TYPE_CHECKING:
    from armarius.store.postgres.schema import ServerState
    from armarius.workspace.server import Novel, Shelf

DSN_ENV = "ARMARIUS_DSN"
DEFAULT_SCHEMA = "armarius"
_SHOWN = 50
_OLDEST = 16


STORE: Final = (
    option("--store", f"postgresql://… (default: {DSN_ENV} of the environment)", metavar="DSN"),
    option("--schema", f"of the tables (default: {DEFAULT_SCHEMA})", default=DEFAULT_SCHEMA),
)
"""The options that name the server."""
_TENANT = option("--tenant", "the tenant of the projects (default: none)", default="")
_FOLDER = option("folder", "the project folder (default: this one)", type=Path, nargs="?", default=Path())
_NAME = option("--project", "what the project is called (default: as the folder)", metavar="ID")

COMMANDS["server"] = Command(
    "projects on a PostgreSQL server", (), None,
    "armarius server push novel/ --store postgresql://localhost/novels --project novel-1", None,
)  # fmt: skip


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


@command("server migrate", "make the tables, or bring them up to this armarius", *STORE, JSON)
def _migrate(arguments: argparse.Namespace) -> int:
    from armarius.store.postgres.schema import migrate

    with connected(arguments) as shelf:
        state = migrate(shelf.pool, shelf.schema)
        _tell(arguments, state, lambda: print(_server(shelf, state)))
    return 0


@command("server status", "versions, sizes and the projects of a tenant", *STORE, JSON, _TENANT)
def _status(arguments: argparse.Namespace) -> int:
    with connected(arguments) as shelf:
        state = shelf.server()
        projects = shelf.projects(tenant=arguments.tenant, limit=_SHOWN) if state.schema else []

        def tell() -> None:
            print(_server(shelf, state))
            rows = [
                (one.id, str(one.version), f"{one.characters:,}", f"{one.bytes:,}", f"{one.touched:%Y-%m-%d %H:%M}")
                for one in projects
            ]
            if rows:
                show(rich_table(("project", "version", "characters", "bytes", "written"), rows))
            if len(projects) == _SHOWN:
                note(f"armarius: the first {_SHOWN} projects")

        _tell(arguments, {**plain(state), "projects": plain(projects)}, tell)
    return 0


@command(
    "server push", "make a project what a folder is, in one write", *STORE, JSON, _TENANT, _FOLDER, _NAME,
    option("--expect", "refuse if somebody has written since", type=int, metavar="VERSION"),
)  # fmt: skip
def _push(arguments: argparse.Namespace) -> int:
    from armarius.workspace.server import push

    with connected(arguments) as shelf:
        novel = _named(arguments, shelf)
        done = push(novel, arguments.folder, expect=arguments.expect)
        what = f"{len(done.written)} of {done.files} files written, {len(done.removed)} removed"
        _tell(arguments, done, lambda: print(f"{novel.project_id}: {what}; version {done.version}"))
    return 0


@command(
    "server pull", "write a project into a folder", *STORE, JSON, _TENANT, _FOLDER, _NAME,
    flag("--overwrite", "replace files that say something else"),
)  # fmt: skip
def _pull(arguments: argparse.Namespace) -> int:
    with connected(arguments) as shelf:
        novel = _named(arguments, shelf)
        done = shelf.export(novel.project_id, arguments.folder, tenant=arguments.tenant, overwrite=arguments.overwrite)
        what = f"{len(done.written)} of {done.files} files written"
        extra = f"; {len(done.extra)} of the folder are not in it" if done.extra else ""
        _tell(arguments, done, lambda: print(f"{novel.project_id}: {what}{extra}"))
    return 0


@command(
    "server doctor", "check server, tables and projects; status 1 when something is wrong", *STORE, JSON, _TENANT, _NAME
)
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
