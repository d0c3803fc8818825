"""`Store`: the protocol of the index of one project, independent of the engine.

A store is bound to one project; an engine with many projects must put the project id first in its keys. A store ranks
only by the text score of one query, reads no files, and holds only data that can be rebuilt from the project.
`armarius.testing.StoreConformance` tests an implementation.

`apply` is the only write: it makes a list of changes in one transaction. Two methods read what other processes wrote:
`generation`, one row, tells whether there are changes, and `changed` returns them from one snapshot.

Lists have the order that their method documents; ties break on (path, paragraph). Every method may raise:

    StoreBusy     another process holds the index for longer than the timeout
    StoreCorrupt  damaged or replaced; `reopen` repairs it
    StoreFull     the disk is full or cannot be written
    StoreError    closed, or anything else that went wrong
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from armarius.arguments import Kind
from armarius.documents.document import Document
from armarius.store.rows import (
    Change,
    Changed,
    Collection,
    DerivedRow,
    DocumentRow,
    EntityRow,
    FileRow,
    Passage,
    PassageKey,
    Record,
    RelationRow,
    StoreState,
    TextHit,
    TextQuery,
)

if TYPE_CHECKING:
    from armarius.store.vectors_protocol import VectorStore


@runtime_checkable
class Store(Protocol):
    """An index of one project. Thread-safe; readers never wait for a writer."""

    @property
    def project_id(self) -> str:
        """The project every key belongs to."""

    @property
    def location(self) -> str:
        """Location for display: a file, or a server without its password."""

    @property
    def vectors(self) -> "VectorStore | None":
        """The vectors of its texts; None when this engine keeps none."""

    def close(self) -> None:
        """Release everything. Idempotent; any other call afterwards raises StoreError."""

    def reopen(self) -> Self:
        """Close this store and open it again; a damaged or missing index is replaced by an empty one."""

    def state(self) -> StoreState:
        """Sizes and generation. Cost: counts all rows; use `generation` for the generation alone."""

    def generation(self) -> int:
        """A number that grows with every `apply` of any process, except those with no change or only `Restamp`s.

        Cost: one row.
        """

    def changed(self, since: int) -> Changed:
        """All changes after generation `since`, from one snapshot; `since=0` returns everything."""

    def apply(self, changes: Sequence[Change], *, expect: int | None = None) -> int:
        """Make all changes in order, or none. After it returns, they survive a crash of the process.

        Args:
            changes: One transaction; readers see all of them or none. An empty list writes nothing.
            expect: The generation that the changes are based on.

        Returns:
            The generation after the changes.

        Raises:
            StoreConflict: The store is not at `expect`; nothing is changed.
        """

    def note(self, key: str) -> str | None:
        """The value of a note, or None."""

    def learnt(self, kind: str, paths: Sequence[str] | None = None) -> dict[str, DerivedRow]:
        """Derived rows of this kind, by path in path order: of all documents, or of these paths."""

    def files(self) -> dict[str, FileRow]:
        """Stamp and hash of every indexed file, by path."""

    def documents(self, *, kinds: Sequence[Kind] = (), chapter: int | None = None) -> list[DocumentRow]:
        """Documents in path order, of these kinds (empty: all) and this chapter (None: any)."""

    def document(self, path: str) -> Document | None:
        """A whole document as indexed, or None."""

    def documents_of(self, paths: Sequence[str]) -> list[Document]:
        """Whole documents in the order of `paths`; unknown paths are left out."""

    def passages(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """Paragraphs in the order of `keys`; unknown keys are left out."""

    def search(self, query: TextQuery) -> list[TextHit]:
        """Paragraphs that match, best first; all of them by key when the query has no limit.

        A query without indexable terms finds nothing.
        """

    def entities(self, ids: Sequence[str] | None = None) -> list[EntityRow]:
        """Entities by id: all, or those with these ids; unknown ids are left out."""

    def relations(self, *, touching: Sequence[str] | None = None) -> list[RelationRow]:
        """Relations by (source, target, type): all, or those with one of these entities at either end."""

    def records(self, collection: Collection) -> list[Record]:
        """The records of a collection, by id."""

    def verify(self) -> list[str]:
        """Faults of the index, one sentence each; [] when it is sound. Cost: reads the whole index."""


@runtime_checkable
class Lagging(Protocol):
    """A store that defers work which only some queries need. Those queries do it first, so results are complete."""

    def lags(self) -> bool:
        """Whether there is deferred work. Cost: one row."""

    def fill(self, go_on: Callable[[], bool] = ...) -> None:
        """Do the deferred work, in transactions of about 0.1 s; stops when `go_on`, called before each, returns False.

        Raises:
            StoreError: As `apply`; committed transactions stay.
        """
