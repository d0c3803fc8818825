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
    ALSO,
    BOUNDS,
    EDITING,
    MESSAGES,
    PROJECT,
    SERIES,
    command,
    field,
    fields_of,
    flag,
    note,
    option,
    show,
    show_json,
)
from armarius.engine import ContextEngine
from armarius.engine import open as open_engine
from armarius.errors import ContractError, RewordingError
from armarius.io import write_atomic
from armarius.prompt.report.display import Highlight, overview, page
from armarius.requests import AssembleRequest, PositionEncoding
from armarius.rewording import Reworder, RewordingRequest
from armarius.trust.folders import bounded_output, find_program
from armarius.verbs.wire import account_wire

_LONGEST_S = 3600.0
_PLACE = (
    field("document", metavar="PATH"),
    field("cursor", type=int, metavar="N"),
    field("additional_input", "--input", metavar="TEXT"),
    field("budget", type=int, metavar="TOKENS"),
    field("reserve_output", type=int, metavar="TOKENS"),
    field("model", metavar="MODEL"),
    field("provider"),
    field("skill"),
    *BOUNDS,
    ALSO,
    MESSAGES,
    field("include_messages", type=int, metavar="N"),
    *EDITING,
    field("position_encoding", choices=get_args(PositionEncoding)),
    SERIES,
)
_QUERY = field("query", help="the user's words; - reads them from standard input", metavar="TEXT")
_QUESTION = field("query", "query", "the question; - reads it from standard input", nargs="+")


@command(
    "assemble", "print the prompt that the model would get",
    PROJECT, _QUERY, *_PLACE, flag("--json", "the whole result in its wire form"),
    description="Print the prompt; a summary goes to standard error.",
    example="novel/ --query '检查第3章的角色一致性' --document chapters/ch003.md --budget 8000",
)  # fmt: skip
def _assemble(arguments: argparse.Namespace) -> int:
    with _open(arguments) as engine:
        pack = engine.assemble(_request_of(arguments))
    if arguments.json:
        show_json({**pack.to_wire(), "account": account_wire(pack)})
        return 0
    print(pack.prompt)
    note(repr(pack))
    for warning in pack.warnings:
        note(f"! {warning}")
    return 0


@command(
    "inspect", "what would go in, what would stay out, and why",
    PROJECT, _QUERY, *_PLACE, flag("--all", "a row also for each entity that did not match"),
    flag("--json", "the layers with their content, in wire form"),
    option("--html", "write a self-contained report page instead", type=Path, metavar="FILE"),
    description="One row per item: layer, source, tokens, kept or omitted, why.",
    example="novel/ --query 'who keeps the lighthouse' --budget 8000 --html report.html",
)  # fmt: skip
def _inspect(arguments: argparse.Namespace) -> int:
    request = _request_of(arguments)
    with _open(arguments) as engine:
        pack = engine.assemble(request)
        if arguments.html is not None:
            names = {entity.id: entity.name for entity in engine.entities()}
            mentions = engine.mentions(pack.prompt)
            highlights = [
                Highlight(item.start, item.end, names.get(item.entity_id, item.entity_id)) for item in mentions
            ]
            report = page(pack, highlights=highlights, when=datetime.now().astimezone())
            write_atomic(arguments.html, report.encode("utf-8"), make=False)
            note(f"wrote {arguments.html}")
        if arguments.json:
            inspected = engine.inspect(request, requested_by="cli")
            show_json({**inspected.to_wire(), "account": account_wire(pack)})
        elif arguments.html is None:
            show(overview(pack, everything=arguments.all))
    return 0


@command(
    "ask", "the prompt for a question, to be piped to a model",
    PROJECT, _QUESTION, *_PLACE,
    option("--reword", "a command that reads a request for other wordings and writes them, such as 'llm'; its time "
           "counts", metavar="COMMAND"),
    option("--reword-timeout", "that it may take (default: 60)", type=float, default=60.0, metavar="SECONDS"),
    description="Print the prompt for a question and nothing else; warnings go to standard error.",
    example="novel/ 'who keeps the lighthouse' --budget 8000 | llm",
)  # fmt: skip
def _ask(arguments: argparse.Namespace) -> int:
    request, patience = _request_of(arguments), arguments.reword_timeout
    if not asked_last(request.query, request.messages)[0].strip():
        raise ContractError("the question is empty")
    if not 0 < patience <= _LONGEST_S:
        raise ContractError(f"--reword-timeout must be from 0 to {_LONGEST_S:g}, got {patience:g}")
    reword = None
    if arguments.reword is not None:
        model = command_model(arguments.reword, project=arguments.path, timeout_s=patience)
        reword = Reworder(model, timeout_s=patience + 5)  # the command is ended, and says so itself
    with _open(arguments) as engine:
        pack = engine.assemble(request, reword=reword)
    print(pack.prompt)
    for warning in pack.warnings:
        note(f"! {warning}")
    return 0


def _open(arguments: argparse.Namespace) -> ContextEngine:
    return open_engine(arguments.path, watch=False, with_=arguments.series)


def _request_of(arguments: argparse.Namespace) -> AssembleRequest:
    return AssembleRequest(**fields_of(arguments, (_QUERY, *_PLACE)))


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
    threading.Thread(target=_feed, args=(process, text), daemon=True).start()
    status, output = bounded_output(process, timeout_s=timeout_s, max_bytes=_MOST_PIPED_BYTES)
    if len(output) > _MOST_PIPED_BYTES:
        raise RewordingError(f"{name} wrote more than {_MOST_PIPED_BYTES} bytes")
    if status is None:
        raise RewordingError(f"{name} did not end within {timeout_s:g} s")
    if status:
        raise RewordingError(f"{name} ended with status {status}")
    return output.decode("utf-8", "replace")


def _feed(process: "subprocess.Popen[bytes]", text: str) -> None:
    """Write the text and close: a program that does not read all of it is left in peace."""
    if process.stdin is not None:
        with suppress(OSError, ValueError), process.stdin as stream:
            stream.write(text.encode("utf-8", "replace") + b"\n")
