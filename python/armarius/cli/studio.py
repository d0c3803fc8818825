"""`armarius studio`: the project in a browser."""

import argparse

from armarius.cli.terminal import add_project, add_series, note
from armarius.engine import open as open_engine
from armarius.studio.serving import serve

__all__ = ["add_commands"]


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    command = subparsers.add_parser(
        "studio",
        help="look at prompts, chapters and people in a browser, live",
        description="Prints an address of this machine and opens it. Whoever has the address may read and change the "
        "project. Needs armarius[studio].",
    )
    add_project(command, alone=True)
    add_series(command)
    command.add_argument("--port", type=int, default=0, metavar="N", help="the port (default: a free one)")
    command.add_argument("--no-browser", action="store_true", help="print the address only")
    command.set_defaults(run=_studio)


def _studio(arguments: argparse.Namespace) -> int:
    with open_engine(arguments.path, with_=arguments.series) as engine:
        note("armarius: studio; Ctrl-C ends it")
        serve(engine, port=arguments.port, browser=not arguments.no_browser, say=lambda text: print(text, flush=True))
    return 0
