"""`push` and `pull`: a project folder to a project on a server and back, byte for byte."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from armarius.codex.codex_json import IMPORTERS
from armarius.config import CONFIG_NAME, load_config
from armarius.documents.document import walk_files
from armarius.errors import ContractError, ProjectError
from armarius.io import make_folder, names_in, read_file, write_atomic
from armarius.io.folder import project_folder
from armarius.lorebooks.storage import FILES, FOLDER
from armarius.store.postgres.packing import check_path
from armarius.workspace.novel import Novel
from armarius.workspace.stored import PROFILE, RECORDS, StoredFiles

__all__ = ["Pulled", "Pushed", "folder_files", "pull", "push"]


_MOST_BYTES = 256 * 1024 * 1024


_AUTHORED = (CONFIG_NAME, PROFILE, *IMPORTERS, *RECORDS)


@dataclass(frozen=True, slots=True)
class Pushed:
    """Result of a push.

    Attributes:
        version: Version of the project that equals the folder.
        files: Number of files in the folder.
        written: New or changed paths.
        removed: Paths that the folder does not have.
    """

    version: int
    files: int
    written: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pulled:
    """Result of a pull.

    Attributes:
        files: Number of files in the project.
        written: New or changed paths.
        beside: Documents that only the folder has; they stay.
    """

    files: int
    written: tuple[str, ...]
    beside: tuple[str, ...]


def folder_files(root: Path) -> dict[str, bytes]:
    """The files of a project in a folder: documents, codex and records, configuration.

    Raises:
        ProjectError: It is no folder.
        ConfigError: Its `armarius.toml` is wrong.
    """
    root = project_folder(root)
    config = load_config(root)
    paths = [stamp.path for stamp in walk_files(root, config)[0]]
    found = {}
    for path in sorted({*paths, *_AUTHORED, *_files_of_books(root)}):
        try:
            found[path] = read_file(root.joinpath(*path.split("/")), limit=_MOST_BYTES, below=root)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ProjectError(f"{path}: not read: {error.strerror}") from None
    return found


def _files_of_books(root: Path) -> list[str]:
    """The files of lorebooks, cards and vaults that were imported."""
    found = []
    for id_ in names_in(root / FOLDER, below=root):
        here = names_in(root / FOLDER / id_, below=root)
        found += [f"{FOLDER}/{id_}/{name}" for name in FILES if name in here]
    return found


def push(novel: Novel, root: Path, *, expect: int | None = None) -> Pushed:
    """Make a project what a folder is, in one write; raises as `folder_files` and `Novel.write`."""
    files = folder_files(root)
    before = _stored(novel)
    version = novel.write(files, remove=[path for path in before if path not in files], expect=expect)
    written = tuple(path for path, data in files.items() if before.get(path) != data)
    return Pushed(version, len(files), written, tuple(sorted(before.keys() - files.keys())))


def pull(novel: Novel, root: Path, *, overwrite: bool = False) -> Pulled:
    """Write the files of a project into a folder, which is made when it is not there. Nothing is deleted.

    Args:
        novel: Of a shelf.
        root: The folder.
        overwrite: Whether files that say something else are replaced.

    Raises:
        ContractError: Some of them do, and nothing is written.
        StoreFull: The folder cannot be written.
    """
    files = {check_path(path): data for path, data in _stored(novel).items()}
    make_folder(root)
    here = folder_files(root)
    other = sorted(path for path, data in here.items() if path in files and files[path] != data)
    if other and not overwrite:
        raise ContractError(f"{other[0]} and {len(other) - 1} more are other files in {root.name}; --overwrite them?")
    written = [path for path, data in files.items() if here.get(path) != data]
    for path in written:
        write_atomic(root.joinpath(*path.split("/")), files[path], below=root)
    return Pulled(len(files), tuple(written), tuple(sorted(here.keys() - files.keys())))


def _stored(novel: Novel) -> Mapping[str, bytes]:
    session = novel.session
    with session.reading():
        files = StoredFiles(session)
        return files.read(list(files.entries()))
