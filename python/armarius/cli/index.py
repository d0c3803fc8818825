"""`armarius doctor`: what a folder was found to be, what is wrong with it, and what to do next."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

import armarius.embedders as embedders
from armarius.arguments import Bounds, checked_wordings
from armarius.cli.codex import add_also, add_bounds, bounds_of
from armarius.cli.terminal import (
    add_index_dir,
    add_project,
    add_series,
    note,
    plain,
    printable,
    question,
    show,
    show_json,
)
from armarius.cli.trusting import TrustReport, trust_report
from armarius.config import BUILT_IN_MODELS, Config, load_config
from armarius.embedders.protocol import Embedder
from armarius.errors import (
    ConfigError,
    ContractError,
    DimensionMismatch,
    EmbeddingError,
    GraphError,
    MissingExtra,
    SettingRefused,
)
from armarius.graph.options import read_graph_options
from armarius.index.lying_about import books_lying_about
from armarius.index.next_steps import found_lines, next_steps
from armarius.index.progress import progress_bar
from armarius.index.project_index import ProjectIndex
from armarius.index.status import IndexStatus
from armarius.index.warm import warm_search
from armarius.io.folder import project_folder
from armarius.io.toml import quoted
from armarius.lorebooks.shelf import Books
from armarius.prompt.assembler import read_settings
from armarius.prompt.profile import ProfileStore
from armarius.store.fingerprint import require_same
from armarius.store.protocol import Store
from armarius.trust.settings import Permissions
from armarius.types import Hit
from armarius.vectors.queue import EmbeddingProgress
from armarius.vectors.recall import ProjectRecall
from armarius.warnings import EMBEDDING_UNAVAILABLE, LORE_INVALID

if TYPE_CHECKING:
    from rich.text import Text

    from armarius.store.rows import Passage


_LOOK_SECONDS = 0.2


def add_index_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    index = subparsers.add_parser("index", help="build the index, or make it equal to the folder")
    search = subparsers.add_parser("search", help="the passages that hold some words")
    watch = subparsers.add_parser("watch", help="keep the index equal to the folder until interrupted")
    for parser, run in ((index, _index), (search, _search), (watch, _watch)):
        add_project(parser, alone=parser is not search)
        add_series(parser)
        add_index_dir(parser)
        parser.set_defaults(run=run)
    search.add_argument("text", help="the words, as written; quoted phrases stay whole")
    search.add_argument("--limit", type=int, default=10, metavar="N", help="at most so many (default: 10)")
    search.add_argument("--any", action="store_true", help="what is about the same, not only what is written")
    add_bounds(search)
    add_also(search)
    for parser in (index, search):
        parser.add_argument("--json", action="store_true")


@contextmanager
def opened(arguments: argparse.Namespace, *, watch: bool = False) -> Iterator["ProjectIndex"]:
    """The index that a command works on."""
    from armarius.index.project_index import ProjectIndex

    with (
        progress_bar() as progress,
        ProjectIndex.open(
            arguments.path,
            index_dir=arguments.index_dir,
            watch=watch,
            progress=progress,
            with_=arguments.series,
        ) as index,
    ):
        yield index


def _index(arguments: argparse.Namespace) -> int:
    start = time.perf_counter()
    with opened(arguments) as index:
        status = index.status()
    seconds = time.perf_counter() - start
    if arguments.json:
        show_json(status)
    else:
        print(f"{holds(status)}; {seconds:.2f} s")
        troubles(status)
    return 0


def _search(arguments: argparse.Namespace) -> int:
    if arguments.limit < 1:
        raise ContractError(f"--limit must be >= 1, got {arguments.limit}")
    text = question(arguments.text, "the words")
    match: Literal["all", "any"] = "any" if arguments.any else "all"
    given = bounds_of(arguments)
    also = checked_wordings(given.pop("also"))
    bounds = Bounds.of(**given)
    asked: dict[str, Any] = {
        "limit": arguments.limit,
        "match": match,
        "kinds": bounds.kinds,
        "chapters": bounds.chapters,
        "also": also,
    }
    hits = None
    if bounds.as_of is None and not arguments.series:
        hits = warm_search(arguments.path, text, index_dir=arguments.index_dir, **asked)
    if hits is None:
        with opened(arguments) as index:
            hits = index.search(text, shown=_shown(index, bounds), **asked)
    if arguments.json:
        show_json(hits)
    elif hits:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for heading in ("passage", "under", "text"):
            table.add_column(heading, overflow="fold")
        for hit in hits:
            table.add_row(Text(hit.reference), Text(" › ".join(hit.heading)), _snippet(hit))
        show(table)
    else:
        note("armarius: nothing found")
    return 0


def _shown(index: "ProjectIndex", bounds: Bounds) -> Callable[["Passage"], str] | None:
    """What of a paragraph may be seen as of a chapter; None: all of it."""
    if bounds.as_of is None:
        return None
    from armarius.codex.cards import shown_of

    documents = index.ask(lambda store: store.changed(0)).documents
    return shown_of({one.path: index.marked(one) for one in documents}, bounds)


def _snippet(hit: Hit) -> "Text":
    """The piece of the paragraph around the first place, every place in bold."""
    from rich.text import Text

    shift = hit.text.find(hit.snippet)
    text = Text(hit.snippet)
    if shift >= 0:
        for start, end in hit.highlights:
            text.stylize("bold", max(0, start - shift), max(0, end - shift))
    return text


def _watch(arguments: argparse.Namespace) -> int:
    with opened(arguments, watch=True) as index:
        print(holds(index.status()), flush=True)
        generation = index.status().generation
        try:
            while True:
                time.sleep(_LOOK_SECONDS)
                status = index.status()
                if status.generation != generation:
                    generation = status.generation
                    print(holds(status), flush=True)
        except KeyboardInterrupt:
            return 0


def holds(status: IndexStatus) -> str:
    """What the index holds, in numbers."""
    return (
        f"{status.documents:,} documents, {status.paragraphs:,} paragraphs, {status.entities:,} entities, "
        f"{status.mentions:,} mentions, {status.bytes / 1e6:.1f} MB"
    )


def troubles(status: IndexStatus, say: Callable[[str], None] = note) -> None:
    """Say what was skipped, and every warning."""
    for skipped in status.skipped:
        say(f"! {skipped.path}: skipped, {skipped.reason}")
    for warning in status.warnings:
        say(f"! {warning}")


def add_embed_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    embed = subparsers.add_parser(
        "embed",
        help="make vectors for recall by meaning",
        description="Embeds what is not embedded yet. Ctrl-C stops after the batch at hand; the next call resumes.",
    )
    add_project(embed, alone=True)
    embed.add_argument("--model", metavar="FOLDER", type=Path, help="or e5 or lexical; default: [embedding] model")
    embed.add_argument("--reembed", action="store_true", help="replace the vectors of another model")
    embed.add_argument("--threads", type=int, metavar="N", help="of one forward pass (default: one per core)")
    add_index_dir(embed)
    embed.set_defaults(run=_embed)


def doctor_lines(store: Store, *, sample: bool = True) -> list[str]:
    """What an index knows about vectors, as sentences: model, dimension, how many, recall of the approximate index.

    Args:
        store: An open store.
        sample: Load the approximate index and compare it with exact search; a few seconds on 100,000 vectors.
    """
    vectors = store.vectors
    if vectors is None or not (sets := vectors.sets()):
        return ["vectors: none; `armarius embed` makes them, everything else works without"]
    lines = []
    for state, vector_set in sorted(sets.items(), reverse=True):
        counts = vectors.counts(vector_set.id)
        waiting = f", {counts.pending} waiting for `armarius embed`" if counts.pending else ""
        empty = f", {counts.empty} without letters" if counts.empty else ""
        verb = "answers" if state == "serving" else "is being made"
        lines.append(f"vectors: {vector_set.fingerprint} {verb}: {counts.embedded} embedded{waiting}{empty}")
    if sample:
        vectors.refresh(resample=True)
    status = vectors.index_status()
    if not status.approximate:
        lines.append(f"vector index: exact search over {status.vectors} vectors")
    elif status.recall is not None:
        recall = (
            f"recall@10 {status.recall.recall:.3f} in {status.recall.queries} samples, ef {status.recall.expansion}"
        )
        lines.append(f"vector index: {status.vectors} vectors, {status.bytes_on_disk / 1e6:.1f} MB, {recall}")
    return lines


def embedding_problems(index: ProjectIndex, config: Config) -> list[str]:
    """What keeps the embedder that `armarius.toml` names from answering, as sentences; loads the model."""
    try:
        embedder = embedders.configured(config, index.root)
        sets = index.ask(lambda store: {} if store.vectors is None else store.vectors.sets())
        if embedder is not None and "serving" in sets:
            require_same(sets["serving"].fingerprint, embedder.fingerprint)
    except (EmbeddingError, MissingExtra) as error:
        return [str(EMBEDDING_UNAVAILABLE(why=error.message))]
    except ConfigError as error:
        return [str(error)]
    return []


def _embedder(project: Path, model: Path | None, threads: int | None) -> Embedder:
    try:
        if model is not None:
            return _named(model, threads)
        config = load_config(project) if project.is_dir() else Config()
        if (found := embedders.configured(config, project)) is not None:
            return found
        raise EmbeddingError(_no_model(project))
    except MissingExtra as error:
        raise EmbeddingError(error.message) from error


def _embed(arguments: argparse.Namespace) -> int:
    embedder = _embedder(arguments.path, arguments.model, arguments.threads)
    with (
        ProjectIndex.open(arguments.path, index_dir=arguments.index_dir) as index,
        ProjectRecall(index, embedder) as recall,
    ):
        try:
            if arguments.reembed:
                recall.reembed()
            with _bar() as show:
                done = recall.embed(progress=show)
        except DimensionMismatch:
            note("armarius: --reembed replaces them; the old vectors answer until the new ones are complete")
            raise
        except KeyboardInterrupt:
            recall.cancel()
            progress = recall.status().progress
            note(f"armarius: stopped at {progress.done} of {progress.total}; the same command goes on from there")
            raise
        print(f"{done.done} texts embedded with {recall.status().serving}")
    if arguments.model is not None and not load_config(arguments.path).table("embedding").get("model"):
        note(f"armarius: every command asks these vectors {_how_to_name(arguments.path, arguments.model)}")
    return 0


def _named(model: Path, threads: int | None) -> Embedder:
    """What `--model` names: a folder, or one of the two that need none."""
    match str(model):
        case "lexical":
            return embedders.lexical()
        case "e5":
            return embedders.e5(threads=threads)
    return embedders.load(model, threads=threads)


def _no_model(project: Path) -> str:
    """What to do where nothing names a model; vectors of wording alone are made for those who ask for them."""
    name = Permissions.of(project).user.name
    return (
        "no embedding model is named. The default model is shibing624/text2vec-base-chinese: put its config.json, "
        "tokenizer.json (or vocab.txt) and model.safetensors into a folder, then give it with --model FOLDER, or add "
        f'text2vec-base-chinese = "/FOLDER" under [models] in {name} and [embedding] '
        'model = "text2vec-base-chinese" in armarius.toml. '
        "Without a download: pip install 'armarius[e5]' and --model e5. By shared wording only, "
        "without a model: --model lexical"
    )


def _how_to_name(project: Path, model: Path) -> str:
    """How `armarius.toml` may name a model: as a folder of the project, or by a name of the user's."""
    setting = "with [embedding] model = {} in armarius.toml"
    if str(model) in BUILT_IN_MODELS:
        return setting.format(quoted(str(model)))
    folder, root = model.resolve(), project.resolve()
    if folder != root and folder.is_relative_to(root):
        return setting.format(quoted(folder.relative_to(root).as_posix()))
    name = Permissions.of(project).user.name
    line = f"{quoted(folder.name or 'model', key=True)} = {quoted(str(folder))}"
    return f"{setting.format(quoted(folder.name or 'model'))} and {line} under [models] in {name}"


@contextmanager
def _bar() -> Iterator[Callable[[EmbeddingProgress], None] | None]:
    """A progress bar on standard error when it is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(file=sys.stderr)) as bar:
        task = bar.add_task("embedding", total=None)
        yield lambda progress: bar.update(task, completed=progress.done, total=progress.total)


def add_doctor_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    doctor = subparsers.add_parser(
        "doctor",
        help="what the folder is taken for, what is wrong, what to do next",
        description="Checks index, files, codex and settings; status 1 when something is wrong.",
    )
    add_project(doctor, alone=True)
    add_series(doctor)
    add_index_dir(doctor)
    doctor.add_argument("--json", action="store_true")
    doctor.set_defaults(run=_doctor)


def _doctor(arguments: argparse.Namespace) -> int:
    root = project_folder(arguments.path)
    trust = trust_report(root, load_config(root))
    try:
        with opened(arguments) as index:
            return _examined(index, trust, str(arguments.path), as_json=arguments.json)
    except SettingRefused:  # there is no index to look at, and the report says why
        wrong = [str(refused) for refused in trust.refused]
        if arguments.json:
            show_json({"wrong": wrong, "trust": trust.to_wire()})
        else:
            print(*trust.lines(), *(f"! {sentence}" for sentence in wrong), sep="\n")
        return 1


def _examined(index: ProjectIndex, trust: TrustReport, here: str, *, as_json: bool) -> int:
    wrong = index.ask(lambda store: store.verify())
    vectors = index.ask(doctor_lines)
    status = index.status()
    config = index.config
    rows = index.ask(lambda store: store.documents())
    books = [] if index.root is None else books_lying_about(index.root, config)
    steps = next_steps(rows, status, here, books)
    wrong += embedding_problems(index, config)
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
    # Some of these have been met as a model or a graph that is not to be had.
    wrong += [str(one) for one in trust.refused if not any(str(one) in sentence for sentence in wrong)]
    if as_json:
        show_json({**plain(status), "wrong": wrong, "next": steps, "vectors": vectors, "trust": trust.to_wire()})
    else:
        print(holds(status))
        print(*trust.lines(), *map(printable, found_lines(rows)), sep="\n")
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


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands of this file to the parser."""
    add_index_commands(subparsers)
    add_doctor_commands(subparsers)
    add_embed_commands(subparsers)
