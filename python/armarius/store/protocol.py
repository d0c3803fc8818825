"""The store protocol: what an index of one project can be asked and told, whatever engine keeps it.

A store is bound to one project; every key in it begins with the project id, which an engine that keeps many projects
must put first in its own keys. The store never ranks beyond the text score of one query, never reads a file, and
holds nothing that cannot be rebuilt from the project's texts and authored records. `armarius.testing.StoreConformance`
is the executable form of this page.

Writing is one method: `apply` makes a list of changes in one transaction. Reading what others wrote is two:
`generation`, one row, says whether there is anything, and `changed` gives it, all of one moment.

Every list is in the order its method documents; ties break on (path, paragraph). Every method may raise:

    StoreBusy     another process holds the index for longer than the timeout
    StoreCorrupt  damaged or replaced; `reopen` repairs it
    StoreFull     the disk is full or cannot be written
    StoreError    closed, or anything else that went wrong
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from armarius.documents.classify import Kind
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

__all__ = ["Lagging", "Store"]


@runtime_checkable
class Store(Protocol):
    """An index of one project. Safe to call from several threads; readers never wait for a writer."""

    @property
    def project_id(self) -> str:
        """The project every key belongs to."""
        ...

    @property
    def location(self) -> str:
        """Where it is kept, for people: a file, or a server without its password."""
        ...

    @property
    def vectors(self) -> "VectorStore | None":
        """The vectors of its texts; None when this engine keeps none."""
        ...

    def close(self) -> None:
        """Release everything; closing twice is fine, any other call afterwards raises StoreError."""
        ...

    def reopen(self) -> Self:
        """Close this store and open what is there now: the same index, or an empty one when it was damaged or gone."""
        ...

    def state(self) -> StoreState:
        """Sizes and generation; counts everything, ask `generation` when that is all you want."""
        ...

    def generation(self) -> int:
        """Grows with every `apply` that had something to say, by whichever process; with `Restamp`s alone it need not.

        Cost: one row.
        """
        ...

    def changed(self, since: int) -> Changed:
        """What came after generation `since`, in one snapshot; `since=0` is all there is."""
        ...

    def apply(self, changes: Sequence[Change], *, expect: int | None = None) -> int:
        """Make all changes or none, in order; when it returns they survive a crash of the process.

        Args:
            changes: Everything that belongs together: nobody sees a part of them. None at all writes nothing.
            expect: The generation they were worked out from.

        Returns:
            The generation that has them.

        Raises:
            StoreConflict: `expect` is given, and somebody else has written since; nothing is changed.
        """
        ...

    def note(self, key: str) -> str | None:
        """A small fact kept with the index, or None."""
        ...

    def learnt(self, kind: str, paths: Sequence[str] | None = None) -> dict[str, DerivedRow]:
        """What was learnt of this kind, by path in path order: from every document, or from these paths."""
        ...

    def files(self) -> dict[str, FileRow]:
        """Every indexed file by path."""
        ...

    def documents(self, *, kinds: Sequence[Kind] = (), chapter: int | None = None) -> list[DocumentRow]:
        """Documents in path order, of these kinds (empty: all) and this chapter (None: any)."""
        ...

    def document(self, path: str) -> Document | None:
        """A whole document as it was indexed, or None."""
        ...

    def documents_of(self, paths: Sequence[str]) -> list[Document]:
        """Whole documents in the order of `paths`; unknown paths are left out."""
        ...

    def passages(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """Paragraphs in the order of `keys`; unknown keys are left out."""
        ...

    def search(self, query: TextQuery) -> list[TextHit]:
        """Paragraphs that match, best first; all of them by key when the query has no limit.

        A query without indexable terms finds nothing.
        """
        ...

    def entities(self, ids: Sequence[str] | None = None) -> list[EntityRow]:
        """Entities by id: all, or those with these ids; unknown ids are left out."""
        ...

    def relations(self, *, touching: Sequence[str] | None = None) -> list[RelationRow]:
        """Relations by (source, target, type): all, or those that begin or end at one of these entities."""
        ...

    def records(self, collection: Collection) -> list[Record]:
        """A collection by id."""
        ...

    def verify(self) -> list[str]:
        """Everything that is wrong with the index, as sentences; [] when it is sound. Reads all of it."""
        ...


@runtime_checkable
class Lagging(Protocol):
    """A store that may put off what only some questions need; those do it first, so that no answer lacks it."""

    def lags(self) -> bool:
        """Whether something has been put off. Cost: one look."""
        ...

    def fill(self, go_on: Callable[[], bool] = ...) -> None:
        """Do it, in transactions of a tenth of a second or so; `go_on` is asked before each.

        Raises:
            StoreError: As `apply`; what is done stays done.
        """
        ...
