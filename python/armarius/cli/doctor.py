"""`armarius doctor`: what a folder holds, its problems, and next steps.

`armarius map`: what every file of a project is taken for, doubts first, and the line that mends it.

armarius map novel/                                    # lines for the doubts, then the tree
armarius map novel/ --set 'reviews/**=review'          # writes the line into armarius.toml, then the tree

`armarius understand`: one question for a language model, and what its reply proposes.

armarius understand novel/ | pbcopy                    # paste it into any chat
armarius understand novel/ --reply answer.txt --apply
"""

import argparse
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import armarius._core as _core
import armarius.doors as doors
from armarius.arguments import KINDS
from armarius.cli.indexing import doctor_lines, embedding_problems, holds, open_index, print_warnings
from armarius.cli.options import (
    INDEX_DIR,
    JSON,
    PROJECT,
    SERIES,
    command,
    field,
    flag,
    note,
    option,
    plain,
    printable,
    repeatable,
    show,
    show_json,
    words,
)
from armarius.cli.trusting import TrustReport, trust_report
from armarius.codex.codex_json import IMPORTERS
from armarius.codex.in_place import EDITABLE
from armarius.codex.load import AUTHORED_FILE
from armarius.codex.model import Entity, SharedName, shared_names
from armarius.documents.classify import PROSE_SUFFIXES, unread_files
from armarius.documents.data import json_fault
from armarius.documents.decode import Undecodable, decode
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.markup import MARKUP
from armarius.documents.project_map import ProjectMap, doubts_of
from armarius.documents.segments import parts_of
from armarius.documents.titles import front_matter_faults
from armarius.engine import ContextEngine
from armarius.engine import open as open_engine
from armarius.errors import ArmariusError, ConfigError, ContractError, GraphError
from armarius.graph.entity_cache import read_graph_options
from armarius.headings import count_noun, rich_table
from armarius.index.freshness import IndexStatus
from armarius.index.project_index import ProjectIndex
from armarius.io import project_folder, read_file
from armarius.lorebooks.project_books import Books
from armarius.prompt.profile import ProfileStore, read_settings
from armarius.store.protocol import DocumentRow
from armarius.trust.settings import Config, load_config
from armarius.validation import shown
from armarius.warnings import LORE_INVALID


@command(
    "doctor", "what the folder is taken for, what is wrong, what to do next", PROJECT, SERIES, INDEX_DIR, JSON,
    flag("--move", "first write into the pages what records in .armarius say otherwise"),
    description="Checks index, files, codex and settings; status 1 when something is wrong.",
    example="novel/",
)  # fmt: skip
def _doctor(arguments: argparse.Namespace) -> int:
    root = project_folder(arguments.path)
    if arguments.move:
        _move_records(arguments)
    trust = trust_report(root, load_config(root))
    with open_index(arguments) as index:
        return _report_health(index, trust, str(arguments.path), as_json=arguments.json)


def _opened_engine(arguments: argparse.Namespace) -> ContextEngine:
    return open_engine(arguments.path, watch=False, index_dir=arguments.index_dir, with_=arguments.series)


def _move_records(arguments: argparse.Namespace) -> None:
    """Write what records say otherwise than pages into the pages, where they can say it."""
    with _opened_engine(arguments) as engine:
        for entity in engine.codex.list():
            for claim in entity.overruled:
                if claim.origin.path == AUTHORED_FILE:
                    field = {claim.field: claim.value}
                    engine.codex.update(entity.id, **field if claim.field in EDITABLE else {"attributes": field})


def _conflict_lines(entities: Iterable[Entity], here: str) -> tuple[list[str], list[str]]:
    """What records and pages say differently, and the next step."""
    wrong, movable = [], False
    for entity in entities:
        for claim in entity.overruled:
            if AUTHORED_FILE in (claim.origin.path, claim.by.path):
                movable = movable or claim.origin.path == AUTHORED_FILE
                where = f"{claim.origin} says {shown(claim.value)}, {claim.by} says something else and is heard"
                wrong.append(f"{entity.name}: {claim.field}: {where}")
    step = f"armarius doctor {shlex.quote(here)} --move   # writes what the records say into the pages"
    return wrong, [step] if movable else []


def _report_health(index: ProjectIndex, trust: TrustReport, here: str, *, as_json: bool) -> int:
    wrong = index.ask(lambda store: store.verify())
    vectors = index.ask(doctor_lines)
    status = index.status()
    config = index.config
    rows = index.ask(lambda store: store.documents())
    books = [] if index.root is None else unimported_books(index.root, config)
    shared = shared_names(index.snapshot.codex.entities)
    differing, steps = _conflict_lines(index.snapshot.codex.entities, here)
    steps += next_steps(rows, status, here, books, shared, index.map)
    wrong += differing
    paths = {*IMPORTERS, *(row.path for row in rows)}
    why = {item.path: item.reason for item in status.skipped}
    unread = {} if index.root is None else unread_files(index.root, config, paths, why)
    wrong += embedding_problems(index, config)
    read = [row.path for row in rows if row.kind != "code"]
    wrong += index.ask(lambda store: broken_files(document for path in read for document in store.documents_of([path])))
    broken = Books(index.root, index.books).look()[1]
    wrong += [str(LORE_INVALID(book=id_, why=why)) for id_, why in sorted(broken.items())]
    try:
        ProfileStore(index.authored, read_settings(config).profile).read()
    except ConfigError as error:
        wrong.append(str(error))
    try:
        graph = read_graph_options(config, index.root).store
        state = graph.snapshot() if graph is not None else None
        graphs = [] if state is None else [f"graph: {len(state.entities)} entities, {len(state.relations)} relations"]
    except (ConfigError, GraphError) as error:
        graphs = []
        wrong.append(f"graph: {error}" if isinstance(error, GraphError) else str(error))
    if not status.documents:
        wrong.append("there is no document in it: is this the project folder?")
    # Some of these have been met as a model or a graph that is not to be had, or as a warning.
    problems = [*wrong, *map(str, status.warnings)]
    wrong += [str(item) for item in trust.ignored if not any(str(item) in sentence for sentence in problems)]
    if as_json:
        report = {"wrong": wrong, "next": steps, "shared": [name.to_wire() for name in shared]}
        show_json({**plain(status), **report, "vectors": vectors, "trust": trust.to_wire(), "unread": unread})
    else:
        print(holds(status))
        print(*trust.lines(), *map(printable, kind_lines(rows, index.map)), sep="\n")
        if unread:
            print("not read:", ", ".join(f"{printable(name)} {files:,}" for name, files in unread.items()))
        print(f"index: {status.path}")
        print(*vectors, *graphs, sep="\n")
        for sentence in wrong:
            print(f"! {sentence}")
        print_warnings(status, print)
    healthy = not wrong and not status.warnings
    if not as_json:
        for line in (["no errors"] if healthy else []) + [f"next: {printable(step)}" for step in steps]:
            print(line)
    return 0 if healthy else 1


@command(
    "map", "what every file is taken for, doubts first, and how to mend it", PROJECT, SERIES, INDEX_DIR,
    repeatable("--set", "write this into [documents] of armarius.toml, whose comments stay; may be repeated",
             metavar="GLOB=KIND"),
    flag("--all", "a line for each file, with the evidence"), JSON,
    description="Lines of armarius.toml that settle what is doubtful, then the tree, then what is not read.",
    example="novel/ --set 'reviews/**=review'",
)  # fmt: skip
def _map(arguments: argparse.Namespace) -> int:
    settings = [setting.rpartition("=") for setting in arguments.set]
    for pattern, sign, kind in settings:
        if not (pattern and sign and kind):
            raise ContractError(f"--set takes GLOB=KIND, as in 'reviews/**=review', got {pattern + sign + kind!r}")
    with _opened_engine(arguments) as engine:
        for pattern, _, kind in settings:
            engine.set_kind(pattern.strip(), kind.strip())
        result = engine.map()
    if arguments.json:
        show_json(result.to_wire())
    else:
        print("\n".join(map(printable, result.tree(every=arguments.all).split("\n"))))
    return 0


def _file(path: str) -> str:
    try:
        return decode(read_file(Path(path), limit=_MOST_BYTES, follow=True)).text
    except (OSError, Undecodable) as error:
        raise ContractError(f"--reply: {shown(path)}: {error}") from None


@command(
    "summaries", "what a language model is asked for summaries of chapters: the question to paste, then its reply",
    PROJECT, SERIES, INDEX_DIR, field("limit", verb="summaries:requests", type=int, metavar="N"),
    option("--reply", "a file with the reply to the first question, which is kept; - reads it from standard input",
           metavar="FILE"), JSON,
    description="Prints the first question about chapters without a summary (--json: all); --reply keeps the answer.",
    example="novel/ --reply answer.txt",
)  # fmt: skip
def _summaries(arguments: argparse.Namespace) -> int:
    with _opened_engine(arguments) as engine:
        if arguments.json:
            from armarius.verbs import verb

            show_json(verb("summaries:requests").over(engine)({"limit": arguments.limit}))
            return 0
        request = next(engine.summaries.requests(limit=arguments.limit), None)
        if request is None or not arguments.reply:
            print("every chapter has a summary" if request is None else request.text)
            return 0
        for path, summary in request.parse_each(_reply(arguments.reply)).items():
            if isinstance(summary, ContractError):
                note(printable(summary.message))
            else:
                engine.summaries.set(path, summary.text, passages=summary.passages)
                print(printable(f"{path}: {summary.text}"))
    return 0


def _reply(name: str) -> str:
    return words("-", "--reply") if name == "-" else _file(name)


@command(
    "understand", "what a language model says the project is: the question to paste, then its reply",
    PROJECT, SERIES, INDEX_DIR,
    option("--reply", "a file with the reply; - reads it from standard input", metavar="FILE"),
    option("--hash", "of the question, as it was printed: refused when files have changed since", default="",
           metavar="HASH"),
    option("--model", "name of the model, written beside what is applied", default="", metavar="MODEL"),
    flag("--apply", "write what the reply proposes into [proposed.*] of armarius.toml"), JSON,
    description="Prints one question of at most 6,000 tokens for any chat; with --reply what the answer proposes.",
    example="novel/ --reply answer.txt --apply",
)  # fmt: skip
def _understand(arguments: argparse.Namespace) -> int:
    if arguments.apply and not arguments.reply:
        raise ContractError("--apply needs --reply")
    with _opened_engine(arguments) as engine:
        request = engine.understanding_request()
        if not arguments.reply:
            values = {"text": request.text, "tokens": request.tokens, "hash": request.hash}
            show_json(values) if arguments.json else print(request.text)
            note(f"with the reply: --hash {request.hash}")
            return 0
        reply = _reply(arguments.reply)
        proposals = request.parse(reply, model=arguments.model, hash=arguments.hash)
        if arguments.apply:
            proposals.apply()
    if arguments.json:
        show_json(proposals.to_wire())
        return 0
    show(rich_table(proposals.columns, [tuple(map(printable, proposals.cells(proposal))) for proposal in proposals]))
    for line in (*proposals.refused, *(f"unsure: {item}" for item in proposals.unsure)):
        note(printable(line))
    note("written into armarius.toml" if arguments.apply else "nothing is written without --apply")
    return 0


_SUFFIXES = (".json", ".png", ".charx", ".lorebook", ".risum")
_MOST_FILES = 40
_MOST_BYTES = 16 * 1024 * 1024  # of all that are opened


class UnimportedBook(NamedTuple):
    """A file of the folder that is a book of another program: path, what it is, entries."""

    path: str
    format: str
    entries: int


def unimported_books(root: Path, config: Config) -> list[UnimportedBook]:
    """Books among the first forty files that might be one, in path order; what is ignored or hidden is not looked at.

    Cost: a walk, and reading those files, 16 MiB at most.
    """
    books: list[UnimportedBook] = []
    walked, _, _ = _core.walk(str(root), list(config.exclude), [])
    likely = [file for file in walked if file.path.lower().endswith(_SUFFIXES)]
    room = _MOST_BYTES
    for file in sorted(likely, key=lambda file: file.path)[:_MOST_FILES]:
        if file.size > room:
            continue
        room -= file.size
        try:
            data = read_file(root / file.path, limit=file.size, below=root)
            book = doors.read_book(data, name=Path(file.path).name)
        except (ArmariusError, OSError, ValueError):  # a picture, a package file: nothing of ours
            continue
        is_json = file.path.lower().endswith(".json")  # a card in JSON is read where it lies
        if book.entries or (not is_json and book.extracted_entities().entities):
            books.append(UnimportedBook(file.path.replace("\\", "/"), book.format, len(book.entries)))
    return books


def broken_files(documents: Iterable[Document]) -> list[str]:
    """A sentence for each document whose front matter or JSON is broken: path, line, why; of several lines the first.

    Cost: a look at the head of each text, and a parse of each file of JSON.
    """
    messages = []
    for document in documents:
        suffix = parts_of(document.path).suffix.lower()
        fault = None
        if suffix == ".json":
            fault = json_fault(document.text)
        elif suffix in PROSE_SUFFIXES and suffix not in MARKUP:
            fault = min(front_matter_faults(document.text).items(), default=None)
        if fault is not None:
            messages.append(f"{document.path}: line {fault[0]}: {fault[1]}")
    return messages


_SHOWN = 6  # names in a line
_DOUBTS = 3
_MARKS = 4  # code points of a title besides its words
_ORDERED = re.compile("listed among the chapters|are dated|count on")


def kind_lines(rows: Sequence[DocumentRow], mapped: ProjectMap) -> list[str]:
    """A line for each kind of document, with the first names; for those set aside, a line of their own after it."""
    lines = []
    for kind, where in product(KINDS, ("", "in questions alone", "in no prompt")):
        own = [row for row in rows if row.kind == kind and mapped.aside(row.path) == where]
        if own:
            numbers = [row.chapter for row in own if row.chapter is not None]
            which = f" {min(numbers)} to {max(numbers)}" if kind == "chapter" and len(set(numbers)) > 1 else ""
            count = sum(file.chapters for row in own if (file := mapped.get(row.path)) is not None)
            which += f", {count_noun(count, 'chapter')}" if count else ""
            lines.append(f"{kind}{which}{f', {where}' if where else ''}: {_name_list([row.path for row in own])}")
    return lines


def next_steps(
    rows: Sequence[DocumentRow],
    status: IndexStatus,
    here: str,
    books: Sequence[UnimportedBook] = (),
    shared: Sequence[SharedName] = (),
    mapped: ProjectMap | None = None,
) -> list[str]:
    """Suggestions, the most useful first; each is a sentence with a command or a line of configuration.

    Args:
        rows: The rows of all documents.
        status: The status of the index.
        here: The project folder, as its user would write it in a command.
        books: Lorebooks and cards in the folder that are not imported.
        shared: Names that several entities have.
        mapped: What the files are.
    """
    folder, here = here, shlex.quote(here)
    mapped = ProjectMap() if mapped is None else mapped
    chapters = [row for row in rows if row.kind in STORY_KINDS and row.path not in mapped.hidden]
    steps = []
    if not rows and status.skipped:
        steps.append("save what was skipped as .docx, .epub, .md or .txt; the reasons stand above")
    elif not rows:
        steps.append("put .md or .txt files here, or start with `armarius new FOLDER`")
    elif not chapters and not _is_code(rows) and (guess := _stories(rows)):
        steps.append(
            f"no file is taken for a chapter; notes are found all the same; if {guess} holds the story: "
            f"`armarius map {here} --set {shlex.quote(f'{guess}=chapter')}`"
        )
    doubts = doubts_of(mapped)
    steps += [
        f"{doubt.pattern} is taken for {doubt.kind} ({doubt.reason}); if it is something else: "
        f"`armarius map {here} --set {shlex.quote(f'{doubt.pattern}=KIND')}`"
        for doubt in doubts[:_DOUBTS]
    ]
    if len(doubts) > _DOUBTS:
        steps.append(f"{len(doubts) - _DOUBTS} more are doubtful: `armarius map {here}` lists them")
    for book in books[:_SHOWN]:
        what = f"a book of {count_noun(book.entries, 'entry', 'entries')}" if book.entries else "a character card"
        path = shlex.quote(f"{folder}/{book.path}")
        steps.append(f"{book.path} is {what} ({book.format}): `armarius import {path} --into {here}`")
    places: dict[tuple[int, int], list[str]] = {}
    for row in chapters:
        file = mapped.get(row.path)
        places.setdefault((0 if file is None else file.volume or 0, row.chapter or 0), []).append(row.path)
    twice = [(place, paths) for place, paths in sorted(places.items()) if place[1] and len(paths) > 1]
    if twice:
        (_, number), paths = twice[0]
        steps.append(
            f"chapter {number} is there more than once ({_name_list(paths)}): mark all but one `status: draft` or `cut`"
        )
    empty = [row.path for row in chapters if row.length <= len(row.title) + _MARKS]
    if empty:
        steps.append(f"{_name_list(empty)}: no text is in it; the story goes on where the last text ends")
    order = [mapped.files[path] for path in mapped.story()]
    if len(order) > 2 and not any(
        file.number is not None or _ORDERED.search(" ".join(file.evidence)) for file in order
    ):
        steps.append(
            f"the {len(order)} chapters stand in the order of their names; `order: 1` in front matter says another"
        )
    numbers = {row.chapter for row in chapters if row.chapter is not None}
    gaps = sorted(set(range(min(numbers), max(numbers))) - numbers) if numbers else []
    if gaps and len(gaps) < len(numbers):
        steps.append(
            f"chapter {_name_list(list(map(str, gaps)))} is missing; if a file has another number, its heading decides"
        )
    if chapters and not status.entities:
        steps.append(
            f"nobody is described: `armarius propose {here} --write {shlex.quote(f'{folder}/settings/people.md')}` "
            "drafts profiles to edit"
        )
    steps += [f"{name}: call one otherwise, or leave it where both are meant" for name in shared[:_SHOWN]]
    if len(shared) > _SHOWN:
        steps.append(f"{len(shared) - _SHOWN} more names are of several: `armarius doctor {here} --json` lists them")
    extras = sorted({item.reason.split("'")[1] for item in status.skipped if "pip install '" in item.reason})
    steps += [f"`pip install '{extra}'` reads what was skipped for the lack of it" for extra in extras]
    if any("documents.max_bytes" in item.reason for item in status.skipped):
        steps.append("cut what is too large into files of a chapter, or raise armarius.toml, [documents] max_bytes")
    if _is_code(rows):
        steps.append(f"`armarius code-index {here}` makes callers and callees exact, where an indexer is installed")
    return steps


def _is_code(rows: Sequence[DocumentRow]) -> bool:
    """Whether it is a repository of code with some notes about it."""
    code = sum(row.kind == "code" for row in rows)
    return code > 0 and code >= sum(row.kind in ("note", *STORY_KINDS) for row in rows)


def _stories(rows: Sequence[DocumentRow]) -> str:
    """The pattern of the folder that holds most of what could be prose; "" when there is none."""
    lengths: Counter[str] = Counter()
    for row in rows:
        if row.kind == "note":
            lengths[str(PurePosixPath(row.path).parent)] += row.length
    if not lengths:
        return ""
    folder = min(lengths, key=lambda path: (-lengths[path], path))
    return "*.md" if folder == "." else f"{folder}/**"


def _name_list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
