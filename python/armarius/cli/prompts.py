"""`armarius assemble`, `armarius inspect` and `armarius ask`."""

import argparse
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from armarius.arguments import asked_last
from armarius.cli.codex import add_also, add_bounds, add_editing, bounds_of, editing_of
from armarius.cli.servers import add_include, add_messages, messages_of
from armarius.cli.terminal import add_project, add_series, note, plain, question, show, show_json, words
from armarius.engine import ContextEngine
from armarius.engine import open as open_engine
from armarius.errors import ContractError, RewordingError
from armarius.io import write_atomic
from armarius.prompt.report.display import Highlight, overview, page
from armarius.prompt.report.pack import Pack
from armarius.requests import AssembleRequest
from armarius.rewording import Reworder, RewordingRequest
from armarius.search.hits import Retrieval
from armarius.trust.user import end_program, find_program
from armarius.types import Evidence, Hit

_LONGEST_S = 3600.0


def add_assemble_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
    ask.add_argument("query", help="the question; - reads it from standard input")
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
    parser.add_argument("--query", metavar="TEXT", help="the user's words; - reads them from standard input")
    _place(parser)


def _place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--document", metavar="PATH", help="the current document, relative to the project")
    parser.add_argument("--cursor", type=int, metavar="N", help="offset into it (default: its end)")
    parser.add_argument("--input", metavar="TEXT", help="the selection or the text around the cursor")
    parser.add_argument("--budget", type=int, metavar="TOKENS", help="for prompt and answer together")
    parser.add_argument("--reserve-output", type=int, metavar="TOKENS", help="kept free for the answer")
    parser.add_argument("--model", metavar="MODEL", help="decides how tokens are counted, such as deepseek-chat")
    parser.add_argument("--provider", help="decides the rules of the prompt cache")
    parser.add_argument("--skill", help="the host's name for the task")
    add_bounds(parser)
    add_also(parser)
    add_messages(parser)
    add_include(parser)
    add_editing(parser)
    parser.add_argument(
        "--position-encoding",
        choices=("code-point", "utf-16", "utf-8"),
        help="the unit of --cursor and --selection",
    )
    add_series(parser)


def _assemble(arguments: argparse.Namespace) -> int:
    with _open(arguments) as engine:
        pack = engine.assemble(_asked(arguments))
    if arguments.json:
        show_json({**pack.to_wire(), "account": _account(pack)})
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
            show_json({**inspected.to_wire(), "account": _account(pack)})
            return 0
    if arguments.html is None:
        show(overview(pack, everything=arguments.all))
    return 0


def _account(pack: Pack) -> dict[str, object]:
    """What the wire form leaves out: counter, every item and every omission with its reason."""
    return {
        "counter": pack.counter,
        "counterExact": pack.counter_exact,
        "items": [plain(item) for item in pack.items],
        "omitted": [plain(gone) for gone in pack.omitted],
    }


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


_MOST_BYTES = 1 << 20


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
        output = process.stdout.read(_MOST_BYTES + 1) if process.stdout is not None else b""
        if len(output) > _MOST_BYTES:
            raise RewordingError(f"{name} wrote more than {_MOST_BYTES} bytes")
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


def add_retrieve_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add both commands."""
    retrieve = subparsers.add_parser("retrieve", help="the documents and sections that answer a question")
    add_project(retrieve)
    retrieve.add_argument("query", help="the question; - reads it from standard input")
    retrieve.add_argument("--limit", type=int, default=5, metavar="N", help="at most so many (default: 5)")
    retrieve.add_argument(
        "--document", default="", metavar="PATH", help="the current document; later chapters stay out"
    )
    retrieve.add_argument("--chapter", type=int, metavar="N", help="the current chapter, when there is no document")
    add_bounds(retrieve)
    add_series(retrieve)
    add_also(retrieve)
    add_messages(retrieve)
    retrieve.add_argument("--explain", action="store_true", help="what was understood, every reason, what was withheld")
    retrieve.add_argument("--json", action="store_true")
    retrieve.set_defaults(run=_retrieve)
    evidence = subparsers.add_parser("evidence", help="everything the project says about an entity, competing or not")
    add_project(evidence)
    evidence.add_argument("name", help="name, alias or id of an entity")
    evidence.add_argument("--attribute", metavar="NAME", help="年龄, 住处, eye colour, …")
    add_bounds(evidence)
    add_series(evidence)
    evidence.add_argument("--json", action="store_true")
    evidence.set_defaults(run=_evidence)


def _retrieve(arguments: argparse.Namespace) -> int:
    query = question(arguments.query, "the query")
    if arguments.limit < 0:
        raise ContractError(f"--limit must be >= 0, got {arguments.limit}")
    with open_engine(arguments.path, with_=arguments.series) as engine:
        document = words(arguments.document, "--document")
        found = engine.retrieve(
            query,
            limit=arguments.limit,
            document=document,
            chapter=arguments.chapter,
            messages=messages_of(arguments),
            **bounds_of(arguments),
        )
    if arguments.json:
        show_json(_wire(found))
    elif arguments.explain:
        show(_explained(found))
    else:
        for hit in found:
            print(hit.reference)
    if not found:
        note(f"armarius: {found.outcome}")
    for warning in found.warnings:
        note(f"! {warning}")
    return 0


def _evidence(arguments: argparse.Namespace) -> int:
    attribute = None if arguments.attribute is None else words(arguments.attribute, "--attribute")
    with open_engine(arguments.path, with_=arguments.series) as engine:
        statements = engine.evidence(words(arguments.name, "the name"), attribute=attribute, **bounds_of(arguments))
    if arguments.json:
        show_json(statements)
        return 0
    lines: list[RenderableType] = []
    for one in statements:
        place = f"{one.path}#{one.paragraph}" + (f" › {one.section}" if one.section else "")
        lines += [Text(place, style="bold"), Padding(Text(one.text.strip()), (0, 0, 0, 2))]
        if one.competes_with:
            about = f" ({', '.join(one.attributes)})" if one.attributes else ""
            lines.append(Padding(Text(f"says otherwise{about}: {', '.join(one.competes_with)}"), (0, 0, 0, 2)))
    show(Group(*lines) if lines else Text("nothing is said"))
    return 0


def _wire(found: Retrieval) -> dict[str, object]:
    return {
        "outcome": found.outcome,
        "hits": [{"reference": hit.reference, **plain(hit)} for hit in found],
        "understanding": found.understanding,
        "omitted": found.omitted,
        "also": found.also,
        "carried": found.carried,
        "warnings": [str(warning) for warning in found.warnings],
    }


def _explained(found: Retrieval) -> RenderableType:
    understood = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    understood.add_column(style="dim")
    understood.add_column(overflow="fold")
    for name, value in _understood(found):
        if value:
            understood.add_row(name, Text(value))
    hits = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    hits.add_column("score", justify="right")
    hits.add_column("document", overflow="fold")
    hits.add_column("why", overflow="fold")
    for hit in found:
        hits.add_row(f"{hit.score:.3f}", Text(hit.reference), Text(_why(hit)))
    withheld = [Text(f"withheld: {gone.source} ({gone.reason}: {gone.detail})", style="dim") for gone in found.omitted]
    return Group(understood, Text(), hits, *withheld)


def _understood(found: Retrieval) -> Iterator[tuple[str, str]]:
    """What was read out of the question: each thing with the words that it was read from."""
    asked = found.understanding
    yield "query", asked.query
    yield "carried", " | ".join(found.carried)
    yield "also", " | ".join(found.also)
    yield "names", ", ".join(f"{one.term} ({one.entity_id})" for one in asked.mentions)
    for one in asked.references:
        if one.numbers:
            name = "not chapters" if one.excluded else "chapters"
            yield name, f"{asked.query[one.start : one.end].strip()}: {', '.join(map(str, one.numbers))}"
    for word in asked.relations:
        yield "relation", f"{word.word}: {' of '.join(role.name for role in reversed(word.path)) or 'any kin'}"
    yield "phrases", ", ".join(f"“{phrase}”" for phrase in asked.phrases)
    yield "wanted", ", ".join(sorted(asked.intents))
    yield "about", ", ".join(asked.attributes)
    yield "words", asked.content
    for remark in asked.remarks:
        yield "but", remark


def _why(hit: Hit) -> str:
    return "; ".join(map(_reason, hit.evidence))


def _reason(evidence: Evidence) -> str:
    where = f" {evidence.path}" if evidence.path else ""
    return f"{evidence.kind} {evidence.detail}{where}"


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands of this file to the parser."""
    add_assemble_commands(subparsers)
    add_retrieve_commands(subparsers)
