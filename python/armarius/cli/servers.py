"""`armarius serve` and `armarius channel`: the engine for agents and hosts, over stdio; `armarius server`: PostgreSQL.

export ARMARIUS_DSN=postgresql://…         # or --store; never from armarius.toml, which came with a project
armarius server migrate                    # makes the tables, or brings them up; over a connection without a pooler
armarius server push novel/ --project novel-1
armarius server status
"""

import argparse
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from armarius.channel import Channel
from armarius.cli.options import (
    COMMANDS,
    JSON,
    SERIES,
    Command,
    command,
    flag,
    note,
    option,
    plain,
    repeatable,
    show,
    show_json,
)
from armarius.engine import ContextEngine
from armarius.engine import open as open_engine
from armarius.errors import ContractError
from armarius.headings import rich_table
from armarius.index.freshness import Progress
from armarius.validation import shown
from armarius.verbs import methods_of, methods_of_shelf

if TYPE_CHECKING:
    from armarius.store.postgres.schema import ServerState
    from armarius.workspace.folder import LocalShelf
    from armarius.workspace.server import Novel, Shelf


DSN_ENV = "ARMARIUS_DSN"
TOKEN_ENV = "ARMARIUS_TOKEN"  # noqa: S105 - its name
_LAST_PORT = 65_535
DEFAULT_SCHEMA = "armarius"
_SHOWN = 50


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
        _print_result(arguments, state, lambda: print(_server(shelf, state)))
    return 0


@command("server status", "versions, sizes and the projects of a tenant", *STORE, JSON, _TENANT)
def _status(arguments: argparse.Namespace) -> int:
    with connected(arguments) as shelf:
        state = shelf.server()
        projects = shelf.projects(tenant=arguments.tenant, limit=_SHOWN) if state.schema else []

        def print_status() -> None:
            print(_server(shelf, state))
            rows = [
                (row.id, str(row.version), f"{row.characters:,}", f"{row.bytes:,}", f"{row.touched:%Y-%m-%d %H:%M}")
                for row in projects
            ]
            if rows:
                show(rich_table(("project", "version", "characters", "bytes", "written"), rows))
            if len(projects) == _SHOWN:
                note(f"armarius: the first {_SHOWN} projects")

        _print_result(arguments, {**plain(state), "projects": plain(projects)}, print_status)
    return 0


@command(
    "server push", "make a project what a folder is, in one write", *STORE, JSON, _TENANT, _FOLDER, _NAME,
    option("--expect", "refuse if somebody has written since", type=int, metavar="VERSION"),
)  # fmt: skip
def _push(arguments: argparse.Namespace) -> int:
    from armarius.workspace.stored import push

    with connected(arguments) as shelf:
        novel = _project_named(arguments, shelf)
        done = push(novel.session, partial(novel.write, expect=arguments.expect), arguments.folder)
        what = f"{len(done.written)} of {done.files} files written, {len(done.removed)} removed"
        _print_result(arguments, done, lambda: print(f"{novel.project_id}: {what}; version {done.version}"))
    return 0


@command(
    "server pull", "write a project into a folder", *STORE, JSON, _TENANT, _FOLDER, _NAME,
    flag("--overwrite", "replace files that say something else"),
)  # fmt: skip
def _pull(arguments: argparse.Namespace) -> int:
    with connected(arguments) as shelf:
        novel = _project_named(arguments, shelf)
        done = shelf.export(novel.project_id, arguments.folder, tenant=arguments.tenant, overwrite=arguments.overwrite)
        what = f"{len(done.written)} of {done.files} files written"
        extra = f"; {len(done.extra)} of the folder are not in it" if done.extra else ""
        _print_result(arguments, done, lambda: print(f"{novel.project_id}: {what}{extra}"))
    return 0


@command(
    "server doctor", "check server, tables and projects; status 1 when something is wrong", *STORE, JSON, _TENANT, _NAME
)
def _doctor(arguments: argparse.Namespace) -> int:
    from armarius.store.postgres.schema import SCHEMA_VERSION, too_old

    with connected(arguments) as shelf:
        state = shelf.server()
        wrong, remarks = [], []
        if older := too_old(state.server):
            wrong.append(older)
        if state.schema < SCHEMA_VERSION:
            what = f"tables of version {state.schema}" if state.schema else "no tables"
            wrong.append(f"{what}, this armarius needs {SCHEMA_VERSION}: armarius server migrate")
        elif state.vectors != "pgvector":
            remarks.append("pgvector was missing when the tables were made: vectors are compared in the worker")
        checked = 0
        if state.schema >= SCHEMA_VERSION:
            names = [arguments.project] if arguments.project else None
            for name in names or [project.id for project in shelf.projects(tenant=arguments.tenant, limit=_SHOWN)]:
                wrong += [f"{name}: {problem}" for problem in shelf.verify(name, tenant=arguments.tenant)]
                checked += 1

        def print_doctor() -> None:
            print(_server(shelf, state))
            print(f"{checked} projects checked")
            print(*remarks, *(f"! {problem}" for problem in wrong), sep="\n", end="\n" if remarks or wrong else "")

        _print_result(arguments, {**plain(state), "checked": checked, "wrong": wrong, "remarks": remarks}, print_doctor)
    return 1 if wrong else 0


def _project_named(arguments: argparse.Namespace, shelf: "Shelf") -> "Novel":
    name = arguments.project or arguments.folder.resolve().name
    return shelf.project(name, tenant=arguments.tenant)


def _server(shelf: "Shelf", state: "ServerState") -> str:
    tables = f"tables {state.schema}, vectors by {state.vectors}" if state.schema else "no tables"
    sizes = f"{state.projects:,} projects, {state.characters:,} characters, {state.bytes:,} bytes"
    return f"{shelf.place}: PostgreSQL {state.server}, {tables}; {sizes}"


def _print_result(arguments: argparse.Namespace, value: object, tell: Callable[[], None]) -> None:
    if arguments.json:
        show_json(value)
    else:
        tell()


_OPEN = 8  # projects of a workspace at most; each takes 10 to 30 MB
_CLOSING_S = 2.0  # for the index to be left sealed; it is found sound without


_PATH = option("path", "the project folder (default: this one, without a server)", type=Path, nargs="?")
_WORKSPACE = option(
    "--workspace", "serve every folder in DIR by its name; the projects asked last stay open", type=Path, metavar="DIR"
)
_SERVED = (_PATH, SERIES, *STORE, option("--tenant", "with --store: the tenant of the projects", default=""))


@command(
    "serve", "an MCP server on standard input and output, or over HTTP", *_SERVED, _WORKSPACE,
    option("--project", "with --store: which project (default: all; each tool takes `project`)", metavar="ID"),
    option("--http", f"serve by streamable HTTP, with the token of {TOKEN_ENV} or a new one; port 0 takes a free one",
           metavar="HOST:PORT"),
    repeatable("--allow-host", "with --http: another name by which clients reach it", metavar="NAME"),
    flag("--allow-write", "offer the tools that write to the project: remember, propose, update, pin, understand"),
    example="novel/",
)  # fmt: skip
def _serve(arguments: argparse.Namespace) -> int:
    from armarius.mcp import build_server, serve_http
    from armarius.workspace import shelf as shelf_of

    many = _means_many(arguments, arguments.workspace is not None)
    token = (os.environ.get(TOKEN_ENV) or secrets.token_urlsafe(32)) if arguments.http else ""
    with ExitStack() as stack:
        source: ContextEngine | LocalShelf | Shelf
        if _uses_server(arguments):
            _refuse_series(arguments)
            source = stack.enter_context(connected(arguments))
            if arguments.project:
                source = source.project(arguments.project, tenant=arguments.tenant)
        else:
            _refuse_server(arguments)
            if many:
                source = stack.enter_context(shelf_of(arguments.workspace, most=_OPEN, wait=False))
            else:  # opened at once: a client gives up a handshake that waits for a large index
                source = stack.enter_context(open_engine(arguments.path, wait=False, with_=arguments.series))
        server = build_server(source, tenant=arguments.tenant, allow_write=arguments.allow_write, token=token)
        if arguments.http:
            host, _, port = arguments.http.rpartition(":")
            if not host or not port.isdecimal() or int(port) > _LAST_PORT:
                raise ContractError(f"--http: expected HOST:PORT such as 127.0.0.1:8300, got {shown(arguments.http)}")
            header = "" if os.environ.get(TOKEN_ENV) else f"\nAuthorization: Bearer {token}"
            names = [*arguments.allow_host, host.strip("[]")]
            tell = partial(print, flush=True)
            serve_http(server, host.strip("[]"), int(port), names=names, say=lambda at: tell(at + header))
        else:
            stack.enter_context(_end_on_interrupt(source))
            server.run("stdio")
    return 0


@command(
    "channel", "JSON-RPC 2.0 on standard input and output", *_SERVED,
    _WORKSPACE,
    flag("--memory", "projects that the host writes (documents:write) and that are gone at the end"),
    flag("--allow-write", "let the host write texts of folders too: documents:write, :rename, :delete"),
    example="novel/",
)  # fmt: skip
def _channel(arguments: argparse.Namespace) -> int:
    many = _means_many(arguments, arguments.workspace is not None or arguments.memory)
    if _uses_server(arguments):
        _refuse_series(arguments)
        with connected(arguments) as shelf:
            Channel(methods_of_shelf(shelf, arguments.tenant)).serve(sys.stdin.buffer, sys.stdout.buffer)
        return 0
    _refuse_server(arguments)
    channel = Channel({}, root=None if arguments.memory else Path(arguments.path).resolve())

    def on_progress(project: str, progress: Progress) -> None:
        done = {"done": progress.done, "total": progress.total, "path": progress.path}
        named = {"projectId": project} if project else {}
        channel.notify("$/progress", {"token": "index", "value": {**done, **named}})

    if many:
        from armarius.workspace import shelf as shelf_of

        with shelf_of(arguments.workspace, most=_OPEN, wait=arguments.memory, progress=on_progress) as projects:
            channel.add(methods_of_shelf(projects, write=arguments.allow_write))
            channel.serve(sys.stdin.buffer, sys.stdout.buffer)
        return 0
    # Opened at once: the host hears of the build over the channel and may already ask.
    with open_engine(arguments.path, wait=False, progress=partial(on_progress, ""), with_=arguments.series) as engine:
        channel.add(methods_of(engine, write=arguments.allow_write))
        channel.serve(sys.stdin.buffer, sys.stdout.buffer)
    return 0


def _means_many(arguments: argparse.Namespace, many: bool) -> bool:
    """Whether the projects of a folder, or of memory, are meant; then no folder is named beside them."""
    if many:
        in_memory = getattr(arguments, "memory", False)
        if arguments.path is not None or (in_memory and arguments.workspace is not None):
            reason = "--memory has its projects from the host" if in_memory else "--workspace serves every folder in it"
            raise ContractError(f"{reason}; leave out the one folder")
        _refuse_series(arguments)
        arguments.path = arguments.workspace or Path()
    return many


def _uses_server(arguments: argparse.Namespace) -> bool:
    """Whether projects on a server are meant: without a folder, where a server is named or set in the environment."""
    named = arguments.store or arguments.tenant or getattr(arguments, "project", None) or os.environ.get(DSN_ENV)
    if arguments.path is None and not named:
        arguments.path = Path()
    return arguments.path is None


def _refuse_series(arguments: argparse.Namespace) -> None:
    if arguments.series:
        raise ContractError("--with needs a project folder; many projects have none")


def _refuse_server(arguments: argparse.Namespace) -> None:
    """A folder is served alone: with a server named too, answers would come from the wrong one."""
    for name, unsaid in (("store", None), ("schema", DEFAULT_SCHEMA), ("tenant", ""), ("project", None)):
        if getattr(arguments, name, unsaid) != unsaid:
            raise ContractError(
                f"--{name} is of projects on a server; leave out the folder {arguments.path}, or --{name}"
            )


@contextmanager
def _end_on_interrupt(source: "ContextEngine | LocalShelf | Shelf") -> Iterator[None]:
    """End on Ctrl-C, though a thread of the SDK sits in a read of standard input that nothing interrupts."""

    def end(number: int, _: FrameType | None) -> None:
        closing = threading.Thread(target=source.close, daemon=True)
        closing.start()
        closing.join(_CLOSING_S)
        os._exit(128 + number)

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
