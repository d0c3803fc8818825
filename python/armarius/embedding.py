"""`armarius embed` and what `armarius doctor` says about vectors.

armarius embed novel/ --model models/text2vec-base-chinese
armarius embed novel/ --model models/another --reembed
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from armarius import embedders
from armarius.config import load_config
from armarius.errors import ArmariusError, DimensionMismatch
from armarius.recall import ProjectRecall
from armarius.store.base import Store
from armarius.store.sqlite import SqliteStore
from armarius.vectors.base import Embedder
from armarius.vectors.index import VectorIndex
from armarius.vectors.queue import Progress

__all__ = ["add_arguments", "doctor_lines", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `armarius embed`."""
    parser.add_argument("project", type=Path, help="project folder")
    parser.add_argument(
        "--model", type=Path, help="model folder; default: [embedding] model, else the lexical embedder"
    )
    parser.add_argument("--reembed", action="store_true", help="replace the vectors of another model")
    parser.add_argument("--threads", type=int, help="threads of one forward pass; default: one per core")


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Embed a project with a progress bar. Ctrl-C stops after the batch at hand; the next call resumes.

    Returns:
        0 done, 1 an error (said), 130 interrupted.
    """
    try:
        embedder = _embedder(arguments.project, arguments.model, arguments.threads)
        with ProjectRecall.open(arguments.project, embedder) as recall:
            if arguments.reembed:
                recall.reembed()
            return _embed(recall, console)
    except DimensionMismatch as error:
        console.print(f"{error}", style="red", markup=False)
        console.print("Run again with --reembed to replace them; the old ones answer until the new ones are complete.")
        return 1
    except ArmariusError as error:
        console.print(f"{type(error).__name__}: {error}", style="red", markup=False)
        return 1


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


def _embed(recall: ProjectRecall, console: Console) -> int:
    columns: Sequence[TextColumn | BarColumn | MofNCompleteColumn | TaskProgressColumn | TimeRemainingColumn] = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    try:
        with Bar(*columns, console=console) as bar:
            task = bar.add_task("embedding", total=None)

            def show(progress: Progress) -> None:
                bar.update(task, completed=progress.done, total=progress.total)

            recall.embed(progress=show)
    except KeyboardInterrupt:
        recall.cancel()
        done = recall.status().progress
        console.print(f"stopped at {done.done} of {done.total}; run the same command again to go on")
        return 130
    serving = recall.status().serving
    console.print(f"{recall.status().progress.done} texts embedded with {serving}", markup=False)
    return 0
