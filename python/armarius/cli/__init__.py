"""`armarius`: what the model would be told, and why, from a terminal.

Bad input is one line on standard error and exit status 2; results are on standard output, so that they can be piped.
A room with commands has `add_commands(subparsers)`; each command sets `run`, from the parsed arguments to a status.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from armarius._core import __version__
from armarius.errors import ArmariusError, EmbeddingError

__all__ = ["build_parser", "main"]

BAD_INPUT = 2
_FAILED = 1
_INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    from armarius.cli import assembling, detecting, embedding, indexing, retrieving, serving, trusting
    from armarius.code import commands as code_graph

    parser = _Parser(prog="armarius", description="Exactly the context a language model needs, and why.")
    parser.add_argument("--version", action="version", version=f"armarius {__version__}")
    subparsers = parser.add_subparsers(metavar="command", required=True, parser_class=_Parser)
    for room in (assembling, detecting, retrieving, indexing, embedding, serving, code_graph, trusting):
        room.add_commands(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: The words after `armarius`; those of the process when not given.

    Returns:
        The exit status: 0 done, 1 failed, 2 bad input, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        arguments = build_parser().parse_args(argv)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0
    return _run(arguments.run, arguments)


def _run(command: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    try:
        status = command(arguments)
        sys.stdout.flush()
    except EmbeddingError as error:
        return _say(f"EMBEDDING_UNAVAILABLE: {str(error).removeprefix('EMBEDDING_UNAVAILABLE: ')}", BAD_INPUT)
    except ArmariusError as error:
        return _say(error, BAD_INPUT)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`| head`); nothing more can be written, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _say(f"{error.filename or 'input or output'}: {error.strerror or error}", BAD_INPUT)
    except Exception as error:
        if os.environ.get("ARMARIUS_DEBUG"):
            raise
        hint = "set ARMARIUS_DEBUG=1 for the traceback"
        return _say(f"this should not happen: {type(error).__name__}: {error} ({hint})", _FAILED)
    return status


def _say(what: object, status: int) -> int:
    print(f"armarius: {' '.join(str(what).split())}", file=sys.stderr)
    return status
