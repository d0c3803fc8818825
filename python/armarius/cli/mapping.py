"""`armarius map`: what every file of a project is taken for, doubts first, and the line that mends it.

armarius map novel/                                    # lines for the doubts, then the tree
armarius map novel/ --set 'reviews/**=review'          # writes the line into armarius.toml, then the tree
"""

import argparse

from armarius.cli.terminal import add_index_dir, add_project, add_series, printable, show_json
from armarius.engine import open as open_engine
from armarius.errors import ContractError


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "map",
        help="what every file is taken for, doubts first, and how to mend it",
        description="Lines of armarius.toml that settle what is doubtful, then the tree, then what is not read.",
    )
    add_project(parser)
    add_series(parser)
    add_index_dir(parser)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="GLOB=KIND",
        help="write this into [documents] of armarius.toml, whose comments stay; may be repeated",
    )
    parser.add_argument("--all", action="store_true", help="a line for each file, with the evidence")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=_map)


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
