"""`armarius retrieve` and `armarius evidence`: passages for a question, statements about an entity.

`armarius evaluate`: whether prompts contain the answers to the user's own questions.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from armarius.cli.options import add_also, add_bounds, add_messages, bounds_of, messages_of
from armarius.cli.terminal import add_field, add_project, add_series, note, plain, question, show, show_json, words
from armarius.engine import open as open_engine
from armarius.errors import ContractError
from armarius.evaluation import BUDGETS, Evaluation, evaluate, read_questions
from armarius.io.read import read_file
from armarius.search.hits import Retrieval
from armarius.types import Hit


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    retrieve = subparsers.add_parser("retrieve", help="the documents and sections that answer a question")
    add_project(retrieve)
    add_field(retrieve, "query", "query", help="the question; - reads it from standard input")
    add_field(
        retrieve, "limit", "--limit", verb="documents:retrieve", type=int, default=5, metavar="N",
        help="at most so many (default: 5)",
    )  # fmt: skip
    add_field(retrieve, "document", "--document", default="", metavar="PATH")
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
    add_field(evidence, "name", "name", verb="entities:evidence")
    add_field(evidence, "attribute", "--attribute", verb="entities:evidence", metavar="NAME")
    add_bounds(evidence)
    add_series(evidence)
    evidence.add_argument("--json", action="store_true")
    evidence.set_defaults(run=_evidence)
    _add_evaluate(subparsers)


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
        place += f" ({one.level})" if one.level else ""
        lines += [Text(place, style="bold"), Padding(Text(one.text.strip()), (0, 0, 0, 2))]
        if one.competes_with:
            about = f" ({', '.join(one.attributes)})" if one.attributes else ""
            lines.append(Padding(Text(f"says otherwise{about}: {', '.join(one.competes_with)}"), (0, 0, 0, 2)))
    show(Group(*lines) if lines else Text("nothing is said"))
    return 0


def _wire(found: Retrieval) -> dict[str, object]:
    return {
        "outcome": found.outcome,
        "confidence": found.confidence,
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
        hits.add_row(f"{hit.score:.3f}", Text(_where(hit)), Text(hit.reason))
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
    yield "task", asked.recipe.task
    yield "about", ", ".join(asked.attributes)
    yield "words", asked.content
    for remark in asked.remarks:
        yield "but", remark


def _where(hit: Hit) -> str:
    return f"{hit.reference} ({hit.level})" if hit.level else hit.reference


_MOST_BYTES = 64 * 1024 * 1024


def _add_evaluate(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
