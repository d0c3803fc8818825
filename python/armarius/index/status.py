"""What an index tells about itself: progress of a build, outcome of a refresh, status."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from armarius.display import is_terminal
from armarius.documents.document import Skipped
from armarius.errors import ContextWarning
from armarius.store.rows import Change, Put, Remove

__all__ = ["IndexStatus", "Outcome", "Progress", "progress_bar"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Files committed so far, of how many that differ; everything up to `path` survives a crash."""

    done: int
    total: int
    path: str


@dataclass(slots=True)
class Outcome:
    """What a refresh did."""

    written: int = 0
    removed: int = 0
    skipped: tuple[Skipped, ...] = ()
    cancelled: bool = False
    seconds: float = 0.0

    def count(self, changes: Iterable[Change]) -> None:
        """Add what was committed."""
        for change in changes:
            self.written += isinstance(change, Put)
            self.removed += isinstance(change, Remove)


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """An index at one moment.

    Attributes:
        state: "ready", "building", "cancelled" or "stale" (something went wrong; `warnings` says what).
        progress: Of the build that runs or ran last.
        watching: Changes are followed.
        documents: Indexed documents.
        paragraphs: Indexed paragraphs.
        mentions: Of all entities.
        entities: Of the codex.
        bytes: On disk.
        generation: Grows with every change, by whichever process.
        path: Where the index is: a file, for the embedded store.
        skipped: Files that look like documents and are not, with the reason.
        warnings: Of the codex, once everything has been read; of the configuration; of the index.
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
    """A callback that draws on standard error, None when that is no terminal; gone when the index is built."""
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
