"""`armarius embed` and what `armarius doctor` says about vectors.

armarius embed novel/ --model models/text2vec-base-chinese
armarius embed novel/ --model models/another --reembed
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from armarius import embedders
from armarius.cli.terminal import add_project, note
from armarius.config import load_config
from armarius.errors import DimensionMismatch
from armarius.index import ProjectIndex
from armarius.recall import ProjectRecall
from armarius.store.base import Store
from armarius.store.sqlite import SqliteStore
from armarius.vectors.base import Embedder
from armarius.vectors.index import VectorIndex
from armarius.vectors.queue import Progress

__all__ = ["add_commands", "doctor_lines"]


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    embed = subparsers.add_parser(
        "embed",
        help="make vectors for recall by meaning",
        description="Embeds what is not embedded yet. Ctrl-C stops after the batch at hand; the next call resumes.",
    )
    add_project(embed)
    embed.add_argument("--model", metavar="FOLDER", type=Path, help="default: [embedding] model, else lexical vectors")
    embed.add_argument("--reembed", action="store_true", help="replace the vectors of another model")
    embed.add_argument("--threads", type=int, metavar="N", help="of one forward pass (default: one per core)")
    embed.add_argument("--index-dir", metavar="FOLDER", help="where the index lives (default: the user's cache)")
    embed.set_defaults(run=_embed)


def doctor_lines(store: Store, *, sample: bool = True) -> list[str]:
    """What an index knows about vectors, as sentences: model, dimension, how many, recall of the approximate index.

    Args:
        store: An open store.
        sample: Load the approximate index and compare it with exact search; a few seconds on 100,000 vectors.
    """
    if not isinstance(store, SqliteStore) or not (sets := store.vectors.sets()):
        return ["vectors: none; `armarius embed` makes them, everything else works without"]
    lines = []
    for state, vector_set in sorted(sets.items(), reverse=True):
        counts = store.vectors.counts(vector_set.id)
        waiting = f", {counts.pending} waiting" if counts.pending else ""
        empty = f", {counts.empty} without letters" if counts.empty else ""
        verb = "answers" if state == "serving" else "is being made"
        lines.append(f"vectors: {vector_set.fingerprint} {verb}: {counts.embedded} embedded{waiting}{empty}")
    index = VectorIndex(store.vectors)
    if sample:
        index.refresh()
    status = index.status()
    if not status.approximate:
        lines.append(f"vector index: exact search over {status.vectors} vectors")
    elif status.recall is not None:
        recall = (
            f"recall@10 {status.recall.recall:.3f} in {status.recall.queries} samples, ef {status.recall.expansion}"
        )
        lines.append(f"vector index: {status.vectors} vectors, {status.bytes_on_disk / 1e6:.1f} MB, {recall}")
    return lines


def _embedder(project: Path, model: Path | None, threads: int | None) -> Embedder:
    if model is None:
        configured = load_config(project).table("embedding").get("model") if project.is_dir() else None
        model = project / str(configured) if configured else None
    return embedders.lexical() if model is None else embedders.load(model, threads=threads)


def _embed(arguments: argparse.Namespace) -> int:
    embedder = _embedder(arguments.path, arguments.model, arguments.threads)
    with (
        ProjectIndex.open(arguments.path, index_dir=arguments.index_dir) as index,
        ProjectRecall(index, embedder) as recall,
    ):
        try:
            if arguments.reembed:
                recall.reembed()
            with _bar() as show:
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
    return 0


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None] | None]:
    """A progress bar on standard error when it is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(file=sys.stderr)) as bar:
        task = bar.add_task("embedding", total=None)
        yield lambda progress: bar.update(task, completed=progress.done, total=progress.total)
