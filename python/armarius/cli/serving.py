"""`armarius serve` and `armarius channel`: the engine for agents and for hosts in other languages, over stdio."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

from armarius.channel import Channel
from armarius.cli.options import SERIES, command, flag, option
from armarius.cli.servers import DEFAULT_SCHEMA, DSN_ENV, STORE, connected
from armarius.engine import ContextEngine
from armarius.engine import open as open_engine
from armarius.errors import ContractError
from armarius.index.status import Progress
from armarius.verbs import methods_of, methods_of_shelf

_OPEN = 8  # projects of a workspace at most; each takes 10 to 30 MB
_CLOSING_S = 2.0  # for the index to be left sealed; it is found sound without


_PATH = option("path", "the project folder (default: this one, without a server)", type=Path, nargs="?")
_SERVED = (_PATH, SERIES, *STORE, option("--tenant", "with --store: the tenant of the projects", default=""))


@command(
    "serve", "an MCP server on standard input and output", *_SERVED,
    option("--project", "with --store: which project", metavar="ID"),
    flag("--allow-write", "offer the tools that write to the project: remember, propose, update, pin"),
    example="novel/",
)  # fmt: skip
def _serve(arguments: argparse.Namespace) -> int:
    from armarius.mcp import build_server

    if _on_server(arguments):
        _refuse_series(arguments)
        if not arguments.project:
            raise ContractError("which project? give a folder, or --store and --project")
        with connected(arguments) as shelf:
            novel = shelf.project(arguments.project, tenant=arguments.tenant)
            build_server(novel, allow_write=arguments.allow_write).run("stdio")
        return 0
    _refuse_server(arguments)
    # Opened at once: a client gives up a handshake that waits for a large index.
    with open_engine(arguments.path, wait=False, with_=arguments.series) as engine, _interruptible(engine):
        build_server(engine, allow_write=arguments.allow_write).run("stdio")
    return 0


@command(
    "channel", "JSON-RPC 2.0 on standard input and output", *_SERVED,
    option("--workspace", "serve every folder in DIR; `projectId` is its name, and the projects asked last stay open",
           type=Path, metavar="DIR"),
    flag("--memory", "projects that the host writes (documents:write) and that are gone at the end"),
    flag("--allow-write", "let the host write texts of folders too: documents:write, :rename, :delete"),
    example="novel/",
)  # fmt: skip
def _channel(arguments: argparse.Namespace) -> int:
    many = arguments.workspace is not None or arguments.memory
    if many:
        if arguments.path is not None or (arguments.memory and arguments.workspace is not None):
            said = (
                "--memory has its projects from the host"
                if arguments.memory
                else "--workspace serves every folder in it"
            )
            raise ContractError(f"{said}; leave out the one folder")
        _refuse_series(arguments)
        arguments.path = arguments.workspace or Path()
    if _on_server(arguments):
        _refuse_series(arguments)
        with connected(arguments) as shelf:
            Channel(methods_of_shelf(shelf, arguments.tenant)).serve(sys.stdin.buffer, sys.stdout.buffer)
        return 0
    _refuse_server(arguments)
    channel = Channel({}, root=None if arguments.memory else Path(arguments.path).resolve())

    def tell(project: str, progress: Progress) -> None:
        done = {"done": progress.done, "total": progress.total, "path": progress.path}
        named = {"projectId": project} if project else {}
        channel.notify("$/progress", {"token": "index", "value": {**done, **named}})

    if many:
        from armarius.workspace import shelf as shelf_of

        with shelf_of(arguments.workspace, most=_OPEN, wait=arguments.memory, progress=tell) as projects:
            channel.add(methods_of_shelf(projects, write=arguments.allow_write))
            channel.serve(sys.stdin.buffer, sys.stdout.buffer)
        return 0
    # Opened at once: the host hears of the build over the channel and may already ask.
    with open_engine(arguments.path, wait=False, progress=partial(tell, ""), with_=arguments.series) as engine:
        channel.add(methods_of(engine, write=arguments.allow_write))
        channel.serve(sys.stdin.buffer, sys.stdout.buffer)
    return 0


def _on_server(arguments: argparse.Namespace) -> bool:
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
def _interruptible(engine: ContextEngine) -> Iterator[None]:
    """End on Ctrl-C, though a thread of the SDK sits in a read of standard input that nothing interrupts."""

    def end(number: int, _: FrameType | None) -> None:
        closing = threading.Thread(target=engine.close, daemon=True)
        closing.start()
        closing.join(_CLOSING_S)
        os._exit(128 + number)

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
