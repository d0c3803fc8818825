"""`armarius code-index` and `armarius subgraph`: the commands for the code graph."""

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

from armarius.cli.options import JSON, command, option
from armarius.code.index import CodeIndex, read_options
from armarius.code.scip import build_index
from armarius.code.subgraph import Subgraph, matches, tree
from armarius.errors import AmbiguousSymbol, ContractError, ProjectError
from armarius.io.write import cache_of
from armarius.trust.settings import Permissions, load_config
from armarius.types import EDGE_KINDS

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
