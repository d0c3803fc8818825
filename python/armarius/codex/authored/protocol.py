"""What a project's user has authored beside the documents, and where that comes from.

Configuration, codex, memories, constraints and the budget profile belong to the user: unlike an index they cannot be
made again. `armarius.codex.folder.FolderAuthored` reads and writes them as files of the project, in the forms that
people edit; a host that keeps projects in tables of its own gives another `Authored`.
`armarius.testing.AuthoredConformance` is the executable form of this page.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from armarius.codex.authored.toml_blocks import Block
from armarius.codex.importers.codex_json import CodexFile
from armarius.config import Config
from armarius.errors import CodexError

__all__ = ["Authored", "BookName", "Check", "RecordBook"]

BookName = Literal["codex", "memories", "constraints", "pins", "summaries"]
Check = Callable[[Block], str]
"""What is wrong with a record, "" for nothing."""


class RecordBook(Protocol):
    """The records of one book, each with an `id` that is unique within its table. Threads may share it.

    `Block.table`, `.id` and `.data` are the record; `.line` is where it stands, 0 where there are no lines.
    """

    @property
    def name(self) -> str:
        """What messages and origins call it: for a file, its path in the project."""
        ...

    def records(self) -> list[Block]:
        """The records in order, as they are now; a broken one counts as it last was when it was right."""
        ...

    def problems(self) -> tuple[CodexError, ...]:
        """What is wrong with the book now."""
        ...

    def stamp(self) -> Hashable:
        """Differs after every change, by whichever hand."""
        ...

    def add(self, table: str, data: dict[str, Any], *, alike: Callable[[Block], bool] | None = None) -> str:
        """Append a record, unless one is `alike`.

        Returns:
            The id of the record that is there now: the new one's, or that of the one alike.

        Raises:
            CodexError: There is one with this id, a value that it cannot hold, or the book cannot be edited.
            StoreFull, StoreBusy: It cannot be written; nothing has changed.
        """
        ...

    def extend(self, records: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """Append records, each with its table: all of them or none; raises as `add`."""
        ...

    def replace(self, table: str, data: dict[str, Any]) -> None:
        """Replace the record with the id of `data`; raises as `add`, and KeyError when there is none."""
        ...

    def remove(self, table: str, id_: str) -> None:
        """Remove a record; raises as `replace`."""
        ...


@runtime_checkable
class Authored(Protocol):
    """The authored part of one project. Threads may share it; others may change it meanwhile."""

    def stamp(self) -> str:
        """Differs after any change of what the index is made from: `declared` and the records. Asked per request."""
        ...

    def config_stamp(self) -> str:
        """Differs after any change of the configuration. Asked per request."""
        ...

    def config(self) -> Config:
        """The configuration; the default one when there is none.

        Raises:
            ConfigError: It is wrong; names the key.
        """
        ...

    def declared(self) -> CodexFile:
        """What the files of `armarius.codex.importers` say; their faults are in `errors`."""
        ...

    def records(self, book: BookName, *, tables: Iterable[str], check: Check) -> RecordBook:
        """The records of a book.

        Args:
            book: Which.
            tables: What tables it may hold.
            check: What is wrong with a record beyond its form.
        """
        ...

    @property
    def profile_name(self) -> str:
        """What messages call the stored budget profile."""
        ...

    def profile(self) -> Mapping[str, Any] | None:
        """The stored budget profile as plain JSON, None when there is none.

        Raises:
            ConfigError: What is stored cannot be read.
        """
        ...

    def change_profile(self, change: Callable[[Mapping[str, Any] | None], Mapping[str, Any]]) -> None:
        """Store what `change` makes of the stored profile, while nobody else does; what it raises leaves all as it was.

        Raises:
            ConfigError: As `profile`.
            StoreFull, StoreBusy: It cannot be written.
        """
        ...
