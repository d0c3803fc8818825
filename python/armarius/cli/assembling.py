"""`armarius assemble`, `armarius inspect` and `armarius ask`."""

import argparse
from datetime import datetime
from pathlib import Path

from armarius.assembly.report.html import Highlight, page
from armarius.assembly.report.pack import Pack
from armarius.assembly.report.terminal import overview
from armarius.cli.bounds import add_also, add_bounds, bounds_of
from armarius.cli.editing import add_editing, editing_of
from armarius.cli.talking import add_include, add_messages, messages_of
from armarius.cli.terminal import add_project, add_series, note, plain, show, show_json, words
from armarius.contract import AssembleRequest
from armarius.engine import ContextEngine
from armarius.engine import open as open_engine
from armarius.errors import ContractError
from armarius.files import write_atomic
from armarius.messages import asked_last
from armarius.rewording import Reworder

__all__ = ["add_commands"]

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
        from armarius.cli.piping import command_model

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
