"""`armarius serve` and `armarius channel`: the engine for agents and for hosts in other languages, over stdio."""

import argparse
import sys

import armarius
from armarius.cli.terminal import add_project
from armarius.indexstate import Progress
from armarius.integrations.channel import Channel
from armarius.integrations.methods import methods_of

__all__ = ["add_commands"]


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add both commands."""
    serve = subparsers.add_parser("serve", help="an MCP server on standard input and output")
    channel = subparsers.add_parser("channel", help="newline-delimited JSON on standard input and output")
    for parser, run in ((serve, _serve), (channel, _channel)):
        add_project(parser)
        parser.set_defaults(run=run)


def _serve(arguments: argparse.Namespace) -> int:
    from armarius.integrations.mcp import build_server

    with armarius.open(arguments.path) as engine:
        build_server(engine).run("stdio")
    return 0


def _channel(arguments: argparse.Namespace) -> int:
    channels: list[Channel] = []

    def tell(progress: Progress) -> None:
        for channel in channels:
            channel.notify("index:progress", {"done": progress.done, "total": progress.total, "path": progress.path})

    # Opened at once: the host hears of the build over the channel and may already ask.
    with armarius.open(arguments.path, wait=False, progress=tell) as engine:
        channels.append(Channel(methods_of(engine), root=engine.root.resolve()))
        channels[0].serve(sys.stdin.buffer, sys.stdout.buffer)
    return 0
