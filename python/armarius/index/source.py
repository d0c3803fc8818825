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


@dataclass(frozen=True, slots=True)
class SourceChanges:
    """The differences between a source and an index.

    Attributes:
        to_read: Documents to read, in path order; a source without sizes or times leaves those 0.
        removed: Removed paths, in path order.
        skipped: Files that could not be read as documents.
        doubtful: Number of `to_read` that are read again only because their stamp was not reliable.
        force: All documents are read and stored again, because the reader or its settings changed.
    """

    to_read: tuple[FileStamp, ...] = ()
    removed: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    doubtful: int = 0
    force: bool = False

    @property
    def certain(self) -> int:
        """Number of documents that changed for certain."""
        return len(self.to_read) + len(self.removed) - self.doubtful


@dataclass(slots=True)
class ReadBatch:
    """The changes from reading some documents, in path order, and the skipped files."""

    changes: list[Put | Remove | Restamp] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def documents(self) -> list[Document]:
        """New or changed documents."""
        return [change.document for change in self.changes if isinstance(change, Put)]

    def take(self, path: str, stamp: str, read: Document | Skipped | None, row: FileRow | None, *, force: bool) -> None:
        """Add what the index lacks of one document that was read.

        Args:
            path: Of the document.
            stamp: With which it was read.
            read: None when it is gone.
            row: Of the index.
            force: Put it also where its content is that of the index.
        """
        if isinstance(read, Skipped):
            self.skipped.append(read)
            read = None
        if read is None:
            if row is not None:
                self.changes.append(Remove(path))
        elif row is not None and row.content_hash == read.content_hash and not force:
            if row.stamp != stamp:
                self.changes.append(Restamp(path, stamp, row.content_hash))
        else:
            self.changes.append(Put(read, stamp))


def is_wanted(path: str, only: Collection[str]) -> bool:
    """Whether `only` is empty, or contains the path or one of its folders."""
    return not only or path in only or any(path[:at] in only for at, char in enumerate(path) if char == "/")


@runtime_checkable
class DocumentSource(Protocol):
    """The documents of one project. Thread-safe; other programs may change the documents at any time."""

    def stamp(self) -> str:
        """A value that changes with any document, or "" if unknown. Called per request, so it must be cheap."""

    def compare(
        self, known: Mapping[str, FileRow], *, only: Collection[str] = (), force: bool = False
    ) -> SourceChanges:
        """Compare the source with an index.

        Args:
            known: `Store.files()`.
            only: Paths of documents and folders to compare; empty means all.
            force: Read all documents, also those with an unchanged stamp.
        """

    def read(self, difference: SourceChanges, known: Mapping[str, FileRow]) -> Iterator[ReadBatch]:
        """Read the differing documents in batches of bounded size, and return the changes of the index.

        A document is `Put` if its text differs from the index (or with `force`), `Restamp`ed if only its stamp
        differs, `Remove`d if it is gone. Every path of `difference` is in at most one batch.
        """

    def document(self, path: str, known: Document | None = None) -> Document:
        """One document as it is now; returns the object `known` if it has not changed.

        Raises:
            UnknownDocument: There is no document of that path; `DocumentSkipped` if the file could not be read.
        """
