"""`armarius index`, `armarius search` and `armarius watch`."""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from armarius.arguments import Bounds, checked, read_wordings
from armarius.cli.options import (
    ALSO,
    BOUNDS,
    INDEX_DIR,
    JSON,
    PROJECT,
    SERIES,
    command,
    fields_of,
    flag,
    option,
)
from armarius.cli.terminal import note, question, show, show_json
from armarius.display import rich_table
from armarius.errors import ContractError
from armarius.index.status import IndexStatus, progress_bar
from armarius.types import Hit

if TYPE_CHECKING:
    from rich.text import Text

    from armarius.index.project_index import ProjectIndex
    from armarius.store.rows import Passage

_LOOK_SECONDS = 0.2


@contextmanager
def opened(arguments: argparse.Namespace, *, watch: bool = False) -> Iterator["ProjectIndex"]:
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
    with opened(arguments) as index:
        status = index.status()
    seconds = time.perf_counter() - start
    if arguments.json:
        show_json(status)
    else:
        print(f"{holds(status)}; {seconds:.2f} s")
        troubles(status)
    return 0


@command(
    "search", "the passages that hold some words", PROJECT, SERIES, INDEX_DIR,
    option("text", "the words, as written; quoted phrases stay whole"),
    option("--limit", "at most so many (default: 10)", type=int, default=10, metavar="N"),
    flag("--any", "what is about the same, not only what is written"), *BOUNDS, ALSO, JSON,
    example="novel/ '“seven forty”' --kind chapter --limit 20",
)  # fmt: skip
def _search(arguments: argparse.Namespace) -> int:
    if arguments.limit < 1:
        raise ContractError(f"--limit must be >= 1, got {arguments.limit}")
    text = question(arguments.text, "the words")
    match: Literal["all", "any"] = "any" if arguments.any else "all"
    bounds, also = Bounds.of(**fields_of(arguments, BOUNDS)), checked("also", read_wordings, arguments.also)
    with opened(arguments) as index:
        hits = index.search(
            text, limit=arguments.limit, match=match, kinds=bounds.kinds, chapters=bounds.chapters, also=also,
            shown=_shown(index, bounds),
        )  # fmt: skip
    if arguments.json:
        show_json(hits)
    elif hits:
        rows = [(hit.reference, " › ".join(hit.heading), _snippet(hit)) for hit in hits]
        show(rich_table(("passage", "under", "text"), rows))
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


@command("watch", "keep the index equal to the folder until interrupted", PROJECT, SERIES, INDEX_DIR, example="novel/")
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
