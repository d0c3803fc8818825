"""`armarius code-index` and `armarius subgraph`: the commands for the code graph."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from armarius.code.index import CodeIndex, default_cache, read_options
from armarius.code.scip import build_index
from armarius.code.subgraph import Subgraph, matches, tree
from armarius.config import load_config
from armarius.errors import AmbiguousSymbol, CodeGraphError, ProjectError, UnknownSymbol
from armarius.trust.settings import Permissions

BAD_INPUT = 2


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add both commands; each sets `run`, a function of the parsed arguments that returns the exit status."""
    index = subparsers.add_parser("code-index", help="index a repository's code with scip-python, scip-typescript")
    index.add_argument("repo", type=Path, nargs="?", default=Path(), help="the folder (default: this one)")
    index.add_argument("--cache", type=Path, help="where the index goes (default: the user's cache directory)")
    index.add_argument("--json", action="store_true")
    index.set_defaults(run=lambda args: code_index(args.repo, cache=args.cache, as_json=args.json))
    graph = subparsers.add_parser("subgraph", help="what calls, references, inherits, imports and overrides what")
    graph.add_argument("repo", type=Path, nargs="?", default=Path(), help="the folder (default: this one)")
    graph.add_argument("symbol", help="a name, qualified as far as needed: Context.invoke")
    graph.add_argument("--depth", type=int, help="steps from the symbol (default and most: 5)")
    graph.add_argument("--direction", choices=("callers", "callees", "both"), default="both")
    graph.add_argument("--kinds", help="edges to follow, by commas: calls,refs,inherits,imports,overrides")
    graph.add_argument("--source", choices=("auto", "scip", "ckb"))
    graph.add_argument("--cache", type=Path)
    graph.add_argument("--json", action="store_true")
    graph.set_defaults(
        run=lambda args: subgraph(
            args.repo,
            args.symbol,
            depth=args.depth,
            direction=args.direction,
            kinds=args.kinds,
            source=args.source,
            cache=args.cache,
            as_json=args.json,
        )
    )


def _guarded(action: Callable[[], int], err: TextIO | None = None) -> int:
    try:
        return action()
    except AmbiguousSymbol as error:
        print("\n".join(["several symbols have this name:", *(f"  {name}" for name in error.candidates)]), file=err)
    except UnknownSymbol as error:
        print(f"armarius: {error}", file=err)
    except (CodeGraphError, ProjectError, ValueError) as error:
        print(f"armarius: {error}", file=err)
    return BAD_INPUT


def code_index(repo: Path, *, cache: Path | None = None, as_json: bool = False) -> int:
    """Index a repository and print a report; 0 when an index was made."""

    def run() -> int:
        if not repo.is_dir():
            raise ProjectError(f"{repo} is not a folder")
        report = build_index(repo, default_cache(repo) if cache is None else cache)
        if as_json:
            print(
                json.dumps(
                    {
                        "index": str(report.index) if report.index else None,
                        "ran": list(report.ran),
                        "missing": list(report.missing),
                        "documents": report.documents,
                        "symbols": report.symbols,
                    },
                    ensure_ascii=False,
                )
            )
        else:
            if report.index:
                print(f"{report.documents} files, {report.symbols} symbols by {', '.join(report.ran)}: {report.index}")
            for line in report.missing:
                print(line, file=sys.stderr)
        return 0 if report.index else 1

    return _guarded(run, sys.stderr)


def subgraph(
    repo: Path,
    symbol: str,
    *,
    depth: int | None = None,
    direction: str = "both",
    kinds: str | None = None,
    source: str | None = None,
    cache: Path | None = None,
    as_json: bool = False,
) -> int:
    """Print the subgraph around a symbol, as a tree or as JSON; 0 also for a text search."""

    def run() -> int:
        if not repo.is_dir():
            raise ProjectError(f"{repo} is not a folder")
        config, permissions = load_config(repo), Permissions.of(repo)
        options = read_options(config, repo, permissions=permissions)
        if ignored := permissions.warning(config):
            print(ignored, file=sys.stderr)
        if source is not None:
            options = replace(options, source=source)  # type: ignore[arg-type]  # argparse has checked it
        if source == "ckb":  # the user asks for it, over this folder
            options = replace(options, withheld="")
        wanted = {} if kinds is None else {"kinds": tuple(kind.strip() for kind in kinds.split(","))}
        index = CodeIndex(repo, cache_dir=cache, options=options)
        found = index.subgraph(symbol, depth=depth, direction=direction, **wanted)  # type: ignore[arg-type]
        if as_json:
            print(json.dumps(found.to_wire(), ensure_ascii=False))
            for warning in found.warnings:
                print(warning, file=sys.stderr)
        else:
            print(tree(found) if isinstance(found, Subgraph) else matches(found))
        return 0

    return _guarded(run, sys.stderr)
