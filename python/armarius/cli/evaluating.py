"""`armarius evaluate`: whether prompts contain the answers to the user's own questions."""

import argparse
from pathlib import Path

from rich.table import Table
from rich.text import Text

from armarius.cli.terminal import add_project, add_series, note, show, show_json
from armarius.engine import open as open_engine
from armarius.errors import ContractError
from armarius.evaluation import BUDGETS, Evaluation, evaluate, read_questions
from armarius.io.read import read_file

_MOST_BYTES = 64 * 1024 * 1024


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    command = subparsers.add_parser(
        "evaluate",
        help="how much of what answers your questions is in their prompts",
        description="Assembles a prompt for each question of a JSON Lines file and looks for its quotes there. A line: "
        '{"query": "…", "quotes": ["verbatim words of the book that answer it"]}, with any field of a request.',
    )
    add_project(command)
    add_series(command)
    command.add_argument("questions", type=Path, help="the file; one JSON object a line")
    command.add_argument(
        "--budget", type=int, action="append", metavar="TOKENS", help="several times for several (4000, 8000, 16000)"
    )
    command.add_argument("--model", metavar="MODEL", help="decides how tokens are counted")
    command.add_argument("--misses", action="store_true", help="a row also for each quote that is missing, and why")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=_evaluate)


def _evaluate(arguments: argparse.Namespace) -> int:
    name = arguments.questions.name
    try:
        text = read_file(arguments.questions, limit=_MOST_BYTES, follow=True).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError(f"{name}: not UTF-8 at byte {error.start}") from None
    questions = read_questions(text, name=name)
    with open_engine(arguments.path, with_=arguments.series) as engine:
        measured = evaluate(engine, questions, budgets=arguments.budget or BUDGETS, model=arguments.model)
    for why in measured.left_out:
        note(f"! {name}, {why}: left out")
    if arguments.json:
        show_json(measured)
        return 0
    show(measured.__rich__())
    if arguments.misses:
        show(_misses(measured))
    elif measured.misses:
        note(f"armarius: {len(measured.misses)} quotes are missing; --misses lists them with the reason")
    return 0


def _misses(measured: Evaluation) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("budget", "question", "quote", "why"):
        table.add_column(heading, overflow="fold")
    for one in measured.misses:
        table.add_row(f"{one.budget:,}", Text(one.question), Text(one.quote), Text(one.why))
    return table
