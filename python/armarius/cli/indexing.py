"""`armarius index`, `armarius search` and `armarius watch`."""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from armarius.arguments import Bounds, checked, read_wordings
from armarius.cli.options import add_also, add_bounds, bounds_of
from armarius.cli.terminal import add_index_dir, add_project, add_series, note, question, show, show_json
from armarius.errors import ContractError
from armarius.index.status import IndexStatus, progress_bar
from armarius.types import Hit

if TYPE_CHECKING:
    from rich.text import Text

    from armarius.index.project_index import ProjectIndex
    from armarius.store.rows import Passage

_LOOK_SECONDS = 0.2


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    index = subparsers.add_parser("index", help="build the index, or make it equal to the folder")
    search = subparsers.add_parser("search", help="the passages that hold some words")
    watch = subparsers.add_parser("watch", help="keep the index equal to the folder until interrupted")
    for parser, run in ((index, _index), (search, _search), (watch, _watch)):
        add_project(parser)
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
    also = checked("also", read_wordings, given.pop("also"))
    bounds = Bounds.of(**given)
    asked: dict[str, Any] = {
        "limit": arguments.limit,
        "match": match,
        "kinds": bounds.kinds,
        "chapters": bounds.chapters,
        "also": also,
    }
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
    from armarius.codex.cards import visible_text

    documents = index.ask(lambda store: store.changed(0)).documents
    return visible_text({one.path: index.marked(one) for one in documents}, bounds)


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
