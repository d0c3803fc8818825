"""`armarius code-index` and `armarius subgraph`: the commands for the code graph."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from armarius.code.index import CodeIndex, read_options
from armarius.code.scip import build_index
from armarius.code.subgraph import Subgraph, matches, tree
from armarius.config import load_config
from armarius.errors import AmbiguousSymbol, CodeGraphError, ProjectError
from armarius.io.write import cache_of
from armarius.trust.settings import Permissions
from armarius.types import EDGE_KINDS

BAD_INPUT = 2


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add both commands; each sets `run`, a function of the parsed arguments that returns the exit status."""
    index = subparsers.add_parser("code-index", help="index a repository's code with scip-python, scip-typescript")
    index.add_argument("repo", type=Path, nargs="?", default=Path(), help="the folder (default: this one)")
    index.add_argument("--cache", type=Path, help="where the index goes (default: the user's cache directory)")
    index.add_argument("--json", action="store_true")
    index.set_defaults(run=partial(_guarded, _code_index))
    graph = subparsers.add_parser("subgraph", help="what calls, references, inherits, imports and overrides what")
    graph.add_argument("repo", type=Path, nargs="?", default=Path(), help="the folder (default: this one)")
    graph.add_argument("symbol", help="a name, qualified as far as needed: Context.invoke")
    graph.add_argument("--depth", type=int, help="steps from the symbol (default and most: 5)")
    graph.add_argument("--direction", choices=("callers", "callees", "both"), default="both")
    graph.add_argument("--kinds", help="edges to follow, by commas: calls,refs,inherits,imports,overrides")
    graph.add_argument("--source", choices=("auto", "scip", "ckb"))
    graph.add_argument("--cache", type=Path)
    graph.add_argument("--json", action="store_true")
    graph.set_defaults(run=partial(_guarded, _subgraph))


def _guarded(command: Callable[[argparse.Namespace], int], args: argparse.Namespace) -> int:
    try:
        if not args.repo.is_dir():
            raise ProjectError(f"{args.repo} is not a folder")
        return command(args)
    except AmbiguousSymbol as error:
        print("several symbols have this name:", *error.candidates, sep="\n  ", file=sys.stderr)
    except (CodeGraphError, ProjectError, ValueError) as error:
        print(f"armarius: {error}", file=sys.stderr)
    return BAD_INPUT


def _code_index(args: argparse.Namespace) -> int:
    """Index a repository and print a report; 0 when an index was made."""
    report = build_index(args.repo, cache_of(args.repo, "code") if args.cache is None else args.cache)
    if args.json:
        print(json.dumps(asdict(report), ensure_ascii=False, default=str))
        return 0 if report.index else 1
    if report.index:
        print(f"{report.documents} files, {report.symbols} symbols by {', '.join(report.ran)}: {report.index}")
    for line in report.missing:
        print(line, file=sys.stderr)
    return 0 if report.index else 1


def _subgraph(args: argparse.Namespace) -> int:
    """Print the subgraph around a symbol, as a tree or as JSON; 0 also for a text search."""
    config, permissions = load_config(args.repo), Permissions.of(args.repo)
    options = read_options(config, args.repo, permissions=permissions)
    if ignored := permissions.warning(config):
        print(ignored, file=sys.stderr)
    if args.source is not None:
        options = replace(options, source=args.source)
    if args.source == "ckb":  # the user asks for it, over this folder
        options = replace(options, withheld="")
    kinds = EDGE_KINDS if args.kinds is None else tuple(kind.strip() for kind in args.kinds.split(","))
    index = CodeIndex(args.repo, cache_dir=args.cache, options=options)
    found = index.subgraph(args.symbol, depth=args.depth, direction=args.direction, kinds=kinds)
    if args.json:
        print(json.dumps(found.to_wire(), ensure_ascii=False))
        for warning in found.warnings:
            print(warning, file=sys.stderr)
    else:
        print(tree(found) if isinstance(found, Subgraph) else matches(found))
    return 0
