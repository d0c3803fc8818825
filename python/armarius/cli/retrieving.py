"""`armarius find`, `read`, `retrieve` and `evidence`: passages for a question, statements about an entity.

`armarius evaluate`: whether prompts contain the answers to the user's own questions.

`armarius detect`: the entities that a text names, and the matches that were rejected. `armarius entities`: those of a
project, and the headings that were taken for none. `armarius propose`: names that a story uses and nobody described.

armarius propose novel/                                # a table; nothing is written
armarius propose novel/ --write novel/settings/new.md  # profiles to edit, in a new file
"""

import argparse
import os
from collections.abc import Iterator, Sequence
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
from armarius.codex import Entity
from armarius.codex.proposals import ProposedName
from armarius.engine import open as open_engine
from armarius.engine.engine import ContextEngine
from armarius.errors import ContractError
from armarius.evaluation import BUDGETS, evaluate, read_questions
from armarius.headings import count_noun, rich_table
from armarius.io import project_folder, read_file, stat_of, write_atomic
from armarius.search.hits import Retrieval
from armarius.text.matcher import EntityMatcher, Mention
from armarius.verbs.wire import listed_entity

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
        show(_explain_result(result))
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


def _explain_result(result: Retrieval) -> RenderableType:
    understood = rich_table(("", ""), [(Text(name, "dim"), value) for name, value in _analysis_rows(result) if value])
    rows = [
        (f"{hit.score:.3f}", f"{hit.reference} ({hit.level})" if hit.level else hit.reference, hit.reason)
        for hit in result
    ]
    hits = rich_table(("score", "document", "why"), rows, right=("score",))
    withheld = [Text(f"withheld: {gone.source} ({gone.reason}: {gone.detail})", style="dim") for gone in result.omitted]
    return Group(understood, Text(), hits, *withheld)


def _analysis_rows(result: Retrieval) -> Iterator[tuple[str, str]]:
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


_NONE = "armarius: this project describes no entities"


@command(
    "detect", "which entities of the project a text names",
    PROJECT, SERIES, option("--text", "the text; - reads it from standard input", required=True),
    flag("--cards", "print the cards that a prompt would carry"),
    flag("--json", "matches and mentions, positions in code points"),
    description="One row per entity, in the order of the text; then the names that were not counted, and why.",
    example="novel/ --text '小雨推开门走了进来' --cards",
)  # fmt: skip
def _detect(arguments: argparse.Namespace) -> int:
    text = words(arguments.text, "--text")
    if not text.strip():
        raise ContractError("--text is empty")
    with open_engine(arguments.path, with_=arguments.series) as engine:
        entities = {entity.id: entity for entity in engine.codex.list()}
        matcher = engine.matcher
        cards = [engine.card(match.entity_id) for match in matcher.detect(text)] if arguments.cards else []
    if arguments.json:
        show_json(_matches(matcher, text, entities))
    elif arguments.cards:
        print("\n\n".join(cards))
    else:
        _table(matcher, text, entities)
    if not entities:
        note(_NONE)
    return 0


def _matches(matcher: EntityMatcher, text: str, entities: dict[str, Entity]) -> dict[str, list[dict[str, object]]]:
    named = [(match, entities[match.entity_id]) for match in matcher.detect(text)]
    return {
        "matches": [{**plain(match), "name": of.name, "aiContextLevel": of.level} for match, of in named],
        "mentions": [{**plain(mention), "derived": _origin_of(matcher, mention)} for mention in matcher.find_all(text)],
        "rejected": [
            {name: value for name, value in plain(item).items() if name != "end"} for item in matcher.explain(text)
        ],
    }


def _table(matcher: EntityMatcher, text: str, entities: dict[str, Entity]) -> None:
    mentions, rows = matcher.find_all(text), []
    for match in matcher.detect(text):
        entity = entities[match.entity_id]
        times = sum(mention.entity_id == entity.id for mention in mentions)
        place = (match.matched_term, str(match.position), str(times))
        rows.append((entity.name, entity.id, entity.type, *place, entity.level))
    columns = ("entity", "id", "type", "written", "at", "times", "level")
    show(rich_table(columns, rows, right=("at", "times")) if rows else Text("no entity is named"))
    terms = {(mention.entity_id, mention.term): mention for mention in mentions}
    notes = [f"{mention.term}: {why}" for mention in terms.values() if (why := _origin_of(matcher, mention))]
    for item in matcher.explain(text):
        why = f"inside {item.by}" if item.reason == "shadowed" else item.reason
        notes.append(f"not {entities[item.entity_id].name}: {item.term} at {item.start}, {why}")
    for line in notes:
        show(Text(line, style="dim"))


def _origin_of(matcher: EntityMatcher, mention: Mention) -> str | None:
    short = matcher.derived(mention.entity_id, mention.term)
    return None if short is None else f"derived: {short.kind} of {short.of}"


@command(
    "entities", "the people, places and things of the project", PROJECT, SERIES, JSON,
    description="One row per entity, by mentions; then the headings that were taken for no entity, and why.",
    example="novel/",
)  # fmt: skip
def _entities(arguments: argparse.Namespace) -> int:
    with open_engine(arguments.path, with_=arguments.series, watch=False) as engine:
        entities = engine.entities()
        times = entities.mentions
    if arguments.json:
        items = [listed_entity(entity, times.get(entity.id, 0)) for entity in entities]
        show_json({"entities": items, "rejected": [plain(item) for item in entities.rejected]})
        return 0
    ordered = sorted(entities, key=lambda entity: (-times.get(entity.id, 0), entity.id))
    if ordered:
        rows = [(*entities.cells(entity), f"{times.get(entity.id, 0):,}") for entity in ordered]
        show(rich_table((*entities.columns, "mentions"), rows))
    else:
        note(_NONE)
    if entities.rejected:
        show(Text("no entities:"))
        headings = [(item.name, f"{item.path}:{item.line}", item.reason) for item in entities.rejected]
        show(rich_table(("", "", ""), headings))
    return 0


@command(
    "propose", "names that the story uses and no profile describes",
    PROJECT, field("least", verb="entities:propose", type=int, default=10, metavar="N"),
    field("known", verb="entities:propose", action="store_true"),
    option("--write", "write profiles to edit into this new file of the project", metavar="PATH"), JSON,
    description="One row per name: what it probably is, how often, where first, likely aliases. Nothing is written "
    "without --write.",
    example="novel/ --write novel/settings/people.md",
)  # fmt: skip
def _propose(arguments: argparse.Namespace) -> int:
    least, marked = arguments.least, arguments.known
    if least < 2:
        raise ContractError(f"--least must be at least 2, got {least}")
    root = _absolute_path(project_folder(arguments.path))
    target = None if arguments.write is None else _target(root, arguments.write)
    with open_engine(arguments.path, watch=False) as engine:
        names = engine.propose(least=least, known=marked)
        places = [_place(engine, name) for name in names]
    new = [name for name in names if not name.known]
    if target is not None and new:
        write_atomic(target, as_profiles(new).encode(), below=root)
        note(f"wrote {count_noun(len(new), 'profile')} to {arguments.write}: keep what is right, delete the rest")
    if arguments.json:
        show_json({"names": [plain(name) for name in names]})
    elif target is None and names:
        columns = ("name", "kind", "count", "first", "aliases", "reason", *(("described",) if marked else ()))
        rows = map(_row, names, places)
        show(rich_table(columns, [row[: len(columns)] for row in rows]))
    if not (new if target is not None else names) and not arguments.json:
        which = "" if marked and target is None else " that nobody has described"
        note(f"armarius: no name{which} is written {least} times or more")
    return 0


def _row(name: ProposedName, place: str) -> tuple[str, ...]:
    described = "yes" if name.known else "no"
    return name.name, name.kind, str(name.count), place, ", ".join(name.aliases), name.reason, described


def _target(root: Path, path: str) -> Path:
    """A Markdown file inside the project that is not there yet; the path is that of the shell."""
    target = _absolute_path(path)
    if not path.endswith(".md") or not target.is_relative_to(root):
        raise ContractError(f"--write takes a new .md file inside the project, got {path!r}")
    if stat_of(target, below=root) is not None:
        raise ContractError(f"--write: {path} is there already; nothing is written over")
    return target


def _absolute_path(path: str | Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - not resolved: a link on the way is refused when it is written


def _place(engine: ContextEngine, name: ProposedName) -> str:
    """Where a name is first, with the chapter in a file of several."""
    document = engine.document(name.document)
    inside = (part.chapter for part in reversed(document.paragraphs) if part.start <= name.position)
    number = None if document.chapter is not None else next(inside, None)
    return name.document if number is None else f"{name.document}, chapter {number}"


_TITLES = {"person": "人物", "place": "地点", "thing": "其他"}
_ENGLISH = {"person": "Characters", "place": "Locations", "thing": "Other"}
_TYPES = {"person": ("人物", "character"), "place": ("地点", "location")}


def as_profiles(names: Sequence[ProposedName]) -> str:
    """Profiles as `armarius` reads them: a section for each kind, a heading for each name."""
    chinese = sum(not name.name.isascii() for name in names) * 2 >= len(names)
    titles, type_, alias, colon = (_TITLES, "类型", "别名", "：") if chinese else (_ENGLISH, "Type", "Aliases", ": ")
    lines = []
    for kind, title in titles.items():
        mine = [name for name in names if name.kind == kind]
        if mine:
            lines += [f"# {title}", ""]
        for name in mine:
            lines += [f"## {name.name}", ""]
            if kind in _TYPES:
                lines.append(f"- {type_}{colon}{_TYPES[kind][not chinese]}")
            if name.aliases:
                lines.append(f"- {alias}{colon}{', '.join(name.aliases)}")
            lines += [""] * bool(lines[-1])
    return "\n".join(lines)
