"""`armarius index` and `armarius watch`; `armarius code-index` and `armarius subgraph` for the code graph."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from armarius.cli.options import INDEX_DIR, JSON, PROJECT, SERIES, command, note, option, show_json
from armarius.code.index import CodeIndex, read_options
from armarius.code.scip import build_index
from armarius.code.subgraph import Subgraph, matches, tree
from armarius.errors import AmbiguousSymbol, ContractError, ProjectError
from armarius.index.freshness import IndexStatus, progress_bar
from armarius.io.write import cache_of
from armarius.trust.settings import Permissions, load_config
from armarius.types import EDGE_KINDS

if TYPE_CHECKING:
    from armarius.index.project_index import ProjectIndex


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
