"""`armarius assemble`, `armarius inspect` and `armarius ask`; query variants from a command (`command_model`)."""

import argparse
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import get_args

from armarius.arguments import asked_last
from armarius.cli.options import (
    add_also,
    add_bounds,
    add_editing,
    add_include,
    add_messages,
    bounds_of,
    editing_of,
    messages_of,
)
from armarius.cli.terminal import add_field, add_project, add_series, note, show, show_json, words
from armarius.engine import ContextEngine
from armarius.engine import open as open_engine
from armarius.errors import ContractError, RewordingError
from armarius.io import write_atomic
from armarius.prompt.report.display import Highlight, overview, page
from armarius.prompt.report.pack import Pack
from armarius.requests import AssembleRequest, PositionEncoding
from armarius.rewording import Reworder, RewordingRequest
from armarius.trust.user_config import end_program, find_program
from armarius.verbs.wire import account_wire

__all__ = ["add_commands", "command_model"]

_LONGEST_S = 3600.0


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    assemble = subparsers.add_parser(
        "assemble",
        help="print the prompt that the model would get",
        description="Print the prompt; a summary goes to standard error.",
    )
    _request(assemble)
    assemble.add_argument("--json", action="store_true", help="the whole result in its wire form")
    assemble.set_defaults(run=_assemble)
    inspect = subparsers.add_parser(
        "inspect",
        help="what would go in, what would stay out, and why",
        description="One row per item: layer, source, tokens, kept or omitted, why.",
    )
    _request(inspect)
    inspect.add_argument("--all", action="store_true", help="a row also for each entity that did not match")
    inspect.add_argument("--json", action="store_true", help="the layers with their content, in wire form")
    inspect.add_argument("--html", type=Path, metavar="FILE", help="write a self-contained report page instead")
    inspect.set_defaults(run=_inspect)
    ask = subparsers.add_parser(
        "ask",
        help="the prompt for a question, to be piped to a model",
        description="Print the prompt for a question and nothing else; warnings go to standard error.",
    )
    add_project(ask)
    add_field(ask, "query", "query", help="the question; - reads it from standard input")
    _place(ask)
    ask.add_argument(
        "--reword",
        metavar="COMMAND",
        help="a command that reads a request for other wordings and writes them, such as 'llm'; its time counts",
    )
    ask.add_argument(
        "--reword-timeout", type=float, default=60.0, metavar="SECONDS", help="that it may take (default: 60)"
    )
    ask.set_defaults(run=_ask)


def _request(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    add_field(parser, "query", "--query", metavar="TEXT", help="the user's words; - reads them from standard input")
    _place(parser)


def _place(parser: argparse.ArgumentParser) -> None:
    add_field(parser, "document", "--document", metavar="PATH")
    add_field(parser, "cursor", "--cursor", type=int, metavar="N")
    add_field(parser, "additional_input", "--input", metavar="TEXT")
    add_field(parser, "budget", "--budget", type=int, metavar="TOKENS")
    add_field(parser, "reserve_output", "--reserve-output", type=int, metavar="TOKENS")
    add_field(parser, "model", "--model", metavar="MODEL")
    add_field(parser, "provider", "--provider")
    add_field(parser, "skill", "--skill")
    add_bounds(parser)
    add_also(parser)
    add_messages(parser)
    add_include(parser)
    add_editing(parser)
    add_field(parser, "position_encoding", "--position-encoding", choices=get_args(PositionEncoding))
    add_series(parser)


def _assemble(arguments: argparse.Namespace) -> int:
    with _open(arguments) as engine:
        pack = engine.assemble(_asked(arguments))
    if arguments.json:
        show_json({**pack.to_wire(), "account": account_wire(pack)})
        return 0
    print(pack.prompt)
    _summary(pack)
    return 0


def _ask(arguments: argparse.Namespace) -> int:
    asked = _asked(arguments)
    if not asked_last(asked.query, asked.messages)[0].strip():
        raise ContractError("the question is empty")
    if not 0 < arguments.reword_timeout <= _LONGEST_S:
        raise ContractError(f"--reword-timeout must be from 0 to {_LONGEST_S:g}, got {arguments.reword_timeout:g}")
    reword = None
    if arguments.reword is not None:
        from armarius.cli.prompts import command_model

        model = command_model(arguments.reword, project=arguments.path, timeout_s=arguments.reword_timeout)
        reword = Reworder(model, timeout_s=arguments.reword_timeout + 5)  # the command is ended, and says so itself
    with _open(arguments) as engine:
        pack = engine.assemble(asked, reword=reword)
    print(pack.prompt)
    for warning in pack.warnings:
        note(f"! {warning}")
    return 0


def _inspect(arguments: argparse.Namespace) -> int:
    asked = _asked(arguments)
    with _open(arguments) as engine:
        pack = engine.assemble(asked)
        if arguments.html is not None:
            names = {entity.id: entity.name for entity in engine.entities()}
            found = engine.mentions(pack.prompt)
            highlights = [Highlight(one.start, one.end, names.get(one.entity_id, one.entity_id)) for one in found]
            write_atomic(
                arguments.html,
                page(pack, highlights=highlights, when=datetime.now().astimezone()).encode("utf-8"),
                make=False,
            )
            note(f"wrote {arguments.html}")
        if arguments.json:
            inspected = engine.inspect(asked, requested_by="cli")
            show_json({**inspected.to_wire(), "account": account_wire(pack)})
            return 0
    if arguments.html is None:
        show(overview(pack, everything=arguments.all))
    return 0


def _open(arguments: argparse.Namespace) -> ContextEngine:
    return open_engine(arguments.path, watch=False, with_=arguments.series)


def _asked(arguments: argparse.Namespace) -> AssembleRequest:
    return AssembleRequest(
        query=words(arguments.query, "--query"),
        document=words(arguments.document, "--document"),
        cursor=arguments.cursor,
        additional_input=words(arguments.input, "--input"),
        skill=arguments.skill,
        model=arguments.model,
        provider=arguments.provider,
        budget=arguments.budget,
        reserve_output=arguments.reserve_output,
        position_encoding=arguments.position_encoding,
        messages=messages_of(arguments),
        include_messages=arguments.include_messages,
        **editing_of(arguments),
        **bounds_of(arguments),
    )


def _summary(pack: Pack) -> None:
    note(repr(pack))
    for warning in pack.warnings:
        note(f"! {warning}")


_MOST_PIPED_BYTES = 1 << 20


def command_model(command: str, *, project: Path, timeout_s: float) -> Callable[[RewordingRequest], str]:
    """A model that is a command: the messages go to its standard input as one text, its output is the reply.

    Args:
        command: As in a shell, without a shell: words, quoted where they hold spaces.
        project: A folder from which a bare name is never run.
        timeout_s: Seconds that one run may take; on POSIX all that it has started ends with it.

    Raises:
        ContractError: No command, or no such program.
    """
    try:
        words = shlex.split(command, posix=sys.platform != "win32")
    except ValueError as error:
        raise ContractError(f"--reword: {error}") from None
    program = find_program(words[0], project=project) if words else None
    if program is None:
        raise ContractError(f"--reword: no program {words[0]!r}" if words else "--reword: the command is empty")
    return lambda messages: _run([program, *words[1:]], messages.text, timeout_s)


def _run(command: Sequence[str], text: str, timeout_s: float) -> str:
    name = Path(command[0]).name
    try:
        process = subprocess.Popen(  # noqa: S603 - a list, no shell; the user typed it
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=sys.platform != "win32",
        )
    except (OSError, ValueError) as error:
        raise RewordingError(f"{name} cannot be started: {getattr(error, 'strerror', None) or error}") from None
    overdue = threading.Event()

    def end() -> None:
        overdue.set()
        end_program(process)

    clock = threading.Timer(timeout_s, end)
    clock.daemon = True
    clock.start()
    threading.Thread(target=_feed, args=(process, text), daemon=True).start()
    try:
        output = process.stdout.read(_MOST_PIPED_BYTES + 1) if process.stdout is not None else b""
        if len(output) > _MOST_PIPED_BYTES:
            raise RewordingError(f"{name} wrote more than {_MOST_PIPED_BYTES} bytes")
        status = process.wait()
    finally:
        clock.cancel()
        end_program(process)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if overdue.is_set():
        raise RewordingError(f"{name} did not end within {timeout_s:g} s")
    if status:
        raise RewordingError(f"{name} ended with status {status}")
    return output.decode("utf-8", "replace")


def _feed(process: "subprocess.Popen[bytes]", text: str) -> None:
    """Write the text and close: a program that does not read all of it is left in peace."""
    if process.stdin is not None:
        with suppress(OSError, ValueError), process.stdin as stream:
            stream.write(text.encode("utf-8", "replace") + b"\n")
