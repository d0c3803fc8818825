"""Trusted folders, remembered in `trusted.toml`; paths that stay inside a project."""

import os
import stat
from contextlib import suppress
from os import PathLike
from pathlib import Path, PurePath
from typing import NamedTuple

from armarius.errors import ConfigError, ProjectError
from armarius.io import folder_lock, write_atomic
from armarius.io.folder import no_path, project_folder
from armarius.io.toml import quoted, read_toml
from armarius.trust.user_config import config_folder, display_path, own_folder

TRUSTED_ENV = "ARMARIUS_TRUSTED"
_FILE = "trusted.toml"
_HEAD = "# Folders whose armarius.toml counts as your own words; kept by `armarius trust` (`--revoke`, `--list`).\n"


def trust(folder: str | PathLike[str]) -> Path:
    """Trust a folder: its `armarius.toml` gets the rights of the user's configuration.

    It may then name paths outside the folder (programs, models, index folders, the graph's database), and programs
    that read settings of the project are run on it. Takes effect when an engine is opened. Idempotent.

    Args:
        folder: A project folder. Only this resolved path is trusted, not its parents or subfolders.

    Returns:
        The resolved path.

    Raises:
        ProjectError: Not a folder, or its path is not valid Unicode.
        ConfigError: There is no folder for the user's configuration, or `trusted.toml` is damaged.
        StoreFull: The configuration cannot be written; nothing changes.
        StoreBusy: Another process has held the lock for five seconds.
    """
    path = storable(_resolved(project_folder(folder)))
    _change(add=path)
    return path


def storable(path: Path) -> Path:
    """`path`, to be remembered.

    Raises:
        ProjectError: It is not valid Unicode.
    """
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise ProjectError(f"the path is not valid Unicode and cannot be remembered: {display_path(path)}") from None
    return path


def revoke(folder: str | PathLike[str]) -> bool:
    """Stop trusting a folder, which need not exist.

    Returns:
        Whether it was in `trusted.toml`. Folders in `ARMARIUS_TRUSTED` stay trusted.

    Raises:
        ConfigError, StoreFull, StoreBusy: As `trust`.
    """
    return _change(remove=_resolved(folder))


def is_trusted(folder: str | PathLike[str]) -> bool:
    """Whether this folder is trusted, by `trust` or by the environment.

    Raises:
        ConfigError: `trusted.toml` is damaged, or `ARMARIUS_TRUSTED` names a relative path.
    """
    return who_trusts(folder) != ""


def who_trusts(folder: str | PathLike[str]) -> str:
    """Why the folder is trusted: `trusted.toml`, `ARMARIUS_TRUSTED`, or "" if it is not."""
    path = _resolved(folder)
    if path in _of_the_environment():
        return TRUSTED_ENV
    return _FILE if path in _remembered(config_folder(project=path)) else ""


def trusted() -> tuple[Path, ...]:
    """All trusted folders, of `trusted.toml` and of the environment, sorted.

    Raises:
        ConfigError: As `is_trusted`.
    """
    return tuple(sorted({*_remembered(config_folder()), *_of_the_environment()}))


def _resolved(folder: str | PathLike[str]) -> Path:
    if problem := no_path(folder):
        raise ProjectError(f"no path: {problem}")
    return Path(os.path.normcase(os.path.realpath(folder)))


def _of_the_environment() -> frozenset[Path]:
    named = [part for part in os.environ.get(TRUSTED_ENV, "").split(os.pathsep) if part]
    if relative := [part for part in named if not Path(part).is_absolute()]:
        raise ConfigError(f"{TRUSTED_ENV} must hold absolute paths, got {relative[0]!r}")
    return frozenset(_resolved(part) for part in named)


def _remembered(home: Path | None) -> tuple[Path, ...]:
    if home is None:
        return ()
    name = display_path(home / _FILE)
    raw = read_toml(home / _FILE, name=name, follow=True) or {}
    folders = raw.get("folders", [])
    if raw.keys() - {"folders"} or not isinstance(folders, list) or not all(isinstance(item, str) for item in folders):
        raise ConfigError(f'{name}: expected folders = ["/one", …] and nothing else')
    if relative := [item for item in folders if not Path(item).is_absolute()]:
        raise ConfigError(f"{name}: folders must be absolute paths, got {relative[0]!r}")
    return tuple(Path(item) for item in folders)


def _change(*, add: Path | None = None, remove: Path | None = None) -> bool:
    home = own_folder()
    with folder_lock(home, name=".trusted.lock"):
        before = _remembered(home)
        after = {*before, *({add} if add else ())} - {remove}
        if after != set(before):
            lines = "".join(f"    {quoted(str(path))},\n" for path in sorted(after))
            write_atomic(home / _FILE, f"{_HEAD}folders = [\n{lines}]\n".encode())
    return remove in before


_MOST_LINKS = 40


class Way(NamedTuple):
    """Where a path leads.

    Attributes:
        end: The path without the links that were read; outside the project it may have further ones.
        within: Whether it ends in the project.
        linked: Whether a link is on it.
    """

    end: Path
    within: bool
    linked: bool


def way(root: Path, path: str | PurePath) -> Way:
    """Where `path` leads from the project folder.

    Args:
        root: The project folder, resolved.
        path: Relative to it, or absolute.

    Cost: one `lstat` per part, one more read per link.
    """
    at, links = root, 0
    todo = _parts(root, PurePath(path))
    while todo:
        part = todo.pop()
        if part == "..":
            if at == root:
                return Way(_joined(at.parent, todo), within=False, linked=links > 0)
            at = at.parent
            continue
        at = at / part
        if not at.is_relative_to(root):  # an absolute path that begins elsewhere
            return Way(_joined(at, todo), within=False, linked=links > 0)
        target = _target(at)
        if target is None:
            continue
        links += 1
        if links > _MOST_LINKS:
            return Way(at, within=False, linked=True)
        aim = PurePath(target)
        at = root if aim.anchor else at.parent
        todo += _parts(root, aim)
    return Way(at, within=True, linked=links > 0)


def inside(root: Path, value: str) -> Path | None:
    """The path below `root` that `value` names, there or not; None when it leads elsewhere.

    No absolute path, no `..`, no `~`, not the project itself, and no link at any step, not even one that leads back:
    it may lead elsewhere tomorrow.

    Args:
        root: The project folder, resolved.
        value: What the project says.
    """
    path = PurePath(value)
    if path.anchor or not path.parts or ".." in path.parts or path.parts[0].startswith("~") or "\0" in value:
        return None
    found = way(root, path)
    return None if found.linked or not found.within else found.end


def is_file_within(root: Path, relative: str) -> bool:
    """Whether `relative` names a regular file of the project, or none at all; links may lead to another of its files.

    Args:
        root: The project folder, resolved.
        relative: A path that something in the project states, such as an index of its code.
    """
    path = PurePath(relative)
    if path.anchor or ".." in path.parts or "\0" in relative:
        return False
    found = way(root, path)
    if not found.within:
        return False
    try:
        return stat.S_ISREG(found.end.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False


def _parts(root: Path, path: PurePath) -> list[str]:
    """The steps to `path`, last first; from the project folder when it begins there."""
    if path.anchor and path.is_relative_to(root):
        path = path.relative_to(root)
    return list(reversed(path.parts))


def _joined(at: Path, todo: list[str]) -> Path:
    return Path(os.path.normpath(at.joinpath(*reversed(todo))))


def _target(path: Path) -> str | None:
    """What a link says; None for anything else, there or not."""
    with suppress(OSError, ValueError):
        info = path.lstat()
        # Windows: junctions and mount points are reparse points as links are.
        if stat.S_ISLNK(info.st_mode) or getattr(info, "st_reparse_tag", None):
            return os.readlink(path)  # noqa: PTH115 - as text, not as a path that may be resolved
    return None
