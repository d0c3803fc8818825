"""`DocumentSource`: the protocol of the documents of a project.

A source is a folder (`armarius.index.folder_source.FolderSource`) or a storage of the host.
`armarius.testing.DocumentSourceConformance` tests a source; `FakeSource` is the smallest example.

    known = store.files()                                   # paths and stamps in the index
    difference = source.compare(known)                      # changed and removed documents
    for found in source.read(difference, known):            # changes for `Store.apply`
        ...
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from armarius.documents.document import Document, FileStamp, Skipped
from armarius.store.rows import FileRow, Put, Remove, Restamp

__all__ = ["DocumentSource", "ReadBatch", "SourceChanges"]


@dataclass(frozen=True, slots=True)
class SourceChanges:
    """How a source differs from what an index knows.

    Attributes:
        to_read: Documents to read, in path order; a source without sizes or times leaves those 0.
        removed: Paths to forget, in path order.
        skipped: What looks like a document and is none.
        doubtful: How many of `to_read` are read again only because they were read too soon to be sure.
        force: Everything is read, and kept also where the index has the same text: it is read in another way now.
    """

    to_read: tuple[FileStamp, ...] = ()
    removed: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    doubtful: int = 0
    force: bool = False

    @property
    def certain(self) -> int:
        """Documents that did change."""
        return len(self.to_read) + len(self.removed) - self.doubtful


@dataclass(slots=True)
class ReadBatch:
    """What reading some documents brought: changes in path order, and what turned out to be none."""

    changes: list[Put | Remove | Restamp] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def documents(self) -> list[Document]:
        """The documents that are new or changed."""
        return [change.document for change in self.changes if isinstance(change, Put)]


@runtime_checkable
class DocumentSource(Protocol):
    """The texts of one project. Threads may share it; others may change the texts at any moment."""

    def stamp(self) -> str:
        """Differs after any change of any text; asked per request, so it must be cheap. "" when it cannot say."""
        ...

    def compare(
        self, known: Mapping[str, FileRow], *, only: Collection[str] = (), force: bool = False
    ) -> SourceChanges:
        """How the source differs from what an index knows.

        Args:
            known: `Store.files()`.
            only: Paths of documents and folders to look at; empty means everything.
            force: Read all documents, also those with an unchanged stamp.
        """
        ...

    def read(self, difference: SourceChanges, known: Mapping[str, FileRow]) -> Iterator[ReadBatch]:
        """Read what differs, a bounded number of bytes at a time, and say what must change in the index.

        A document is `Put` when its text is another than the index has (or with `force`), `Restamp`ed when only its
        stamp is, `Remove`d when it is gone. Every path of `difference` is in exactly one answer, or in none when
        nothing has to change.
        """
        ...

    def document(self, path: str, known: Document | None = None) -> Document:
        """One document as it is at this moment; the very object `known` when it has not changed.

        Raises:
            UnknownDocument: `compare` lists none of that path; `DocumentSkipped` when what is there is no document.
        """
        ...
