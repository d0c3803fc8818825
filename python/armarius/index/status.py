"""What an index tells about itself: progress of a build, outcome of a refresh, status."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from armarius.documents.document import Skipped
from armarius.errors import ContextWarning
from armarius.store.rows import Change, Put, Remove

__all__ = ["IndexStatus", "Outcome", "Progress"]


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
