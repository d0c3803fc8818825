"""Progress of a build, outcome of a refresh, status of an index, and a progress bar."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from armarius.display import is_terminal
from armarius.documents.document import Skipped
from armarius.errors import ContextWarning
from armarius.store.rows import Change, Put, Remove


@dataclass(frozen=True, slots=True)
class Progress:
    """Number of committed files, of all that differ; everything up to `path` survives a crash."""

    done: int
    total: int
    path: str


@dataclass(slots=True)
class Outcome:
    """Result of a refresh."""

    written: int = 0
    removed: int = 0
    skipped: tuple[Skipped, ...] = ()
    cancelled: bool = False
    seconds: float = 0.0

    def count(self, changes: Iterable[Change]) -> None:
        """Count committed changes."""
        for change in changes:
            self.written += isinstance(change, Put)
            self.removed += isinstance(change, Remove)


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """An index at one moment.

    Attributes:
        state: "ready", "building", "cancelled" or "stale" (a refresh failed, see `warnings`).
        progress: Progress of the current or last build.
        watching: Whether the folder is watched.
        documents: Indexed documents.
        paragraphs: Indexed paragraphs.
        mentions: Mentions of all entities.
        entities: Entities of the codex.
        bytes: Size on disk.
        generation: Grows with every change of any process.
        path: Location of the index: a file, for the embedded store.
        skipped: Files that could not be read as documents, with the reason.
        warnings: Warnings of the codex (once all texts have been read), the configuration and the index.
    """

    state: Literal["ready", "building", "cancelled", "stale"]
    progress: Progress
    watching: bool
    documents: int
    paragraphs: int
    mentions: int
    entities: int
    bytes: int
    generation: int
    path: str
    skipped: tuple[Skipped, ...]
    warnings: tuple[ContextWarning, ...]


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None] | None]:
    """A callback that draws a progress bar on standard error; None if that is not a terminal."""
    if not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("indexing", total=None)

        def advance(progress: Progress) -> None:
            bar.update(task, completed=progress.done, total=progress.total, visible=progress.done < progress.total)

        yield advance
