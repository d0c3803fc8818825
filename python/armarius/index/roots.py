"""The other folders of a series: what they are called, what may be one, and what each of them is.

A folder with chapters is an earlier book, wholly past; one without, a bible, speaks of the project's own chapters.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from armarius.codex.authored.codex import AuthoredCodex
from armarius.codex.load import FolderAuthored
from armarius.codex.merge import Told
from armarius.config import Config
from armarius.documents.document import Document, read_documents, walk_files
from armarius.errors import ContractError, ProjectError
from armarius.index.folder_source import FolderSource
from armarius.index.settings import LiveConfig
from armarius.io.folder import no_path

__all__ = ["Root", "read_roots"]

_MOST = 16
_UNNAMED = "root"


@dataclass(frozen=True, slots=True)
class Root:
    """One of them; nothing is ever written in it.

    Attributes:
        name: What its ids and paths begin with, and no path of the project does.
        folder: Absolute. It may be missing: then it has no documents, and comes back with them.
        past: It had chapters when the project was opened.
        authored: Reads its codex; its constraints, memories, pins and summaries are not asked for.
        config: Its own `armarius.toml`, of which only what is a document counts.
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
        """Whether the folder can be looked into. Cost: one stat."""
        return self.folder.is_dir()

    def told(self) -> Told:
        """What it says of entities beside its documents."""
        if not self.is_there:
            return Told(self.name, self.past)
        authored = AuthoredCodex(self.authored).read()
        return Told(self.name, self.past, (), self.authored.declared(), authored)


def read_roots(project: Path, given: Sequence[str | PathLike[str]]) -> tuple[Root, ...]:
    """The folders that a caller names beside a project, in that order.

    Args:
        project: The project folder.
        given: Folders, relative to the working directory.

    Raises:
        ContractError: No list of paths, or more than 16.
        ProjectError: One of them is no path, holds the project or another one, or lies inside one of these.

    Cost: a folder is read until its first chapter is found.
    """
    if not isinstance(given, tuple | list):
        raise ContractError(f"with_: expected a list of folders, got {given!r}")
    if len(given) > _MOST:
        raise ContractError(f"with_: at most {_MOST} folders, got {len(given)}")
    own = Path(os.path.realpath(project))
    taken = {name.casefold() for name in _names_in(own)}
    known: list[tuple[str, Path]] = [("the project", own)]
    roots: list[Root] = []
    for at, one in enumerate(given):
        if not (isinstance(one, str | PathLike) and os.fspath(one)):
            raise ContractError(f"with_[{at}]: expected the path of a folder, got {one!r}")
        if problem := no_path(one):
            raise ProjectError(f"with_[{at}]: {problem}")
        folder = Path(os.path.realpath(one))
        for what, other in known:
            if folder.is_relative_to(other) or other.is_relative_to(folder):
                how = "is" if folder == other else "lies inside" if folder.is_relative_to(other) else "holds"
                raise ProjectError(f"with_[{at}]: {folder.name!r} {how} {what}; the folders of a series lie apart")
        known.append((f"with_[{at}]", folder))
        name = _free(folder.name, taken)
        taken.add(name.casefold())
        authored = FolderAuthored(folder)
        config = LiveConfig(authored)
        config.reload()
        roots.append(Root(name, folder, _has_chapters(folder, config.now), authored, config))
    return tuple(roots)


def _names_in(folder: Path) -> list[str]:
    try:
        return [one.name for one in folder.iterdir()]
    except OSError:
        return []


def _free(name: str, taken: set[str]) -> str:
    """The name of a folder as the first part of a path: nothing hidden, no controls, nobody else's."""
    plain = "".join(char if char.isprintable() else "-" for char in name.encode("utf-8", "replace").decode())
    base = plain.strip(". ") or _UNNAMED
    found, number = base, 2
    while found.casefold() in taken:
        found, number = f"{base}-{number}", number + 1
    return found


def _has_chapters(folder: Path, config: Config) -> bool:
    if not folder.is_dir():
        return False
    for stamp in walk_files(folder, config)[0]:
        for found in read_documents(folder, [stamp.path], config=config):
            if isinstance(found, Document) and found.kind == "chapter":
                return True
    return False
