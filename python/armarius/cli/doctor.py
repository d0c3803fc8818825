"""`armarius doctor`: what a folder holds, its problems, and next steps.

`armarius map`: what every file of a project is taken for, doubts first, and the line that mends it.

armarius map novel/                                    # lines for the doubts, then the tree
armarius map novel/ --set 'reviews/**=review'          # writes the line into armarius.toml, then the tree
"""

import argparse
import shlex
from collections.abc import Iterable

from armarius.cli.embedding import doctor_lines, embedding_problems
from armarius.cli.indexing import holds, opened, troubles
from armarius.cli.options import INDEX_DIR, JSON, PROJECT, SERIES, command, flag, repeated
from armarius.cli.terminal import plain, printable, show_json
from armarius.cli.trusting import TrustReport, trust_report
from armarius.codex.authored.in_place import EDITABLE
from armarius.codex.codex_json import IMPORTERS
from armarius.codex.identity import shared_names
from armarius.codex.load import AUTHORED_FILE
from armarius.codex.model import Entity
from armarius.config import load_config
from armarius.documents.classify import unread_files
from armarius.engine import open as open_engine
from armarius.errors import ConfigError, ContractError, GraphError
from armarius.graph.entity_cache import read_graph_options
from armarius.index.next_steps import books_lying_about, broken_files, found_lines, next_steps
from armarius.index.project_index import ProjectIndex
from armarius.io.folder import project_folder
from armarius.lorebooks.project_books import Books
from armarius.prompt.profile import ProfileStore, read_settings
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
    with opened(arguments) as index:
        return _examined(index, trust, str(arguments.path), as_json=arguments.json)


def _move_records(arguments: argparse.Namespace) -> None:
    """Write what records say otherwise than pages into the pages, where they can say it."""
    with open_engine(arguments.path, watch=False, index_dir=arguments.index_dir, with_=arguments.series) as engine:
        for entity in engine.codex.list():
            for one in entity.overruled:
                if one.origin.path == AUTHORED_FILE:
                    field = {one.field: one.value}
                    engine.codex.update(entity.id, **field if one.field in EDITABLE else {"attributes": field})


def _differing(entities: Iterable[Entity], here: str) -> tuple[list[str], list[str]]:
    """What records and pages say differently, and the next step."""
    wrong, movable = [], False
    for entity in entities:
        for one in entity.overruled:
            if AUTHORED_FILE in (one.origin.path, one.by.path):
                movable = movable or one.origin.path == AUTHORED_FILE
                where = f"{one.origin} says {shown(one.value)}, {one.by} says something else and is heard"
                wrong.append(f"{entity.name}: {one.field}: {where}")
    step = f"armarius doctor {shlex.quote(here)} --move   # writes what the records say into the pages"
    return wrong, [step] if movable else []


def _examined(index: ProjectIndex, trust: TrustReport, here: str, *, as_json: bool) -> int:
    wrong = index.ask(lambda store: store.verify())
    vectors = index.ask(doctor_lines)
    status = index.status()
    config = index.config
    rows = index.ask(lambda store: store.documents())
    books = [] if index.root is None else books_lying_about(index.root, config)
    shared = shared_names(index.snapshot.codex.entities)
    differing, steps = _differing(index.snapshot.codex.entities, here)
    steps += next_steps(rows, status, here, books, shared, index.map)
    wrong += differing
    known = {*IMPORTERS, *(row.path for row in rows)}
    why = {one.path: one.reason for one in status.skipped}
    unread = {} if index.root is None else unread_files(index.root, config, known, why)
    wrong += embedding_problems(index, config)
    read = [row.path for row in rows if row.kind != "code"]
    wrong += index.ask(lambda store: broken_files(one for path in read for one in store.documents_of([path])))
    broken = Books(index.root, index.books).look()[1]
    wrong += [str(LORE_INVALID(book=id_, why=why)) for id_, why in sorted(broken.items())]
    try:
        ProfileStore(index.authored, read_settings(config).profile).read()
    except ConfigError as error:
        wrong.append(str(error))
    try:
        graph = read_graph_options(config, index.root).store
        held = graph.snapshot() if graph is not None else None
        graphs = [] if held is None else [f"graph: {len(held.entities)} entities, {len(held.relations)} relations"]
    except (ConfigError, GraphError) as error:
        graphs = []
        wrong.append(f"graph: {error}" if isinstance(error, GraphError) else str(error))
    if not status.documents:
        wrong.append("there is no document in it: is this the project folder?")
    # Some of these have been met as a model or a graph that is not to be had, or as a warning.
    problems = [*wrong, *map(str, status.warnings)]
    wrong += [str(one) for one in trust.ignored if not any(str(one) in sentence for sentence in problems)]
    if as_json:
        found = {"wrong": wrong, "next": steps, "shared": [one.to_wire() for one in shared]}
        show_json({**plain(status), **found, "vectors": vectors, "trust": trust.to_wire(), "unread": unread})
    else:
        print(holds(status))
        print(*trust.lines(), *map(printable, found_lines(rows, index.map)), sep="\n")
        if unread:
            print("not read:", ", ".join(f"{printable(name)} {files:,}" for name, files in unread.items()))
        print(f"index: {status.path}")
        print(*vectors, *graphs, sep="\n")
        for sentence in wrong:
            print(f"! {sentence}")
        troubles(status, print)
    healthy = not wrong and not status.warnings
    if not as_json:
        for line in (["nothing is wrong"] if healthy else []) + [f"next: {printable(step)}" for step in steps]:
            print(line)
    return 0 if healthy else 1


@command(
    "map", "what every file is taken for, doubts first, and how to mend it", PROJECT, SERIES, INDEX_DIR,
    repeated("--set", "write this into [documents] of armarius.toml, whose comments stay; may be repeated",
             metavar="GLOB=KIND"),
    flag("--all", "a line for each file, with the evidence"), JSON,
    description="Lines of armarius.toml that settle what is doubtful, then the tree, then what is not read.",
    example="novel/ --set 'reviews/**=review'",
)  # fmt: skip
def _map(arguments: argparse.Namespace) -> int:
    given = [one.rpartition("=") for one in arguments.set]
    for pattern, sign, kind in given:
        if not (pattern and sign and kind):
            raise ContractError(f"--set takes GLOB=KIND, as in 'reviews/**=review', got {pattern + sign + kind!r}")
    options = {"index_dir": arguments.index_dir, "with_": arguments.series}
    with open_engine(arguments.path, watch=False, **options) as engine:
        for pattern, _, kind in given:
            engine.set_kind(pattern.strip(), kind.strip())
        found = engine.map()
    if arguments.json:
        show_json(found.to_wire())
    else:
        print("\n".join(map(printable, found.tree(every=arguments.all).split("\n"))))
    return 0
