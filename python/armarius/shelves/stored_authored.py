"""What the user of a stored project has authored: the same forms as in a folder, as rows."""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from armarius.codex.authored.profile_text import profile_of_text
from armarius.codex.authored.protocol import BookName, Check, RecordBook
from armarius.codex.authored.record_file import RecordText, text_of_records
from armarius.codex.importers.codex_json import CodexFile
from armarius.codex.load import codex_files_of, declared_in
from armarius.config import CONFIG_NAME, Config
from armarius.errors import ConfigError
from armarius.shelves.stored import PROFILE, StoredFiles, book_of, served_config

__all__ = ["StoredAuthored"]


class StoredAuthored:
    """`Authored` over the files of a project: the forms that people edit, byte for byte as in a folder.

    Args:
        files: Of the project.
    """

    profile_name = PROFILE

    def __init__(self, files: StoredFiles) -> None:
        self._files = files

    def stamp(self) -> str:
        """See `Authored`."""
        row = self._files.row()
        return f"{row.born}:{row.authored}"

    def config_stamp(self) -> str:
        """See `Authored`."""
        row = self._files.row()
        return f"{row.born}:{row.configured}"

    def config(self) -> Config:
        """See `Authored`; without what only the user of a machine may say."""
        data = self._files.text(CONFIG_NAME)
        try:
            return served_config((data or b"").decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise ConfigError(f"{CONFIG_NAME}: not UTF-8: {error.reason}") from None

    def declared(self) -> CodexFile:
        """See `Authored`."""

        def read(path: str) -> bytes:
            data = self._files.text(path)
            if data is None:
                raise FileNotFoundError(path)
            return data

        books = {book for path in self._files.entries() if (book := book_of(path))}
        return declared_in(read, codex_files_of(books))

    def records(self, book: BookName, *, tables: Iterable[str], check: Check) -> RecordBook:
        """See `Authored`."""
        return _StoredRecords(self._files, f"{book}.toml", tables=tables, check=check)

    def profile(self) -> Mapping[str, Any] | None:
        """See `Authored`."""
        return _profile(self._files.text(PROFILE))

    def change_profile(self, change: Callable[[Mapping[str, Any] | None], Mapping[str, Any]]) -> None:
        """See `Authored`."""

        def rewritten(data: bytes | None) -> bytes:
            return (json.dumps(change(_profile(data)), ensure_ascii=False, indent=2) + "\n").encode()

        self._files.rewrite(PROFILE, rewritten)


class _StoredRecords(RecordText):
    """A book of records as a row."""

    def __init__(self, files: StoredFiles, name: str, *, tables: Iterable[str], check: Check) -> None:
        super().__init__(name, tables=tables, check=check)
        self._files = files

    def stamp(self) -> Hashable:
        """See `RecordBook`."""
        row = self._files.row()
        return (row.born, row.authored)

    def _text(self) -> str | None:
        data = self._files.text(self.name)
        return None if data is None else text_of_records(self.name, data)

    def _rewrite(self, change: Callable[[str], str]) -> None:
        def rewritten(data: bytes | None) -> bytes:
            return change("" if data is None else text_of_records(self.name, data)).encode()

        self._files.rewrite(self.name, rewritten)


def _profile(data: bytes | None) -> Mapping[str, Any] | None:
    return None if data is None else profile_of_text(data, PROFILE)
