"""`armarius find`, `read`, `retrieve` and `evidence`: passages for a question, statements about an entity.

`armarius evaluate`: whether prompts contain the answers to the user's own questions.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from armarius.cli.options import (
    ALSO,
    BOUNDS,
    JSON,
    MESSAGES,
    PROJECT,
    SERIES,
    command,
    field,
    fields_of,
    flag,
    note,
    option,
    plain,
    question,
    show,
    show_json,
    span,
    words,
)
from armarius.engine import open as open_engine
from armarius.errors import ContractError
from armarius.evaluation import BUDGETS, evaluate, read_questions
from armarius.headings.display import rich_table
from armarius.io.read import read_file
from armarius.search.hits import Retrieval

_RETRIEVE = "documents:retrieve"
_FIND = "documents:find"
_READ = "documents:get"
_MOST_BYTES = 64 * 1024 * 1024

_RETRIEVED = (
    field("limit", help="at most so many (default: 5)", verb=_RETRIEVE, type=int, default=5, metavar="N"),
    field("document", default="", metavar="PATH"),
    option("--chapter", "the current chapter, when there is no document", type=int, metavar="N"),
    *BOUNDS, SERIES, ALSO, MESSAGES,
)  # fmt: skip
_ATTRIBUTE = field("attribute", verb="entities:evidence", metavar="NAME")


_FOUND = (field("cursor", verb=_FIND, type=int, default=0, metavar="N"), *BOUNDS, ALSO)


@command(
    "find", "where words stand, or what answers a question: some sentences each, best first", PROJECT,
    field("query", "query", "words in any order, or a question; - reads it from standard input", nargs="+"),
    *_FOUND, SERIES, JSON,
    example="novel/ '铜怀表 雨夜' --kind chapter",
)  # fmt: skip
def _find(arguments: argparse.Namespace) -> int:
    query = question(arguments.query, "the query")
    with open_engine(arguments.path, watch=False, with_=arguments.series) as engine:
        result = engine.find(query, **fields_of(arguments, _FOUND))
    if arguments.json:
        values = {"nextCursor": result.next_cursor, "missing": result.missing, "confidence": result.confidence}
        show_json({"items": result, **values, "warnings": [str(warning) for warning in result.warnings]})
    else:
        print(result)
        for warning in result.warnings:
            note(f"! {warning}")
    return 0


@command(
    "read", "lines of a document", PROJECT, field("document", "document", "its path in the project", verb=_READ),
    field("lines", verb=_READ, type=span, metavar="A-B"), SERIES, example="novel/ chapters/ch003.md --lines 5-12",
)  # fmt: skip
def _read(arguments: argparse.Namespace) -> int:
    with open_engine(arguments.path, watch=False, with_=arguments.series) as engine:
        document = engine.document(words(arguments.document, "the path"))
    print(document.text if arguments.lines is None else document.lines(*arguments.lines))
    return 0


@command(
    "retrieve", "the documents and sections that answer a question", PROJECT,
    field("query", "query", "the question; - reads it from standard input", nargs="+"), *_RETRIEVED,
    flag("--explain", "what was understood, every reason, what was withheld"), JSON,
    example="novel/ 'who keeps the lighthouse' --chapters 1-40 --explain",
)  # fmt: skip
def _retrieve(arguments: argparse.Namespace) -> int:
    query = question(arguments.query, "the query")
    if arguments.limit < 0:
        raise ContractError(f"--limit must be >= 0, got {arguments.limit}")
    with open_engine(arguments.path, with_=arguments.series) as engine:
        result = engine.retrieve(query, chapter=arguments.chapter, **fields_of(arguments, _RETRIEVED))
    if arguments.json:
        show_json(_wire(result))
    elif arguments.explain:
        show(_explained(result))
    else:
        for hit in result:
            print(hit.reference)
    if not result:
        note(f"armarius: {result.outcome}")
    for warning in result.warnings:
        note(f"! {warning}")
    return 0


@command(
    "evidence", "everything the project says about an entity, competing or not", PROJECT,
    field("name", "name", verb="entities:evidence", nargs="+"), _ATTRIBUTE, *BOUNDS, SERIES, JSON,
    example="novel/ 林小雨 --attribute 年龄",
)  # fmt: skip
def _evidence(arguments: argparse.Namespace) -> int:
    attribute = None if arguments.attribute is None else words(arguments.attribute, "--attribute")
    with open_engine(arguments.path, with_=arguments.series) as engine:
        statements = engine.evidence(
            words(arguments.name, "the name"), attribute=attribute, **fields_of(arguments, BOUNDS)
        )
    if arguments.json:
        show_json(statements)
        return 0
    lines: list[RenderableType] = []
    for statement in statements:
        place = f"{statement.path}#{statement.paragraph}" + (f" › {statement.section}" if statement.section else "")
        place += f" ({statement.level})" if statement.level else ""
        lines += [Text(place, style="bold"), Padding(Text(statement.text.strip()), (0, 0, 0, 2))]
        if statement.competes_with:
            about = f" ({', '.join(statement.attributes)})" if statement.attributes else ""
            lines.append(Padding(Text(f"says otherwise{about}: {', '.join(statement.competes_with)}"), (0, 0, 0, 2)))
    show(Group(*lines) if lines else Text("nothing is said"))
    return 0


def _wire(result: Retrieval) -> dict[str, object]:
    return {
        "outcome": result.outcome,
        "confidence": result.confidence,
        "hits": [{"reference": hit.reference, **plain(hit)} for hit in result],
        **{name: getattr(result, name) for name in ("understanding", "omitted", "also", "carried")},
        "warnings": [str(warning) for warning in result.warnings],
    }


def _explained(result: Retrieval) -> RenderableType:
    understood = rich_table(("", ""), [(Text(name, "dim"), value) for name, value in _understood(result) if value])
    rows = [
        (f"{hit.score:.3f}", f"{hit.reference} ({hit.level})" if hit.level else hit.reference, hit.reason)
        for hit in result
    ]
    hits = rich_table(("score", "document", "why"), rows, right=("score",))
    withheld = [Text(f"withheld: {gone.source} ({gone.reason}: {gone.detail})", style="dim") for gone in result.omitted]
    return Group(understood, Text(), hits, *withheld)


def _understood(result: Retrieval) -> Iterator[tuple[str, str]]:
    """What was read out of the question: each thing with the words that it was read from."""
    analysis = result.understanding
    yield "query", analysis.query
    yield "carried", " | ".join(result.carried)
    yield "also", " | ".join(result.also)
    yield "names", ", ".join(f"{mention.term} ({mention.entity_id})" for mention in analysis.mentions)
    for ref in analysis.references:
        if ref.numbers:
            name = "not chapters" if ref.excluded else "chapters"
            yield name, f"{analysis.query[ref.start : ref.end].strip()}: {', '.join(map(str, ref.numbers))}"
    for word in analysis.relations:
        yield "relation", f"{word.word}: {' of '.join(role.name for role in reversed(word.path)) or 'any kin'}"
    yield "phrases", ", ".join(f"“{phrase}”" for phrase in analysis.phrases)
    yield "task", analysis.recipe.task
    yield "about", ", ".join(analysis.attributes)
    yield "words", analysis.content
    for remark in analysis.remarks:
        yield "but", remark


@command(
    "evaluate", "how much of what answers your questions is in their prompts", PROJECT, SERIES,
    option("questions", "the file; one JSON object a line", type=Path),
    option("--budget", "several times for several (4000, 8000, 16000)", type=int, action="append", metavar="TOKENS"),
    option("--model", "decides how tokens are counted", metavar="MODEL"),
    flag("--misses", "a row also for each quote that is missing, and why"), JSON,
    description="Assembles a prompt for each question of a JSON Lines file and looks for its quotes there. A line: "
    '{"query": "…", "quotes": ["verbatim words of the book that answer it"]}, with any field of a request.',
    example="novel/ questions.jsonl --budget 8000 --misses",
)  # fmt: skip
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
        rows = [(f"{miss.budget:,}", miss.question, miss.quote, miss.why) for miss in measured.misses]
        show(rich_table(("budget", "question", "quote", "why"), rows))
    elif measured.misses:
        note(f"armarius: {len(measured.misses)} quotes are missing; --misses lists them with the reason")
    return 0
