"""From a folder to what a request sees: documents, codex and fetchers, all of one moment."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from armarius import _core
from armarius.codex import AuthoredCodex, Codex, Constraints, Memories, build_codex, read_codex_file
from armarius.codex.load import AUTHORED_FILE, CODEX_FILE
from armarius.config import Config
from armarius.counting import TokenCounter
from armarius.errors import ContextWarning, UnknownDocument
from armarius.fetchers.base import Fetcher
from armarius.fetchers.entities import CodexSource
from armarius.fetchers.immediate import ImmediateFetcher
from armarius.fetchers.retrieved import RetrievedFetcher
from armarius.fetchers.rules import RulesFetcher
from armarius.fetchers.settings import SettingsFetcher
from armarius.fetchers.style import ProjectStyle
from armarius.project.documents import Document, DocumentSkipped, Skipped, read_document, walk_files
from armarius.retrieval.passages import PassageFetcher
from armarius.retrieval.retriever import Retriever

__all__ = ["FolderProject", "FolderView", "counter_for"]


def counter_for(model: str, tokenizer_version: str | None) -> TokenCounter:
    """The counter of a model; a tokenizer version that names an embedded encoding decides over it."""
    if tokenizer_version in TokenCounter.encodings():
        return TokenCounter.for_encoding(tokenizer_version)
    return TokenCounter.for_model(model)


@dataclass(frozen=True, slots=True)
class FolderView:
    """One state of a project folder. Immutable: a later state is another view."""

    root: Path
    config: Config
    documents: Mapping[str, Document]
    skipped: tuple[Skipped, ...]
    codex: Codex
    fetchers: tuple[Fetcher, ...]
    warnings: tuple[ContextWarning, ...]
    stamps: Mapping[str, str]
    retriever: Retriever

    def document(self, document_id: str, /) -> Document:
        """One document.

        Raises:
            UnknownDocument: There is none of that path; `DocumentSkipped` when there is a file that is none.
        """
        known = self.documents.get(document_id)
        return known if known is not None else read_document(self.root, document_id, config=self.config)


class FolderProject:
    """A project folder that answers with its present state.

    Args:
        root: The folder.
        config: Its configuration.
        fetchers: Asked instead of the project's own ones, when given.
        more: Asked beside them.
        watch: Whether a view is the folder as it is now; without, the folder as it was when first
            read, or when `refresh` was last called.

    Cost: `view` walks the folder and reads what has changed since the last view; nothing changed on
    120 files: one walk.
    """

    def __init__(
        self,
        root: Path,
        config: Config,
        *,
        fetchers: Sequence[Fetcher] | None = None,
        more: Sequence[Fetcher] = (),
        watch: bool = True,
    ) -> None:
        self._root = root
        self._config = config
        self._given = None if fetchers is None else tuple(fetchers)
        self._more = tuple(more)
        self._watch = watch
        self._lock = threading.Lock()
        self.codex = AuthoredCodex(root, whole=lambda: self.refresh().codex)
        self.memories = Memories(root)
        self.constraints = Constraints(root)
        self._stamps: Mapping[str, str] = {}
        self._walked: object = None
        self._view: FolderView | None = None
        self._retriever = Retriever(root)
        self._own_fetchers: tuple[Fetcher, ...] = ()

    def view(self) -> FolderView:
        """The state that a request sees."""
        with self._lock:
            return self._refreshed() if self._watch or self._view is None else self._view

    def refresh(self) -> FolderView:
        """The project as it is now."""
        with self._lock:
            return self._refreshed()

    def _refreshed(self) -> FolderView:
        kept = {CODEX_FILE: _stamp(self._root / CODEX_FILE), AUTHORED_FILE: str(self.codex.stamp())}
        walked = _core.walk(str(self._root), list(self._config.exclude), []), kept
        if self._view is not None and walked == self._walked:
            return self._view
        found, refused = walk_files(self._root, self._config)
        stamps = {stamp.path: stamp.stamp for stamp in found} | kept
        if self._view is None or stamps != self._stamps:
            self._view = self._read(stamps, refused)
            self._stamps = stamps
        self._walked = walked
        return self._view

    def _read(self, stamps: Mapping[str, str], refused: Sequence[Skipped]) -> FolderView:
        before = self._view
        documents: dict[str, Document] = {}
        skipped = list(refused)
        for path in sorted(stamps.keys() - {CODEX_FILE, AUTHORED_FILE}):
            if before is not None and stamps[path] == self._stamps.get(path) and path in before.documents:
                documents[path] = before.documents[path]
                continue
            try:
                documents[path] = read_document(self._root, path, config=self._config)
            except DocumentSkipped as error:
                skipped.append(error.skipped)
            except UnknownDocument:
                continue  # gone since the walk; the next one will not list it
        same = before is not None and _telling(stamps, documents) == _telling(self._stamps, before.documents)
        if before is not None and same:
            codex = before.codex
        else:
            codex = build_codex(documents.values(), read_codex_file(self._root), authored=self.codex.read())
            self._own_fetchers = self._own(codex, documents)
        passages = PassageFetcher(self._retriever, documents, codex)
        fetchers = (*self._own_fetchers, passages, *self._more) if self._given is None else self._given
        warnings = tuple(codex.warnings) + tuple(
            ContextWarning("DOCUMENT_SKIPPED", f"{item.path}: {item.reason}") for item in skipped
        )
        return FolderView(
            self._root,
            self._config,
            documents,
            tuple(skipped),
            codex,
            fetchers,
            warnings,
            stamps,
            self._retriever,
        )

    def _own(self, codex: Codex, documents: Mapping[str, Document]) -> tuple[Fetcher, ...]:
        source = CodexSource(codex)
        style = ProjectStyle(documents.values(), self._config)
        return (
            RulesFetcher(source, constraints=self.constraints),
            SettingsFetcher(self.memories, style=style),
            RetrievedFetcher(source, report_levels=True),
            ImmediateFetcher(),
        )


def _telling(stamps: Mapping[str, str], documents: Mapping[str, Document]) -> dict[str, str]:
    """Stamps of what codex and style are read from: everything but chapters and code."""
    quiet = {path for path, document in documents.items() if document.kind in ("chapter", "code")}
    return {path: stamp for path, stamp in stamps.items() if path not in quiet}


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_mtime_ns}:{status.st_size}:{status.st_ino}"
