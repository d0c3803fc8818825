"""`armarius index` and `armarius watch`."""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from armarius.cli.options import INDEX_DIR, JSON, PROJECT, SERIES, command, note, show_json
from armarius.index.freshness import IndexStatus, progress_bar

if TYPE_CHECKING:
    from armarius.index.project_index import ProjectIndex

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


@command("watch", "keep the index equal to the folder until interrupted", PROJECT, SERIES, INDEX_DIR, example="novel/")
def _watch(arguments: argparse.Namespace) -> int:
    with opened(arguments, watch=True) as index:
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


def troubles(status: IndexStatus, say: Callable[[str], None] = note) -> None:
    """Say what was skipped, and every warning."""
    for skipped in status.skipped:
        say(f"! {skipped.path}: skipped, {skipped.reason}")
    for warning in status.warnings:
        say(f"! {warning}")
