"""The options that bound a question, `--chapters --kind --as-of`, and `--also`, which words it again."""

import argparse
import re
from typing import Any

from armarius.bounds import KINDS

__all__ = ["add_also", "add_bounds", "bounds_of"]

_RANGE = re.compile(r"(\d*)\s*(-|–|\.\.)\s*(\d*)")


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what may be looked into."""
    parser.add_argument(
        "--chapters", type=_chapters, metavar="N-M", help="look into these chapters alone: 3, 1-40, 5- or -40"
    )
    parser.add_argument(
        "--kind",
        dest="kinds",
        action="append",
        default=[],
        choices=KINDS,
        help="look into documents of this kind alone; several times for several",
    )
    parser.add_argument("--as-of", type=int, metavar="N", help="nothing later than this chapter of the story")


def add_also(parser: argparse.ArgumentParser) -> None:
    """Add the option that asks in other words."""
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="TEXT",
        help="the question in other words, as the book would put it; at most 8 times",
    )


def bounds_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those options as keywords of the engine."""
    found = {"chapters": arguments.chapters, "kinds": tuple(arguments.kinds), "as_of": arguments.as_of}
    return {**found, "also": tuple(arguments.also)} if hasattr(arguments, "also") else found


def _chapters(text: str) -> int | tuple[int | None, int | None]:
    if text.strip().isdecimal():
        return int(text)
    found = _RANGE.fullmatch(text.strip())
    if found is None or not (found[1] or found[3]):
        raise argparse.ArgumentTypeError(f"{text!r} is no chapter and no range of chapters, such as 3, 1-40, 5- or -40")
    return (int(found[1]) if found[1] else None, int(found[3]) if found[3] else None)
