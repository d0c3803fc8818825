"""What a project takes from doors: lorebooks and the code graph, each loaded when it is there or is asked for."""

import os
import re
import threading
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import armarius.doors as doors
from armarius.codex.load import BOOKS
from armarius.documents.classify import CODE_SUFFIXES
from armarius.io import is_regular
from armarius.io.write import cache_of
from armarius.trust.folders import read_user_config
from armarius.trust.settings import Config, Permissions
from armarius.types import Fetcher, LayerName

_IS_CODE = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(CODE_SUFFIXES)))})\Z", re.IGNORECASE)
_LORE_LAYERS: tuple[LayerName, ...] = ("rules", "settings", "retrieved")


class ProjectDoors:
    """The lorebooks and the code graph of a project. Thread-safe.

    Args:
        root: The project folder, None for other sources, which have no code graph.
        keeping: Storage of the lorebooks; None is in the folder, or in memory.
        config: The project's configuration; a table of a door is checked now.
        permissions: What the project may set.

    Raises:
        ConfigError: A table of a door is invalid.
    """

    def __init__(
        self, root: Path | None, keeping: "doors.BookKeeping | None", config: Config, permissions: Permissions | None
    ) -> None:
        self._root, self._keeping, self._config, self._permissions = root, keeping, config, permissions
        self._lock = threading.RLock()
        self._lore: doors.LoreSearch | None = None
        self._code: doors.CodeIndex | None = None
        if config.table("books") or read_user_config(project=root).books:
            _ = self.lore
        if config.table("code"):
            _ = self.code

    @property
    def lore(self) -> "doors.LoreSearch":
        """The search of the lorebooks."""
        with self._lock:
            if self._lore is None:
                books = doors.Books(self._root, self._keeping)
                self._lore = doors.LoreSearch(books, user=doors.user_of(self._config, self._root))
            return self._lore

    @property
    def code(self) -> "doors.CodeIndex | None":
        """The code graph; None without a folder."""
        with self._lock:
            if self._code is None and self._root is not None:
                options = doors.read_options(self._config, self._root, permissions=self._permissions)
                self._code = doors.CodeIndex(self._root, options=options)
            return self._code

    def has_books(self) -> bool:
        """Whether there is a lorebook. Cost: one look."""
        if self._keeping is not None:
            return not self._keeping.is_empty()
        if self._root is not None:
            return os.path.lexists(self._root / BOOKS)
        return self._lore is not None and len(self._lore.books) > 0

    def has_code(self, paths: Iterable[str]) -> bool:
        """Whether there is an index of source code, a table `code`, or source code among `paths`."""
        if self._root is None or self._code is not None:
            return self._code is not None
        if any(map(_IS_CODE.search, paths)):
            return True
        return is_regular(self._root / "index.scip") or is_regular(self._cached / "index.scip")

    @cached_property
    def _cached(self) -> Path:
        assert self._root is not None
        return cache_of(self._root, "code")

    def lore_fetchers(self) -> tuple[Fetcher, ...]:
        """A fetcher for each layer that lorebook entries are in."""
        return tuple(doors.LoreFetcher(self.lore, layer) for layer in _LORE_LAYERS)

    def code_fetchers(self) -> tuple[Fetcher, ...]:
        """The fetcher of symbols."""
        return () if (code := self.code) is None else (doors.SubgraphFetcher(code),)
