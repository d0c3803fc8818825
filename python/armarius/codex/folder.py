"""The authored files of a project folder.

armarius.toml               the configuration
codex.json                  entities and relations, written by a tool or by hand
.armarius/codex.toml        entities and relations written through the API
.armarius/memories.toml     memories
.armarius/constraints.toml  constraints
.armarius/pins.toml         pins and mutes
.armarius/summaries.toml    summaries of documents
.armarius/budget.json       the budget profile
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from armarius.codex.authored.profile_text import profile_of_text
from armarius.codex.authored.protocol import BookName, Check, RecordBook
from armarius.codex.authored.record_file import FOLDER, RecordFile
from armarius.codex.importers import IMPORTERS
from armarius.codex.importers.codex_json import CodexFile
from armarius.codex.load import BOOKS, codex_files_of_books, read_declared
from armarius.config import CONFIG_NAME, Config, load_config
from armarius.errors import ConfigError
from armarius.files import folder_lock, read_file, write_atomic

__all__ = ["FolderAuthored"]

# Not documents, and part of what the index is made from.
_INDEXED = (f"{FOLDER}/codex.toml", f"{FOLDER}/memories.toml", f"{FOLDER}/constraints.toml")
_PROFILE = "budget.json"
_PROFILE_PATH = f"{FOLDER}/{_PROFILE}"
_MAX_PROFILE_BYTES = 1024 * 1024


class FolderAuthored:
    """`Authored` over the files of one project folder.

    Args:
        root: The project folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._indexed = [str(root / name) for name in (*IMPORTERS, *_INDEXED)]
        self._books = str(root / BOOKS)
        self._config = str(root / CONFIG_NAME)
        self._profile = str(root / FOLDER / _PROFILE)

    def stamp(self) -> str:
        """See `Authored`. Cost: one stat per file."""
        stamps = list(map(_stamp, self._indexed))
        if _stamp(self._books):  # asked before every answer, and nearly always there are none
            stamps += [f"{name} {_stamp(str(self.root / name))}" for name in codex_files_of_books(self.root)]
        return "|".join(stamps)

    def config_stamp(self) -> str:
        """See `Authored`."""
        return _stamp(self._config)

    def config(self) -> Config:
        """See `Authored`."""
        return load_config(self.root)

    def declared(self) -> CodexFile:
        """See `Authored`."""
        return read_declared(self.root)

    def records(self, book: BookName, *, tables: Iterable[str], check: Check) -> RecordBook:
        """See `Authored`."""
        return RecordFile(self.root, f"{book}.toml", tables=tables, check=check)

    @property
    def profile_name(self) -> str:
        """See `Authored`."""
        return _PROFILE_PATH

    def profile(self) -> Mapping[str, Any] | None:
        """See `Authored`: a link, what is no regular file, and more than 1 MiB are refused."""
        try:
            os.lstat(self._profile)  # asked before every prompt, and nearly always there is none
            data = read_file(self.root / FOLDER / _PROFILE, limit=_MAX_PROFILE_BYTES, below=self.root)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.filename != _PROFILE:
                return None  # the folder of records is a link: CODEX_INVALID says so
            raise ConfigError(f"{_PROFILE_PATH}: not read: {error.strerror}") from None
        return profile_of_text(data, _PROFILE_PATH)

    def change_profile(self, change: Callable[[Mapping[str, Any] | None], Mapping[str, Any]]) -> None:
        """See `Authored`."""
        folder = self.root / FOLDER
        with folder_lock(folder, below=self.root):
            data = json.dumps(change(self.profile()), ensure_ascii=False, indent=2) + "\n"
            write_atomic(folder / _PROFILE, data.encode("utf-8"), below=self.root)


def _stamp(path: str) -> str:
    try:
        info = os.stat(path)  # noqa: PTH116 - asked before every answer: a Path takes as long again
    except OSError:
        return ""
    return f"{info.st_size}:{info.st_mtime_ns}:{info.st_ctime_ns}:{info.st_ino}"
