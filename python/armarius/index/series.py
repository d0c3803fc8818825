"""A project and the other folders of its series as one source of documents.

Documents of another folder have its name before their path; chapters of theirs have no number, so that 第3章 and
`chapters=(1, 40)` mean the project's own. Only the project is ever written to.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from armarius._core import EventQueue
from armarius.codex.authored import AuthoredCodex
from armarius.codex.load import FolderAuthored
from armarius.codex.merge import SeriesFolder, qualified
from armarius.documents.document import Document, Skipped, read_documents, walk_files
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.segments import inside
from armarius.errors import ContextWarning, ContractError, DocumentSkipped, ProjectError, UnknownDocument
from armarius.index.source import FolderSource, LiveConfig, ReadBatch, SourceChanges
from armarius.io import no_path
from armarius.store.protocol import FileRow, Put, Remove
from armarius.trust.settings import Config
from armarius.warnings import SERIES_UNAVAILABLE

_MOST = 16
_UNNAMED = "root"


@dataclass(frozen=True, slots=True)
class Root:
    """One read-only folder of a series.

    Attributes:
        name: First part of its ids and paths; unique in the project.
        folder: Absolute path. A missing folder has no documents until it returns.
        past: It had chapters when the project was opened.
        authored: Its codex; constraints, memories, pins and summaries are not read.
        config: Its `armarius.toml`; only the settings that select documents apply.
        source: Its documents, by paths inside it.
    """

    name: str
    folder: Path
    past: bool
    authored: FolderAuthored
    config: LiveConfig
    source: FolderSource = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", FolderSource(self.folder, lambda: self.config.now))

    @property
    def is_there(self) -> bool:
        """Whether the folder exists. Cost: one stat."""
        return self.folder.is_dir()

    def codex_files(self) -> SeriesFolder:
        """The entities of its codex files (not of its documents)."""
        if not self.is_there:
            return SeriesFolder(self.name, self.past)
        authored = AuthoredCodex(self.authored).read()
        return SeriesFolder(self.name, self.past, (), self.authored.declared(), authored)


def read_roots(project: Path, folders: Sequence[str | PathLike[str]]) -> tuple[Root, ...]:
    """The other folders of a series, in the order given.

    Args:
        project: The project folder.
        folders: Folders, relative to the working directory.

    Raises:
        ContractError: Not a list of paths, or more than 16.
        ProjectError: One is not a path, or contains or lies inside the project or another one.

    Cost: a folder is read until its first chapter is found.
    """
    if not isinstance(folders, tuple | list):
        raise ContractError(f"with_: expected a list of folders, got {folders!r}")
    if len(folders) > _MOST:
        raise ContractError(f"with_: at most {_MOST} folders, got {len(folders)}")
    own = Path(os.path.realpath(project))
    names = {name.casefold() for name in _names_in(own)}
    places: list[tuple[str, Path]] = [("the project", own)]
    roots: list[Root] = []
    for at, path in enumerate(folders):
        if not (isinstance(path, str | PathLike) and os.fspath(path)):
            raise ContractError(f"with_[{at}]: expected the path of a folder, got {path!r}")
        if problem := no_path(path):
            raise ProjectError(f"with_[{at}]: {problem}")
        folder = Path(os.path.realpath(path))
        for what, other in places:
            if folder.is_relative_to(other) or other.is_relative_to(folder):
                how = "is" if folder == other else "lies inside" if folder.is_relative_to(other) else "holds"
                raise ProjectError(f"with_[{at}]: {folder.name!r} {how} {what}; the folders of a series lie apart")
        places.append((f"with_[{at}]", folder))
        name = _free_name(folder.name, names)
        names.add(name.casefold())
        authored = FolderAuthored(folder)
        config = LiveConfig(authored)
        config.reload()
        roots.append(Root(name, folder, _has_chapters(folder, config.now), authored, config))
    return tuple(roots)


def series_of(
    folder: Path, config: Config | None, folders: Sequence[str | PathLike[str]]
) -> tuple["SeriesAuthored", "SeriesSource", "SeriesConfig", dict[str, Path]]:
    """Records, document source and configuration of a project with those of its series, and the folders by name."""
    roots = read_roots(folder, folders)
    authored = SeriesAuthored(folder, roots)
    live = SeriesConfig(authored, authored.config() if config is None else config, roots)
    return authored, SeriesSource(folder, lambda: live.now, roots), live, {root.name: root.folder for root in roots}


def _names_in(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []


def _free_name(name: str, names: set[str]) -> str:
    """The name of a folder as the first part of a path: nothing hidden, no controls, nobody else's."""
    plain = "".join(char if char.isprintable() else "-" for char in name.encode("utf-8", "replace").decode())
    base = plain.strip(". ") or _UNNAMED
    candidate, number = base, 2
    while candidate.casefold() in names:
        candidate, number = f"{base}-{number}", number + 1
    return candidate


def _has_chapters(folder: Path, config: Config) -> bool:
    if not folder.is_dir():
        return False
    for stamp in walk_files(folder, config)[0]:
        for document in read_documents(folder, [stamp.path], config=config):
            if isinstance(document, Document) and document.kind in STORY_KINDS:
                return True
    return False


class SeriesSource:
    """`DocumentSource` over a project folder and those of its series.

    Args:
        root: The project folder.
        config: Of the project, asked each time.
        roots: The other folders, the strongest first.
    """

    def __init__(self, root: Path, config: Callable[[], Config], roots: Sequence[Root]) -> None:
        self._own = FolderSource(root, config)
        self._roots = {other.name: other for other in roots}
        self._sources = {"": self._own} | {other.name: other.source for other in roots}

    def follow(self, queues: Mapping[str, EventQueue]) -> None:
        """Let the kernel report changes of folders, by name; see `FolderSource`."""
        for name, source in self._sources.items():
            source.follow(queues.get(name))

    def stamp(self) -> str:
        """See `DocumentSource`. Cost: that of a `FolderSource` for each folder."""
        stamps = [self._own.stamp(), *(root.source.stamp() if root.is_there else "-" for root in self._roots.values())]
        return "|".join(stamps) if all(stamps) else ""

    def compare(
        self, files: Mapping[str, FileRow], *, only: Collection[str] = (), force: bool = False
    ) -> SourceChanges:
        """See `DocumentSource`: what lies under the name of another folder in the project itself is skipped."""
        rows, wanted = self._split_rows(files), self._split_paths(only)
        parts = [
            (name, self._diff_folder(name, rows[name], wanted[name], force)) for name in self._sources if name in wanted
        ]
        stamps = [replace(stamp, path=qualified(name, stamp.path)) for name, part in parts for stamp in part.to_read]
        skipped = [Skipped(qualified(name, file.path), file.reason) for name, part in parts for file in part.skipped]
        return SourceChanges(
            tuple(sorted(stamps, key=lambda stamp: stamp.path)),
            tuple(sorted(qualified(name, path) for name, part in parts for path in part.removed)),
            tuple(sorted(skipped, key=lambda file: file.path)),
            sum(part.doubtful for _, part in parts),
            force,
        )

    def read(self, difference: SourceChanges, files: Mapping[str, FileRow]) -> Iterator[ReadBatch]:
        """See `DocumentSource`; one folder after the other."""
        rows = self._split_rows(files)
        to_read = [(*inside(stamp.path, self._roots), stamp) for stamp in difference.to_read]
        removed = [inside(path, self._roots) for path in difference.removed]
        for name, source in self._sources.items():
            part = SourceChanges(
                tuple(replace(stamp, path=inner) for of, inner, stamp in to_read if of == name),
                tuple(inner for of, inner in removed if of == name),
                force=difference.force,
            )
            for batch in source.read(part, rows[name]):
                yield self._qualify_batch(name, batch) if name else batch

    def document(self, path: str, copy: Document | None = None) -> Document:
        """See `DocumentSource`."""
        name, inner = inside(path, self._roots)
        if not name:
            return self._own.document(path, copy)
        root = self._roots[name]
        as_it_was = None if copy is None else replace(copy, path=inner)
        try:
            document = root.source.document(inner, as_it_was)
        except DocumentSkipped as error:
            raise DocumentSkipped(path, error.reason) from None
        except UnknownDocument:
            raise UnknownDocument(f"no such document: {path!r}") from None
        return copy if copy is not None and document is as_it_was else _place_document(root, document)

    def marked(self, document: Document) -> Document:
        """`document` as the index keeps it, of an earlier book where it is of one; unpacks nothing."""
        root = self._roots.get(inside(document.path, self._roots)[0])
        return document if root is None or not root.past or document.past else document.in_the_past()

    def placed(self, document: Document) -> Document:
        """A document that was read by its whole path, as this source reads it."""
        name, inner = inside(document.path, self._roots)
        return _place_document(self._roots[name], replace(document, path=inner)) if name else document

    def _diff_folder(self, name: str, rows: Mapping[str, FileRow], only: Collection[str], force: bool) -> SourceChanges:
        if name:
            root = self._roots[name]
            if not root.is_there:
                return SourceChanges(removed=tuple(sorted(rows)))
            return root.source.compare(rows, only=only, force=force)
        changes = self._own.compare(rows, only=only, force=force)
        hidden = [stamp for stamp in changes.to_read if inside(stamp.path, self._roots)[0]]
        if not hidden:
            return changes
        reason = "its folder is called like another folder of the series"
        skipped = sorted((*changes.skipped, *(Skipped(item.path, reason) for item in hidden)), key=lambda row: row.path)
        to_read = tuple(stamp for stamp in changes.to_read if stamp not in hidden)
        return replace(changes, to_read=to_read, skipped=tuple(skipped))

    def _split_rows(self, files: Mapping[str, FileRow]) -> dict[str, dict[str, FileRow]]:
        """By folder, then by path inside it."""
        parts: dict[str, dict[str, FileRow]] = {name: {} for name in self._sources}
        for path, row in files.items():
            name, inner = inside(path, self._roots)
            parts[name][inner] = row
        return parts

    def _split_paths(self, only: Collection[str]) -> dict[str, list[str]]:
        """What of each folder is to be looked at, nothing standing for all of it; all folders when nothing is said."""
        whole = self._sources.keys() if not only else {path for path in only if path in self._roots}
        wanted: dict[str, list[str]] = {name: [] for name in whole}
        for path in sorted(only):
            name, inner = inside(path, self._roots)
            if path not in whole and name not in whole:
                wanted.setdefault(name, []).append(inner)
        return wanted

    def _qualify_batch(self, name: str, batch: ReadBatch) -> ReadBatch:
        root = self._roots[name]
        result = ReadBatch(skipped=[Skipped(qualified(name, file.path), file.reason) for file in batch.skipped])
        for change in batch.changes:
            if isinstance(change, Put):
                result.changes.append(Put(_place_document(root, change.document), change.stamp))
            elif isinstance(change, Remove):
                result.changes.append(Remove(qualified(name, change.path)))
            else:
                result.changes.append(replace(change, path=qualified(name, change.path)))
        return result


class SeriesAuthored(FolderAuthored):
    """The codex and records of the project; its stamps include those of the other folders.

    Args:
        root: The project folder.
        roots: The other folders.
    """

    def __init__(self, root: Path, roots: Sequence[Root]) -> None:
        super().__init__(root)
        self._roots = tuple(roots)

    def stamp(self) -> str:
        """See `Authored`."""
        return "||".join([super().stamp(), *(root.authored.stamp() for root in self._roots)])

    def config_stamp(self) -> str:
        """See `Authored`."""
        return "||".join([super().config_stamp(), *(root.authored.config_stamp() for root in self._roots)])

    def inside(self, path: str) -> tuple[str, str]:
        """The folder that a path lies in, "" for the project, and the path inside it."""
        return inside(path, {root.name for root in self._roots})

    def codex_files(self) -> list[SeriesFolder]:
        """The entities of the other folders' codex files, in order of precedence."""
        return [root.codex_files() for root in self._roots]


class SeriesConfig(LiveConfig):
    """The project's configuration with the document settings of the other folders.

    Args:
        authored: The project's records.
        first: As for `LiveConfig`.
        roots: The other folders.
    """

    def __init__(self, authored: SeriesAuthored, first: Config | None, roots: Sequence[Root]) -> None:
        super().__init__(authored, first)
        self._roots = tuple(roots)

    def reload(self) -> None:
        """Take the configurations as they are now."""
        super().reload()
        for root in self._roots:
            root.config.reload()

    @property
    def note(self) -> str:
        """Reader settings of all folders, with their names and `past`."""
        return "|".join([super().note, *(f"{root.name!r}:{root.past}:{root.config.note}" for root in self._roots)])

    @property
    def folders(self) -> Mapping[str, LiveConfig]:
        """See `LiveConfig`."""
        return {root.name: root.config for root in self._roots}

    @property
    def warnings(self) -> tuple[ContextWarning, ...]:
        """Faults of the configurations, and folders that are missing."""
        missing = [SERIES_UNAVAILABLE(root=root.name) for root in self._roots if not root.is_there]
        return (*super().warnings, *missing, *(warning for root in self._roots for warning in root.config.warnings))


def _place_document(root: Root, document: Document) -> Document:
    """A document of another folder, with the path that it has in the project."""
    paragraphs = document.paragraphs
    if root.past or document.kind in STORY_KINDS:
        paragraphs = tuple(part if part.chapter is None else replace(part, chapter=None) for part in paragraphs)
    path = qualified(root.name, document.path)
    return replace(document, path=path, chapter=None, paragraphs=paragraphs, past=root.past)
